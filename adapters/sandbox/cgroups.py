"""Control groups, where this process may make some: hard bounds for memory and processes of one run.

Both kinds are looked for: v1 (one hierarchy per controller) and v2 (one for all). Below our own group, so bounds of
the container we may be in hold as well. https://docs.kernel.org/admin-guide/cgroup-v2.html
"""

import contextlib
import itertools
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PREFIX = "sweeper-"
_numbers = itertools.count(1)
_REMOVE_TRIES = 20
_REMOVE_PAUSE = 0.01


@dataclass(frozen=True)
class Parents:
    """Directories below which a group can be made; None: that bound has to be held otherwise."""

    memory: Path | None = None
    pids: Path | None = None

    def new(self, memory_bytes: int, processes: int) -> "Groups":
        """Make this run's groups with their bounds. What cannot be made is left out."""
        name = f"{_PREFIX}{os.getpid()}-{next(_numbers)}"
        memory = _make(self.memory, name, _memory_settings(memory_bytes))
        pids = _make(self.pids, name, (("pids.max", processes),))
        return Groups(memory=memory, pids=pids)


@dataclass(frozen=True)
class Groups:
    """The groups of one run."""

    memory: Path | None
    pids: Path | None

    def join(self, pid: int) -> "Groups":
        """Put a process (and all it will start) under the bounds; answers with the groups that took it."""
        return Groups(memory=_join(self.memory, pid), pids=_join(self.pids, pid))

    def out_of_memory(self) -> bool:
        """Whether the kernel killed a process of this run for memory."""
        names = ("memory.oom_control", "memory.events")
        return self.memory is not None and any(_field(self.memory / name, "oom_kill") > 0 for name in names)

    def out_of_processes(self) -> bool:
        """Whether a process of this run was refused because there were too many."""
        return self.pids is not None and _field(self.pids / "pids.events", "max") > 0

    def remove(self) -> None:
        """Take the groups away; the kernel may need a moment to see that they are empty. Twice is a no-op."""
        for directory in {path for path in (self.memory, self.pids) if path is not None}:
            for _ in range(_REMOVE_TRIES):
                try:
                    directory.rmdir()
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(_REMOVE_PAUSE)
                else:
                    break


def find_parents(proc: Path = Path("/proc")) -> Parents:
    """Where groups can be made, found by making one. Groups that a killed worker left behind are taken away."""
    with contextlib.suppress(OSError):
        mounts = (proc / "self" / "mountinfo").read_text()
        own = (proc / "self" / "cgroup").read_text()
        return Parents(
            memory=_first_usable(mounts, own, "memory", ("memory.limit_in_bytes", "memory.max")),
            pids=_first_usable(mounts, own, "pids", ("pids.max",)),
        )
    return Parents()


def candidates(mountinfo: str, own: str, controller: str) -> Iterator[Path]:
    """Directories of a controller that could take our groups: our own group first, then those above it (v2)."""
    ours = {names: path for _, names, path in (line.split(":", 2) for line in own.splitlines() if line.count(":") >= 2)}
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        root, point = before.split(" ")[3:5]
        if kind == "cgroup" and controller in options.split(","):
            path = next((path for names, path in ours.items() if controller in names.split(",")), "/")
            yield _below(point, root, path)
            yield Path(point)
        elif kind == "cgroup2":
            group = _below(point, root, ours.get("", "/"))
            yield from (place for place in (group, *group.parents) if place.is_relative_to(point))


def _below(point: str, root: str, path: str) -> Path:
    inside = path.removeprefix(root) if root != "/" else path
    return Path(point, inside.lstrip("/"))


def _first_usable(mountinfo: str, own: str, controller: str, limit_files: tuple[str, ...]) -> Path | None:
    for place in candidates(mountinfo, own, controller):
        _remove_left_over(place)
        trial = place / f"{_PREFIX}{os.getpid()}-0"
        try:
            trial.mkdir()
        except OSError:
            continue
        try:
            if any(os.access(trial / name, os.W_OK) for name in limit_files):
                return place
        finally:
            with contextlib.suppress(OSError):
                trial.rmdir()
    return None


def _remove_left_over(place: Path) -> None:
    for left in place.glob(f"{_PREFIX}*-*"):
        owner = left.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            with contextlib.suppress(OSError):
                left.rmdir()  # refused by the kernel while a process is in it


def _memory_settings(memory_bytes: int) -> tuple[tuple[str, int], ...]:
    return (
        ("memory.limit_in_bytes", memory_bytes),
        ("memory.memsw.limit_in_bytes", memory_bytes),
        ("memory.max", memory_bytes),
        ("memory.swap.max", 0),
        ("memory.oom.group", 1),
    )


def _make(parent: Path | None, name: str, settings: tuple[tuple[str, int], ...]) -> Path | None:
    if parent is None:
        return None
    directory = parent / name
    try:
        directory.mkdir(exist_ok=True)
        for file, value in settings:
            if (directory / file).exists():
                (directory / file).write_text(str(value))
    except OSError:
        return None
    return directory


def _join(directory: Path | None, pid: int) -> Path | None:
    if directory is not None:
        with contextlib.suppress(OSError):
            (directory / "cgroup.procs").write_text(str(pid))
            return directory
    return None


def _field(file: Path, name: str) -> int:
    with contextlib.suppress(OSError):
        for line in file.read_text().splitlines():
            words = line.split()
            if len(words) == 2 and words[0] == name:
                return int(words[1])
    return 0
