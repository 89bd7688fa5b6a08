"""A patch as rows for a page."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from adapters.loopback.core.diffs import FileDiff

MAX_ROWS = 2000
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True)
class Row:
    """One line: its numbers on both sides (empty where it is not), its kind and its text."""

    old: str
    new: str
    kind: str
    text: str


@dataclass(frozen=True)
class FileView:
    """One file of a diff. `cut`: there are more rows than are shown."""

    path: str
    previous: str | None
    status: str
    additions: int
    deletions: int
    rows: list[Row]
    cut: bool
    binary: bool


def view(file: FileDiff) -> FileView:
    """A file for the page."""
    rows = list(_rows(file.patch or ""))
    return FileView(
        path=file.path,
        previous=file.previous,
        status=file.status,
        additions=file.additions,
        deletions=file.deletions,
        rows=rows[:MAX_ROWS],
        cut=len(rows) > MAX_ROWS,
        binary=file.patch is None and file.status in ("added", "modified", "removed") and not rows,
    )


def _rows(patch: str) -> Iterator[Row]:
    old = new = 0
    for line in patch.split("\n") if patch else []:
        hunk = _HUNK.match(line)
        if hunk:
            old, new = int(hunk[1]), int(hunk[2])
            yield Row("", "", "hunk", line)
        elif line.startswith("+"):
            yield Row("", str(new), "add", line)
            new += 1
        elif line.startswith("-"):
            yield Row(str(old), "", "del", line)
            old += 1
        elif line.startswith("\\"):
            yield Row("", "", "note", line)
        else:
            yield Row(str(old), str(new), "same", line)
            old, new = old + 1, new + 1
