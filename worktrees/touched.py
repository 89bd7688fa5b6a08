"""What commands did to the files of a checkout: read by descriptor, through no link, and nothing of it is believed.

The kernel's own time of change (`st_ctime`, inode(7)) cannot be set by the code that ran, so a file that was written
and put back as it was is told as well. Contents are read only where a file or a folder above it was touched.
"""

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from sweeper.model import Touched
from worktrees.hostile import open_directory, open_regular
from worktrees.reading import Entry, readable

MOST_BESIDE = 10_000
"""Entries of one folder that are looked at: a folder with more is full of what was made."""

_CHUNK = 1 << 20
_LINK = "120000"


def touched(entries: Sequence[Entry], tree: Path, since_ns: int) -> Touched:
    """What differs from the commit's `entries` in the checkout that was complete at `since_ns` (this host's clock).

    Where a folder cannot be entered, all that belongs into it counts as changed. Raises nothing for what lies there.
    """
    changed: list[str] = []
    rewritten: list[str] = []
    added: list[str] = []
    for folder, inside in _by_folder(entries).items():
        try:
            with ExitStack() as stack:
                directory, is_moved = _enter(stack, tree, folder, since_ns)
                look = _Look(directory, since_ns, is_moved=is_moved)
                differing = [entry.path for entry in inside if look.differs(entry)]
                changed += differing
                rewritten += (e.path for e in inside if e.path not in differing and look.is_written(e))
                added += (f"{folder}{name}" for name in look.beside({_name(entry) for entry in inside}))
        except OSError:
            changed += (entry.path for entry in inside)
    return Touched(changed=_sorted(changed), rewritten=_sorted(rewritten), added=_sorted(added))


def _sorted(paths: list[str]) -> tuple[str, ...]:
    return tuple(sorted({readable(path) for path in paths}))


class _Look:
    """One open folder. `is_moved`: it, or one above, got or lost an entry, so old files may be others' files."""

    def __init__(self, directory: int, since_ns: int, *, is_moved: bool) -> None:
        self._directory = directory
        self._since = since_ns
        self._is_moved = is_moved

    def is_written(self, entry: Entry) -> bool:
        return self._facts(entry).st_ctime_ns > self._since

    def differs(self, entry: Entry) -> bool:
        try:
            facts = self._facts(entry)
            kind_fits = stat.S_ISLNK(facts.st_mode) if entry.mode == _LINK else stat.S_ISREG(facts.st_mode)
            if not kind_fits:
                return True
            return (self._is_moved or facts.st_ctime_ns > self._since) and self._blob(entry, facts) != entry.blob
        except OSError:
            return True

    def beside(self, known: set[str]) -> Iterator[str]:
        """Names of files and links that the commit does not have here."""
        with os.scandir(self._directory) as found:
            for other in islice(found, MOST_BESIDE):
                if other.name not in known and not other.is_dir(follow_symlinks=False):
                    yield other.name

    def _facts(self, entry: Entry) -> os.stat_result:
        return os.stat(_name(entry), dir_fd=self._directory, follow_symlinks=False)

    def _blob(self, entry: Entry, facts: os.stat_result) -> str:
        digest = hashlib.sha1(b"blob %d\0" % facts.st_size, usedforsecurity=False)
        if entry.mode == _LINK:
            digest.update(os.fsencode(os.readlink(_name(entry), dir_fd=self._directory)))
            return digest.hexdigest()
        with open_regular(_name(entry), self._directory) as descriptor:
            left = facts.st_size
            while left and (chunk := os.read(descriptor, min(left, _CHUNK))):
                digest.update(chunk)
                left -= len(chunk)
        return digest.hexdigest()


def _by_folder(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Folders with a slash at the end; the top is the empty name. Those that hold folders alone are among them."""
    folders: dict[str, list[Entry]] = {"": []}
    for entry in entries:
        if entry.is_submodule:
            continue
        above = entry.path.rpartition("/")[0]
        folders.setdefault(f"{above}/" if above else "", []).append(entry)
        while (above := above.rpartition("/")[0]) and f"{above}/" not in folders:
            folders[f"{above}/"] = []
    return folders


def _enter(stack: ExitStack, tree: Path, folder: str, since_ns: int) -> tuple[int, bool]:
    directory = stack.enter_context(open_directory(tree))
    is_moved = os.fstat(directory).st_ctime_ns > since_ns
    for name in folder.split("/")[:-1]:
        directory = stack.enter_context(open_directory(name, directory))
        is_moved = is_moved or os.fstat(directory).st_ctime_ns > since_ns
    return directory, is_moved


def _name(entry: Entry) -> str:
    return entry.path.rpartition("/")[2]
