"""What is in commits, read from git's objects alone: changes with both contents, paths, single files.

Names are matched in their readable form (undecodable bytes replaced), which is how the rest of the product knows
them; git itself gets only names that it told us, so no name is ever taken for an option, a pattern or a range.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sweeper.model import CommitMeta, FileChange
from worktrees.commits import tree_of, write_commit
from worktrees.git import GitCall
from worktrees.mirror import HeldMirror
from worktrees.names import commit_id

TOTAL_BYTES = 64 << 20
"""Of all contents of one change together; what comes later is told without its content."""

_SUBMODULE = "160000"
_NOTHING = "0" * 40
_COMPARE = ("diff-tree", "-r", "-z", "--raw", "-M", "-l1000", "--no-ext-diff", "--no-textconv", "--full-index")


@dataclass(frozen=True)
class Entry:
    """A file of a commit."""

    mode: str
    blob: str
    path: str

    @property
    def is_regular(self) -> bool:
        """A file with a content of its own: no link, no submodule."""
        return self.mode.startswith("100")

    @property
    def is_submodule(self) -> bool:
        """Another repository's commit, whose files are not here."""
        return self.mode == _SUBMODULE


@dataclass(frozen=True)
class _Side:
    mode: str
    blob: str

    @property
    def has_content(self) -> bool:
        return self.blob != _NOTHING and self.mode != _SUBMODULE


def changes(mirror: HeldMirror, parent: str, commit: str, limit: int) -> tuple[FileChange, ...]:
    """Each file that differs, with its contents up to `limit` bytes each and TOTAL_BYTES together."""
    records = list(_raw(mirror, commit_id(parent), commit_id(commit)))
    wanted = dict.fromkeys(side.blob for _, _, *sides in records for side in sides if side.has_content)
    contents = _contents(mirror, list(wanted), limit)
    return tuple(_change(old_path, path, old, new, contents) for old_path, path, old, new in records)


def _change(old_path: str, path: str, old: _Side, new: _Side, contents: dict[str, bytes]) -> FileChange:
    before, after = (contents.get(side.blob) if side.has_content else None for side in (old, new))
    lacks = any(side.has_content and side.blob not in contents for side in (old, new))
    return FileChange(
        path=readable(path),
        old_path=readable(old_path) if old_path != path else None,
        old_mode=old.mode if old.mode != "000000" else "",
        new_mode=new.mode if new.mode != "000000" else "",
        old=before,
        new=after,
        is_cut=lacks,
    )


def _raw(mirror: HeldMirror, parent: str, commit: str) -> Iterator[tuple[str, str, _Side, _Side]]:
    """(old path, path, old side, new side) of each changed file."""
    records = iter(mirror.ask(*_COMPARE, parent, commit).records())
    for record in records:
        old_mode, new_mode, old_blob, new_blob, status = record.removeprefix(":").split(" ")
        old_path = path = next(records)
        if status.startswith(("R", "C")):
            path = next(records)
        yield old_path, path, _Side(old_mode, old_blob), _Side(new_mode, new_blob)


def _contents(mirror: HeldMirror, blobs: Sequence[str], limit: int) -> dict[str, bytes]:
    """By blob; too large ones are left out, and so is what comes when the total is used up."""
    sizes = mirror.ask("cat-file", "--batch-check=%(objectsize)", stdin=_lines(blobs)).text.split("\n")
    kept, total = [], 0
    for blob, size in zip(blobs, sizes, strict=False):
        if size.isdecimal() and int(size) <= limit and total + int(size) <= TOTAL_BYTES:
            kept.append((blob, int(size)))
            total += int(size)
    stream = mirror.ask("cat-file", "--batch=", stdin=_lines([blob for blob, _ in kept])).stdout
    contents, at = {}, 0
    for blob, length in kept:
        at += 1  # the empty header's line end
        contents[blob] = stream[at : at + length]
        at += length + 1
    return contents


def _lines(blobs: Sequence[str]) -> bytes:
    return "".join(f"{blob}\n" for blob in blobs).encode()


def entries(mirror: HeldMirror, commit: str) -> list[Entry]:
    """Every file of a commit, links and submodules included."""
    found = []
    for record in mirror.ask("ls-tree", "-r", "-z", "--full-tree", commit_id(commit)).records():
        facts, _, path = record.partition("\t")
        mode, _, blob = facts.split(" ")
        found.append(Entry(mode, blob, path))
    return found


def read(mirror: HeldMirror, commit: str, path: str, limit: int) -> bytes | None:
    """A regular file's content; None if there is none of that name, or it is larger than `limit` bytes."""
    entry = next((entry for entry in entries(mirror, commit) if readable(entry.path) == path), None)
    if entry is None or not entry.is_regular:
        return None
    return _contents(mirror, [entry.blob], limit).get(entry.blob)


def restored(mirror: HeldMirror, commit: str, source: str, paths: Sequence[str]) -> str:
    """`commit` with these paths as in `source`; `commit` itself if they are so already. Twice is one object."""
    wanted = set(paths)
    here, there = (
        {entry.path: entry for entry in entries(mirror, which) if readable(entry.path) in wanted}
        for which in (commit, source)
    )
    gone = [f"0 {_NOTHING}\t{path}" for path in sorted(here.keys() - there.keys())]
    back = [f"{entry.mode} {entry.blob}\t{path}" for path, entry in sorted(there.items()) if here.get(path) != entry]
    if not gone and not back:
        return commit
    tree = _tree_with(mirror, commit, gone + back)
    if tree == tree_of(mirror, commit):
        return commit
    meta = CommitMeta(
        message=f"{commit} with its exam as in {source}\n",
        name="CI Sweeper",
        email="ci-sweeper@localhost",
        date=datetime.fromtimestamp(int(mirror.ask("show", "--no-patch", "--format=%ct", commit).text), UTC),
    )
    return write_commit(mirror, tree, [commit], meta)


def _tree_with(mirror: HeldMirror, commit: str, lines: Sequence[str]) -> str:
    """The tree of `commit` with these index lines on top, in an index that exists for a moment only."""
    with tempfile.TemporaryDirectory(dir=mirror.path, prefix="index-") as place:
        env = {"GIT_INDEX_FILE": str(Path(place, "index"))}
        stdin = "".join(f"{line}\0" for line in lines).encode("utf-8", "surrogateescape")
        for argv, given in (
            (("read-tree", commit), None),
            (("update-index", "-z", "--index-info"), stdin),
        ):
            mirror.door.ask(GitCall(argv, git_dir=mirror.path, env=env, stdin=given, holding=mirror.locks))
        return mirror.door.ask(GitCall(("write-tree",), git_dir=mirror.path, env=env, holding=mirror.locks)).text


def readable(path: str) -> str:
    """A name as the product knows it: what is no UTF-8 is replaced, and two such names may look the same."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
