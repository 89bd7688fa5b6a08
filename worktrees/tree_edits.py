"""Changing files of a commit without a checkout: only the folders on the way to what is touched are read and written.

Contents go to git as bytes through `git fast-import`, which knows neither attributes nor filters: what is given is
what the blob holds. No index is made, no link is followed, no ref is written.
"""

import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from sweeper.errors import BadInput, PolicyDenied
from sweeper.model import CommitMeta
from sweeper.model.journal import FileEdit
from worktrees.git import GitCall
from worktrees.mirror import HeldMirror
from worktrees.walk import TreeLimits, is_dot_git, parents, shown

MOST_EDITS = 2_000
_NAME_BYTES, _PATH_BYTES = 255, 4_096
"""Longer ones cannot be checked out on common file systems (NAME_MAX, PATH_MAX of Linux)."""

_AT_ONCE = 100
LITERAL = {"GIT_LITERAL_PATHSPECS": "1"}
_FOLDER = "040000"
_KINDS = {"120000": "a symlink", "160000": "a submodule", _FOLDER: "a folder"}
_NOWHERE = "refs/sweeper/unwritten"


@dataclass(frozen=True)
class Seen:
    """What a tree has under a path."""

    mode: str
    blob: str
    size: int

    @property
    def is_regular(self) -> bool:
        """A file with a content of its own."""
        return self.mode.startswith("100")

    @property
    def kind(self) -> str:
        """For a message."""
        return _KINDS.get(self.mode, "a file")


def why_not(path: str, depth: int) -> str | None:
    """What keeps a path from being part of a commit, as words that follow it; None if nothing does."""
    parts = path.split("/")
    if not all(part not in ("", ".", "..") for part in parts):
        return "is no path below the top of the repository; give one like `folder/file`"
    if any(is_dot_git(word) for part in parts for word in part.split("\\")):
        return "is git's own; leave it alone"
    if "\0" in path or "\ufffd" in path or not _is_text(path):
        return "has a name that is no text; leave it as it is"
    if len(path.encode()) > _PATH_BYTES or any(len(part.encode()) > _NAME_BYTES for part in parts):
        return "is too long a name to be checked out; shorten it"
    return f"is nested deeper than {depth} directories; flatten it" if len(parts) > depth + 1 else None


def _is_text(path: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in path)


def look(mirror: HeldMirror, commit: str, paths: Iterable[str]) -> dict[str, Seen]:
    """What a commit has under these paths and on the way to them; entries beside them may be among the answers."""
    wanted = list(dict.fromkeys(paths))
    seen = _list(mirror, commit, wanted)
    above = {folder for path in wanted if path not in seen for folder in parents(path)}
    return seen | _list(mirror, commit, sorted(above - seen.keys()))


def _list(mirror: HeldMirror, commit: str, paths: Sequence[str]) -> dict[str, Seen]:
    """With -t, folders that are entered are listed, too. Paths are names, not patterns."""
    found: dict[str, Seen] = {}
    rest = iter(paths)
    while some := list(islice(rest, _AT_ONCE)):
        argv = ("ls-tree", "-z", "-t", "-l", "--full-tree", commit, "--", *some)
        for record in mirror.door.ask(
            GitCall(argv, git_dir=mirror.path, env={**mirror.env, **LITERAL}, holding=mirror.locks)
        ).records():
            facts, _, path = record.partition("\t")
            mode, _, blob, size = facts.split()
            found[path] = Seen(mode, blob, -1 if size == "-" else int(size))
    return found


