"""From a tree an agent left behind to a commit on top of the one it was given.

Contents are read by our own code, with caps, and handed to git as bytes: `git hash-object FILE` would follow a
planted symlink and store the secret it points to. Bytes are taken as they lie there, so a one-line edit in a CRLF
file changes one line. Only what differs from the base is written.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sweeper.errors import PolicyDenied, Transient
from sweeper.model import CommitMeta
from worktrees.commits import tree_of, write_commit
from worktrees.git import GitCall
from worktrees.hostile import open_regular
from worktrees.ignore import MAX_RULES_BYTES, IgnoreRules, is_rules_file
from worktrees.mirror import HeldMirror
from worktrees.walk import Found, TreeLimits, Walk, shown

_CHUNK = 1 << 20
_SUBMODULE = "160000"


@dataclass(frozen=True)
class Tracked:
    """A file of the base commit."""

    mode: str
    blob: str
    size: int


class Snapshot:
    """One snapshot of one tree. `scratch` is a directory of ours for the temporary index."""

    def __init__(self, mirror: HeldMirror, base: str, scratch: Path, limits: TreeLimits) -> None:
        self._mirror = mirror
        self._base = base
        self._scratch = scratch
        self._limits = limits
        self._tracked = _list_tree(mirror, base)
        self._total = 0

    def commit(self, tree: Path, meta: CommitMeta) -> str | None:
        """The commit of the tree as it lies there, or None if it is the base's. Refs are not touched.

        Raises PolicyDenied naming a path that no commit may hold or that is too large.
        """
        with tempfile.TemporaryFile(dir=self._scratch) as stream:
            changes = self._changes(tree, stream)
            stream.write(b"done\n")
            stream.seek(0)
            if not changes:
                return None
            argv = ("fast-import", "--quiet", "--done")
            self._mirror.door.ask(GitCall(argv, git_dir=self._mirror.path, stdin=stream, holding=self._mirror.locks))
        new_tree = self._write_tree(changes)
        if new_tree == tree_of(self._mirror, self._base):
            return None
        return write_commit(self._mirror, new_tree, [self._base], meta)

    def _changes(self, tree: Path, stream: BinaryIO) -> list[str]:
        """Lines for `update-index --index-info`, deletions first; new contents go to `stream`."""
        files = {path for path, entry in self._tracked.items() if entry.mode != _SUBMODULE}
        submodules = self._tracked.keys() - files
        walk = Walk(files, set(submodules), self._ignore_rules().ignores, self._limits)
        seen, changed = set(), []
        for found in walk.files(tree):
            seen.add(found.path)
            blob = self._unchanged_blob(found) or self._store(found, stream)
            known = self._tracked.get(found.path)
            if known is None or (known.mode, known.blob) != (found.mode, blob):
                changed.append(f"{found.mode} {blob} 0\t{found.path}")
        return [f"0 {'0' * 40} 0\t{path}" for path in sorted(files - seen)] + changed

    def _ignore_rules(self) -> IgnoreRules:
        rules = {}
        for path, entry in self._tracked.items():
            if is_rules_file(path) and entry.mode.startswith("100") and entry.size <= MAX_RULES_BYTES:
                rules[path] = self._mirror.ask("cat-file", "blob", entry.blob).stdout
        return IgnoreRules(rules)

    def _unchanged_blob(self, found: Found) -> str | None:
        """The base's blob if the bytes are the same: a file of another size is not even opened."""
        known = self._tracked.get(found.path)
        if known is None or known.size != found.size:
            return None
        digest = _header_digest(found.size)
        for chunk in _content(found):
            digest.update(chunk)
        return known.blob if digest.hexdigest() == known.blob else None

    def _store(self, found: Found, stream: BinaryIO) -> str:
        """Append a file to the import stream; answers its blob id."""
        self._total += found.size
        if found.size > self._limits.file_bytes or self._total > self._limits.total_bytes:
            raise PolicyDenied(
                f"{shown(found.path)} is too large for a change ({found.size} bytes; one file may have"
                f" {self._limits.file_bytes}, all together {self._limits.total_bytes}); remove it or have it ignored."
            )
        digest = _header_digest(found.size)
        stream.write(b"blob\ndata %d\n" % found.size)
        for chunk in _content(found):
            digest.update(chunk)
            stream.write(chunk)
        stream.write(b"\n")
        return digest.hexdigest()

    def _write_tree(self, changes: list[str]) -> str:
        with tempfile.TemporaryDirectory(dir=self._scratch) as folder:
            env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            lines = "".join(f"{line}\0" for line in changes).encode("utf-8", "surrogateescape")
            self._index(("read-tree", self._base), env)
            self._index(("update-index", "-z", "--index-info"), env, lines)
            return self._index(("write-tree",), env)

    def _index(self, argv: tuple[str, ...], env: dict[str, str], stdin: bytes | None = None) -> str:
        mirror = self._mirror
        return mirror.door.ask(GitCall(argv, git_dir=mirror.path, stdin=stdin, env=env, holding=mirror.locks)).text


def _list_tree(mirror: HeldMirror, commit: str) -> dict[str, Tracked]:
    tracked = {}
    for record in mirror.ask("ls-tree", "-r", "-z", "-l", "--full-tree", commit).records():
        facts, _, path = record.partition("\t")
        mode, _, blob, size = facts.split()
        tracked[path] = Tracked(mode, blob, -1 if size == "-" else int(size))
    return tracked


def _header_digest(size: int) -> "hashlib._Hash":
    return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)


def _content(found: Found) -> Iterator[bytes]:
    """Exactly `found.size` bytes. Raises Transient if the file is no longer what the walk saw."""
    if found.is_link:
        target = os.fsencode(os.readlink(found.name, dir_fd=found.parent))
        _require(len(target) == found.size, found)
        yield target
        return
    with open_regular(found.name, found.parent) as descriptor:
        left = found.size
        while left:
            chunk = os.read(descriptor, min(left, _CHUNK))
            _require(bool(chunk), found)
            left -= len(chunk)
            yield chunk
        _require(not os.read(descriptor, 1), found)


def _require(unchanged: bool, found: Found) -> None:
    if not unchanged:
        raise Transient(f"{shown(found.path)} changes while it is read; it is tried again.")
