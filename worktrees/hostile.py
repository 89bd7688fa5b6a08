"""Handling what an agent left behind: by directory descriptor, following no symlink, at any depth.

A name is only ever resolved inside a directory that is already open, so a planted symlink cannot lead outside, and
a tree of any depth needs neither a long path nor a deep stack.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sweeper.errors import Transient

_OPEN_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def open_directory(name: str | Path, parent: int | None = None) -> Iterator[int]:
    """Open a real directory, giving ourselves the right to read it first if it is ours and closed (mode 000)."""
    try:
        descriptor = os.open(name, _OPEN_DIRECTORY, dir_fd=parent)
    except PermissionError:
        _permit(name, parent, 0o700)
        descriptor = os.open(name, _OPEN_DIRECTORY, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def open_regular(name: str, parent: int) -> Iterator[int]:
    """Open a file that was a regular one a moment ago. O_NONBLOCK: were it a FIFO by now, nothing hangs."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(name, flags, dir_fd=parent)
    except PermissionError:
        _permit(name, parent, 0o600)
        descriptor = os.open(name, flags, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _permit(name: str | Path, parent: int | None, bits: int) -> None:
    """Add permission bits without following a symlink (fchmodat cannot; a path descriptor can)."""
    descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISLNK(mode):
            Path(f"/proc/self/fd/{descriptor}").chmod(stat.S_IMODE(mode) | bits)
    finally:
        os.close(descriptor)


def remove_tree(tree: Path, trash: Path) -> None:
    """Delete a directory that anybody may have filled. `trash` is a directory of the caller's on the same disk.

    The tree is renamed first, so that it is gone at once; then directories are lifted out of one another into
    `trash` and emptied one by one. Safe to call again after being killed: what lies in `trash` is deleted too.
    Raises Transient when something in there is still mounted or being written.
    """
    trash.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with open_directory(trash) as bin_:
            _Shredder(bin_).take(tree)
        trash.rmdir()
    except OSError as error:
        raise Transient(f"{tree.name} could not be removed ({error.strerror}); it is tried again.") from error


class _Shredder:
    """Empties directories that lie side by side in one directory."""

    def __init__(self, bin_: int) -> None:
        self._bin = bin_
        self._pending = os.listdir(bin_)
        self._taken = set(self._pending)
        self._count = 0

    def take(self, tree: Path) -> None:
        with suppress(FileNotFoundError):
            self._lift(tree, None)
        while self._pending:
            self._shred(self._pending.pop())

    def _lift(self, name: str | Path, parent: int | None) -> None:
        """Move a directory into the bin under a free number. Moving needs write permission on the directory itself."""
        with suppress(PermissionError):
            _permit(name, parent, 0o700)
        while (free := str(self._count)) in self._taken:
            self._count += 1
        os.rename(name, free, src_dir_fd=parent, dst_dir_fd=self._bin)
        self._taken.add(free)
        self._pending.append(free)

    def _shred(self, name: str) -> None:
        if not stat.S_ISDIR(os.stat(name, dir_fd=self._bin, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=self._bin)
            return
        with open_directory(name, self._bin) as directory:
            with suppress(PermissionError):
                os.fchmod(directory, 0o700)
            self._empty(directory)
        os.rmdir(name, dir_fd=self._bin)

    def _empty(self, directory: int) -> None:
        with os.scandir(directory) as entries:
            inside = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        for name, is_directory in inside:
            if is_directory:
                self._lift(name, directory)
            else:
                os.unlink(name, dir_fd=directory)
