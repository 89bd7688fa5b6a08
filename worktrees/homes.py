"""Directories for what a command installs or writes beside its tree: fresh, the sandbox user's own, thrown away.

What lies there was written by foreign code. A file is read by descriptor, through no link, up to a bound.
"""

import os
import stat
from contextlib import ExitStack
from pathlib import Path, PurePosixPath

from sweeper.errors import BadInput
from sweeper.model import Strict
from worktrees.hostile import open_directory, open_regular


class Owner(Strict):
    """The user that sandboxed commands run as; the files of a worktree are theirs."""

    uid: int
    gid: int


def make_home(place: Path, owner: Owner | None) -> None:
    """An empty directory at a place where nothing is."""
    for folder in (place.parent.parent, place.parent):
        folder.mkdir(exist_ok=True)
        folder.chmod(0o711)
    place.mkdir(mode=0o700)
    if owner is not None:
        os.chown(place, owner.uid, owner.gid)


def read_left(place: Path, path: str, limit: int) -> bytes | None:
    """A regular file that a command left below `place`; None for anything else, or a larger one."""
    *folders, name = PurePosixPath(path).parts
    if ".." in folders or name == ".." or path.startswith("/"):
        raise BadInput(f"{path!r} is not a path below a home directory; give a relative one.")
    with ExitStack() as stack:
        try:
            directory = stack.enter_context(open_directory(place))
            for folder in folders:
                directory = stack.enter_context(open_directory(folder, directory))
            if not stat.S_ISREG(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
                return None
            descriptor = stack.enter_context(open_regular(name, directory))
        except OSError:  # absent, a link, or closed for good: nothing of use was left
            return None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode) or os.fstat(descriptor).st_size > limit:
            return None
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            data = stream.read(limit + 1)
        return data if len(data) <= limit else None
