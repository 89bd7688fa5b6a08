"""What lies in a tree that an agent had its hands on, as git would see it, without trusting any of it.

Symlinks are read, not followed. A FIFO, socket, device or repository inside the tree is refused by name. Ignored
directories are entered only where the base commit has files in them. Whatever is under the top-level `.git` and
under a submodule's path is left alone.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from sweeper.errors import PolicyDenied
from sweeper.model import Strict
from worktrees.hostile import open_directory

_DOT_GIT = re.compile(r"(\.git|git~1)[ .]*(:.*)?", re.IGNORECASE)
_INVISIBLE = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
"""Characters that some file systems drop from names: with them `.git` can be spelt so that it becomes `.git` later."""


class TreeLimits(Strict):
    """What a tree may hold at most. The byte limits are for changed and new files; the base may have any size."""

    file_bytes: int = 50 << 20
    total_bytes: int = 200 << 20
    entries: int = 500_000
    depth: int = 100


@dataclass(frozen=True)
class Found:
    """A regular file or symlink. `parent` is its open directory, valid only until the walk goes on."""

    path: str
    name: str
    parent: int
    mode: str
    size: int

    @property
    def is_link(self) -> bool:
        """A symlink: its content is where it points."""
        return self.mode == "120000"


@dataclass
class Walk:
    """One walk. `tracked` are the base commit's files, `kept` its submodules, `ignores` the rule for all others."""

    tracked: set[str]
    kept: set[str]
    ignores: Callable[[str, bool], bool]
    limits: TreeLimits
    _entries: int = 0
    _tracked_folders: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self._tracked_folders = {folder for path in self.tracked for folder in parents(path)}

    def files(self, tree: Path) -> Iterator[Found]:
        """All files that count. Raises PolicyDenied naming the path of what cannot be part of a commit."""
        with open_directory(tree) as top:
            yield from self._folder(top, "", ignored=False, depth=0)

    def _folder(self, directory: int, prefix: str, *, ignored: bool, depth: int) -> Iterator[Found]:
        if depth > self.limits.depth:
            raise PolicyDenied(f"{shown(prefix)} is nested deeper than {self.limits.depth} directories; flatten it.")
        for name in self._names(directory):
            path = prefix + name
            if path in self.kept or path == ".git":
                continue
            self._count(path)
            facts = os.stat(name, dir_fd=directory, follow_symlinks=False)
            hidden = self._is_hidden(path, stat.S_ISDIR(facts.st_mode), ignored)
            if hidden and path not in self.tracked and path not in self._tracked_folders:
                continue
            _refuse_repository(name, path)
            if stat.S_ISDIR(facts.st_mode):
                with open_directory(name, directory) as inner:
                    yield from self._folder(inner, path + "/", ignored=hidden, depth=depth + 1)
            else:
                yield Found(path, name, directory, _mode(facts.st_mode, path), facts.st_size)

    def _names(self, directory: int) -> list[str]:
        """In a fixed order, and never more of a huge directory than is needed to refuse it."""
        with os.scandir(directory) as entries:
            return sorted(entry.name for entry in islice(entries, self.limits.entries + 1))

    def _is_hidden(self, path: str, is_directory: bool, ignored: bool) -> bool:
        if path in self.tracked and not is_directory:
            return False
        return ignored or self.ignores(path, is_directory)

    def _count(self, path: str) -> None:
        self._entries += 1
        most = self.limits.entries
        if self._entries > most:
            raise PolicyDenied(f"The tree has more than {most} entries, at {shown(path)}; remove what is scratch.")


def shown(path: str) -> str:
    """A path for a message: printable and bounded."""
    return ascii(path if len(path) <= 200 else "..." + path[-197:])


def parents(path: str) -> Iterator[str]:
    """The folders a path lies in, the innermost first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def is_dot_git(name: str) -> bool:
    """Whether some file system takes the name for `.git`."""
    return _DOT_GIT.fullmatch(_INVISIBLE.sub("", name)) is not None


def _refuse_repository(name: str, path: str) -> None:
    if is_dot_git(name):
        raise PolicyDenied(f"{shown(path)} is a git repository inside the tree; remove it.")


def _mode(mode: int, path: str) -> str:
    """git's three file modes: setuid, setgid and all other bits are never stored."""
    if stat.S_ISLNK(mode):
        return "120000"
    if stat.S_ISREG(mode):
        return "100755" if mode & stat.S_IXUSR else "100644"
    kind = {stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket"}.get(stat.S_IFMT(mode), "a device")
    raise PolicyDenied(f"{shown(path)} is {kind}, which no commit can hold; remove it.")