@dataclass(frozen=True)
class TreeEdits:
    """Edits that change something, checked against the commit they are for. Those that delete come first."""

    edits: tuple[FileEdit, ...]

    @classmethod
    def plan(cls, mirror: HeldMirror, commit: str, edits: Sequence[FileEdit], limits: TreeLimits) -> "TreeEdits":
        """What is left to do. Raises PolicyDenied naming a path that no commit may hold, or that is no file's."""
        _check(edits, limits)
        seen = look(mirror, commit, [edit.path for edit in edits])
        gone = {edit.path for edit in edits if edit.content is None}
        written = {edit.path for edit in edits if edit.content is not None}
        above = {path: entry for path, entry in seen.items() if path not in gone} | dict.fromkeys(written, _A_FILE)
        for edit in edits:
            _refuse_what_is_no_file(edit, seen.get(edit.path), above)
        planned = [_with_mode(edit, seen.get(edit.path)) for edit in edits if _changes(edit, seen.get(edit.path))]
        return cls(tuple(sorted(planned, key=lambda edit: (edit.content is not None, edit.path))))

    @property
    def paths(self) -> tuple[str, ...]:
        """Sorted."""
        return tuple(sorted(edit.path for edit in self.edits))

    def commit(self, mirror: HeldMirror, parent: str, meta: CommitMeta, scratch: Path) -> str:
        """The id of a commit on `parent` that has them. Twice is one object; cut short, loose objects are left."""
        with tempfile.TemporaryFile(dir=scratch) as stream:
            for part in self._stream(parent, meta):
                stream.write(part)
            stream.seek(0)
            return _import(mirror, stream)

    def _stream(self, parent: str, meta: CommitMeta) -> Iterator[bytes]:
        """For git-fast-import(1). Its branch is reset at the end, so it ends with no ref to write."""
        who = f"{meta.name} <{meta.email}> {int(meta.date.timestamp())} +0000"
        yield f"commit {_NOWHERE}\nmark :1\nauthor {who}\ncommitter {who}\n".encode()
        yield from _data(meta.message.encode("utf-8", "replace"))
        yield f"from {parent}\n".encode()
        for edit in self.edits:
            if edit.content is None:
                yield b"D " + _quoted(edit.path) + b"\n"
            else:
                mode = b"100755" if edit.executable else b"100644"
                yield b"M " + mode + b" inline " + _quoted(edit.path) + b"\n"
                yield from _data(edit.content)
        yield f"\nget-mark :1\nreset {_NOWHERE}\n\ndone\n".encode()


_A_FILE = Seen("100644", "", 0)


def _check(edits: Sequence[FileEdit], limits: TreeLimits) -> None:
    if len(edits) > MOST_EDITS or len({edit.path for edit in edits}) < len(edits):
        raise BadInput(f"One action edits a file once, and at most {MOST_EDITS} files; use more actions.")
    total = 0
    for edit in edits:
        if reason := why_not(edit.path, limits.depth):
            raise PolicyDenied(f"{shown(edit.path)} {reason}.")
        size = len(edit.content or b"")
        total += size
        if size > limits.file_bytes or total > limits.total_bytes:
            raise PolicyDenied(
                f"{shown(edit.path)} is too large for a change ({size} bytes; one file may have {limits.file_bytes},"
                f" all together {limits.total_bytes}); write less."
            )


def _refuse_what_is_no_file(edit: FileEdit, here: Seen | None, above: Mapping[str, Seen]) -> None:
    """`here`: what the commit has under the path. `above`: what it and the edits have where folders have to be."""
    for folder in parents(edit.path):
        found = above.get(folder)
        if found is not None and found.mode != _FOLDER:
            raise PolicyDenied(f"{shown(edit.path)} lies behind {shown(folder)}, which is {found.kind}; name the file.")
    is_deleted_link = here is not None and here.mode == "120000" and edit.content is None
    if here is not None and not here.is_regular and not is_deleted_link:
        raise PolicyDenied(f"{shown(edit.path)} is {here.kind}, not a file; name the file itself.")


def _changes(edit: FileEdit, seen: Seen | None) -> bool:
    if edit.content is None or seen is None:
        return (edit.content is None) != (seen is None)
    digest = hashlib.sha1(b"blob %d\0" % len(edit.content), usedforsecurity=False)
    digest.update(edit.content)
    return digest.hexdigest() != seen.blob or edit.executable not in (None, _is_executable(seen))


def _with_mode(edit: FileEdit, seen: Seen | None) -> FileEdit:
    kept = seen is not None and _is_executable(seen)
    return edit.model_copy(update={"executable": kept if edit.executable is None else edit.executable})


def _is_executable(seen: Seen) -> bool:
    return bool(int(seen.mode, 8) & 0o100)  # very old commits have other modes than git's two


def _data(content: bytes) -> Iterator[bytes]:
    yield b"data %d\n" % len(content)
    yield content
    yield b"\n"


def _quoted(path: str) -> bytes:
    escaped = path.encode().replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + escaped + b'"'


def _import(mirror: HeldMirror, stream: BinaryIO) -> str:
    argv = ("fast-import", "--quiet", "--done")
    call = GitCall(argv, git_dir=mirror.path, stdin=stream, env=mirror.env, holding=mirror.locks)
    return mirror.door.ask(call).text
