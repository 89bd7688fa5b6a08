"""Which programs of this machine a sandboxed command may use, and which directories must be visible for that.

A directory is shown read-only, at its own path, because scripts and links name their interpreter absolutely.
What holds more than programs (the home directory, anything above it, the state directory) is never shown.
"""

import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SYSTEM_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
_SYSTEM_ROOTS = tuple(Path(root) for root in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc"))
_PREFIX_MARKERS = (
    "lib/python3*",
    "lib/node_modules",
    "lib/rustlib",
    "lib/ruby",
    "lib/modules",  # a JDK
    "pkg/tool",  # Go
    "conda-meta",
)
_MAX_LINKS = 2000
_MAX_HOPS = 20


@dataclass(frozen=True)
class HostView:
    """What the rules look at: the interpreter's prefixes, the operator's PATH, and what must stay hidden."""

    path: tuple[str, ...]
    prefix: Path
    base_prefix: Path
    home: Path
    private: tuple[Path, ...] = ()

    @classmethod
    def of_this_process(cls, private: tuple[Path, ...] = (), also: tuple[Path, ...] = ()) -> "HostView":
        """The running interpreter and its environment. `also`: further directories of programs, behind PATH."""
        return cls(
            path=(*os.environ.get("PATH", "").split(os.pathsep), *map(str, also)),
            prefix=Path(sys.prefix),
            base_prefix=Path(sys.base_prefix),
            home=Path.home(),
            private=private,
        )


@dataclass(frozen=True)
class ToolDirectory:
    """A directory shown read-only: `source` is its real path, `target` the path by which it is named."""

    source: Path
    target: Path


@dataclass(frozen=True)
class Tools:
    """The search path inside, and the directories that make it work."""

    search_path: tuple[str, ...]
    directories: tuple[ToolDirectory, ...]

    def which(self, name: str) -> str | None:
        """Where a command finds this program inside; None if it does not."""
        for directory in self.search_path:
            candidate = Path(directory, name)
            if candidate.is_file() and os.access(candidate, os.X_OK) and self._is_visible(candidate.resolve()):
                return str(candidate)
        return None

    def _is_visible(self, path: Path) -> bool:
        return is_system(path) or any(path.is_relative_to(shown.source) for shown in self.directories)


def is_system(path: Path) -> bool:
    """Whether the sandbox's root filesystem has it anyway."""
    return any(path.is_relative_to(root) for root in _SYSTEM_ROOTS)


def find_tools(host: HostView) -> Tools:
    """Search path: the interpreter's scripts, the operator's PATH as far as it may be shown, the system."""
    finder = _Finder(host)
    finder.show_prefix(host.prefix)
    finder.show_prefix(host.base_prefix)
    search = [str(host.prefix / "bin")]
    for entry in host.path:
        if finder.take(entry):
            search.append(entry.rstrip("/"))
    finder.follow_links(Path("/usr/local/bin"))
    return Tools(search_path=tuple(dict.fromkeys([*search, *SYSTEM_PATH])), directories=finder.shown())


class _Finder:
    def __init__(self, host: HostView) -> None:
        self._host = host
        self._hidden = tuple(path.resolve() for path in (host.home, *host.private))
        self._shown: dict[Path, Path] = {}

    def shown(self) -> tuple[ToolDirectory, ...]:
        """Outer directories first; what lies below one that is shown by its real path is left out."""
        kept: list[ToolDirectory] = []
        for target, source in sorted(self._shown.items()):
            inside = any(target.is_relative_to(other.target) and other.source == other.target for other in kept)
            if not (inside and source == target):
                kept.append(ToolDirectory(source=source, target=target))
        return tuple(kept)

    def take(self, entry: str) -> bool:
        """Show what an entry of PATH needs; False if the entry is of no use inside or may not be shown."""
        with contextlib.suppress(OSError):
            return self._take(entry)
        return False

    def _take(self, entry: str) -> bool:
        directory = Path(entry)
        if not directory.is_absolute() or not directory.is_dir() or directory.name == "shims":
            return False  # shims of pyenv, asdf and mise ask their manager, which is not there inside
        if is_system(directory):
            return True
        real = directory.resolve()
        if self._may_be_written_by_all(real) or any(real.is_relative_to(path) for path in self._hidden[1:]):
            return False
        if not self._show(self._prefix_of(directory)):
            return False
        self.follow_links(directory)
        return True

    def show_prefix(self, prefix: Path) -> None:
        """Show an installation whole, with the interpreter a virtual environment links to."""
        if is_system(prefix) or not self._show(prefix):
            return
        self._follow(prefix / "bin" / "python3")

    def follow_links(self, directory: Path) -> None:
        """Show the installations that links in a directory of programs lead to."""
        links = (Path(item.path) for item in sorted(os.scandir(directory), key=_name) if item.is_symlink())
        for _, link in zip(range(_MAX_LINKS), links, strict=False):
            self._follow(link)

    def _follow(self, link: Path) -> None:
        with contextlib.suppress(OSError):  # what we cannot read is of no use inside either
            for hop in _hops(link):
                self._show_file(hop)

    def _show_file(self, file: Path) -> None:
        if file.is_file() and not is_system(file) and not self._is_shown(file):
            prefix = self._prefix_of(file.parent)
            self.show_prefix(prefix) if prefix != file.parent else self._show(prefix)

    def _is_shown(self, file: Path) -> bool:
        return any(file.is_relative_to(target) for target in self._shown)

    def _prefix_of(self, directory: Path) -> Path:
        parent = directory.parent
        if directory.name in ("bin", "sbin") and self._is_prefix(parent) and not self._holds_hidden(parent):
            return parent
        return directory

    def _is_prefix(self, directory: Path) -> bool:
        if (directory / "pyvenv.cfg").is_file():
            return True
        if directory.name.startswith(".") and directory.parent == self._host.home:
            return False  # ~/.local and the like hold other people's data beside their programs
        return any(next(directory.glob(marker), None) for marker in _PREFIX_MARKERS)

    def _holds_hidden(self, directory: Path) -> bool:
        real = directory.resolve()
        return any(hidden.is_relative_to(real) for hidden in self._hidden)

    def _may_be_written_by_all(self, directory: Path) -> bool:
        return bool(directory.stat().st_mode & stat.S_IWOTH)

    def _show(self, directory: Path) -> bool:
        if self._holds_hidden(directory):
            return False
        real = directory.resolve()
        self._shown[directory] = real
        self._shown[real] = real
        return True


def _name(item: "os.DirEntry[str]") -> str:
    return item.name


def _hops(link: Path) -> Iterator[Path]:
    """Each file a chain of links passes through, the last one included."""
    current = link
    for _ in range(_MAX_HOPS):
        if not current.is_symlink():
            break
        current = Path(os.path.normpath(current.parent / current.readlink()))
        yield current
