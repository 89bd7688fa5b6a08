"""What changed between two commits, file by file."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from adapters.loopback.core.bare import Bare

_STATUS = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "C": "copied", "T": "changed"}


@dataclass(frozen=True)
class FileDiff:
    """One file. `patch` is None for a binary file; `blob` is the new content, or the old one if it was removed."""

    path: str
    previous: str | None
    status: str
    blob: str
    additions: int
    deletions: int
    patch: str | None


async def diff(repo: Bare, base: str, head: str) -> list[FileDiff]:
    """All files that differ, in git's order, with renames found."""
    options = ("-r", "-M", "--no-ext-diff", "--no-textconv", "--full-index")
    raw = await repo.run("diff-tree", *options, "--raw", "-z", base, head)
    numbers = await repo.run("diff-tree", *options, "--numstat", "-z", base, head)
    patches = await repo.run("diff-tree", *options, "--patch", base, head)
    texts = _patches(patches.out.decode(errors="replace"))
    return [
        FileDiff(path, previous, _STATUS.get(letter, "changed"), blob, added, removed, _patch_of(letter, texts))
        for (letter, blob, previous, path), (added, removed) in zip(_raw(raw.out), _counts(numbers.out), strict=True)
    ]


def _patch_of(letter: str, texts: Iterator[str | None]) -> str | None:
    """The next one. A file that became a link, or a link a file, has two: the end of one, the start of the other."""
    parts = [next(texts), next(texts)] if letter == "T" else [next(texts)]
    known = [part for part in parts if part is not None]
    return "\n".join(known) if known else None


def _raw(out: bytes) -> Iterator[tuple[str, str, str | None, str]]:
    words = iter(out.decode(errors="replace").split("\0"))
    for word in words:
        if not word.startswith(":"):
            continue
        _, _, old_blob, new_blob, status = word.split(" ")
        letter = status[0]
        path = next(words)
        previous = path if letter in "RC" else None
        if previous:
            path = next(words)
        yield letter, old_blob if letter == "D" else new_blob, previous, path


def _counts(out: bytes) -> Iterator[tuple[int, int]]:
    words = iter(out.decode(errors="replace").split("\0"))
    for word in words:
        if "\t" not in word:
            continue
        added, removed, path = word.split("\t", 2)
        if not path:  # a rename: old and new name follow as words of their own
            next(words), next(words)
        yield (0, 0) if added == "-" else (int(added), int(removed))


def _patches(text: str) -> Iterator[str | None]:
    lines = text.split("\n")
    starts = [at for at, line in enumerate(lines) if line.startswith("diff --git ")]
    for start, end in pairwise([*starts, len(lines)]):
        hunk = next((at for at in range(start, end) if lines[at].startswith("@@ ")), None)
        yield None if hunk is None else "\n".join(lines[hunk:end]).rstrip("\n")
