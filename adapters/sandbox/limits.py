"""Bounds of one run: what the kernel holds for us, what we have to watch, and which of them ended a command."""

import asyncio
import os
import platform
import resource
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from adapters.sandbox.cgroups import Groups, Parents
from adapters.sandbox.problems import NO_UTIL_LINUX
from sweeper.errors import MissingTool
from sweeper.ports import SandboxLimits

FILE_SIZE_EXIT = 128 + 25
"""SIGXFSZ: a file grew above the bound we set (signal(7); shells and bwrap report 128 + signal)."""
_POLL_SECONDS = 0.25
_SPARE_PROCESSES = 8
"""The rlimit lies a little above the group's bound, so that the group, which counts its refusals, answers first."""
_SPARE_FILES = 10_000
_COUNTS_PER_NAMESPACE = (5, 14)
"""Since this kernel RLIMIT_NPROC counts per user namespace, before it all processes of the user on the machine."""


def bounded(argv: Sequence[str], limits: SandboxLimits, uid: int) -> list[str]:
    """The command behind prlimit, the first program to run *inside*.

    Set from outside they would need CAP_SYS_RESOURCE, which a container's root lacks, or bind bwrap itself.
    Raises MissingTool.
    """
    prlimit = shutil.which("prlimit", path="/usr/bin:/bin")
    if prlimit is None:
        raise MissingTool(NO_UTIL_LINUX.format(name="prlimit"))
    processes = limits.processes + _SPARE_PROCESSES + _counted_already(uid)
    bounds = (("nproc", processes), ("fsize", limits.file_bytes), ("core", 0))
    return [prlimit, *(f"--{name}={value}:{value}" for name, value in bounds), "--", *argv]


class Guard:
    """The bounds of one tree."""

    def __init__(self, limits: SandboxLimits, parents: Parents, workspace: Path | None = None) -> None:
        self.limits = limits
        self._workspace = workspace
        self._made = parents.new(limits.memory_bytes, limits.processes)
        self._groups = Groups(memory=None, pids=None)

    def apply(self, pid: int) -> None:
        """Put the sandbox's pid 1 into its groups while it waits at the gate; all it starts belongs to them."""
        self._groups = self._made.join(pid)

    @property
    def held(self) -> tuple[str, ...]:
        """How each bound is held, for the record."""
        memory = "cgroup" if self._groups.memory else "polling"
        processes = "cgroup" if self._groups.pids else "rlimit"
        return ("time", "output", "file_size:rlimit", f"memory:{memory}", f"processes:{processes}", "disk:polling")

    async def watch(self, pid: int, kill: Callable[[str], None]) -> None:
        """End the whole tree when its memory is out, of which the kernel kills one process or we have to count.

        Or when the disk of its workspace is: no quota is ours to set, and all that is beside it needs the disk as well.
        """
        while True:
            if await asyncio.to_thread(self._is_out_of_memory, pid):
                kill("memory")
            elif await asyncio.to_thread(self._is_out_of_disk):
                kill("disk")
            await asyncio.sleep(_POLL_SECONDS)

    def _is_out_of_disk(self) -> bool:
        if self._workspace is None:
            return False
        try:
            disk = os.statvfs(self._workspace)
        except OSError:
            return False
        few_files = disk.f_files > 0 and disk.f_favail < _SPARE_FILES
        return few_files or disk.f_bavail * disk.f_frsize < self.limits.spare_disk_bytes

    def _is_out_of_memory(self, pid: int) -> bool:
        if self._groups.memory is not None:
            return self._groups.out_of_memory()
        return resident_bytes(pid) > self.limits.memory_bytes

    def explain(self, exit_code: int | None) -> str | None:
        """The bound a failed command ran into, if that is known; a success needs no explanation."""
        if exit_code == 0:
            return None
        if self._groups.out_of_memory():
            return "memory"
        if self._groups.out_of_processes():
            return "processes"
        return "file_size" if exit_code == FILE_SIZE_EXIT else None

    def close(self) -> None:
        """Take the control groups away, after the last process has gone."""
        self._made.remove()


def resident_bytes(root: int, proc: Path = Path("/proc")) -> int:
    """Memory of a process and all below it. Shared pages count for each, so this errs on the early side."""
    page = resource.getpagesize()
    children: dict[int, list[int]] = {}
    pages: dict[int, int] = {}
    for pid, parent, resident in _processes(proc):
        children.setdefault(parent, []).append(pid)
        pages[pid] = resident
    total, waiting = 0, [root]
    while waiting:
        pid = waiting.pop()
        total += pages.get(pid, 0) * page
        waiting += children.get(pid, [])
    return total


def _processes(proc: Path) -> Iterator[tuple[int, int, int]]:
    for entry in proc.iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it ended meanwhile
            yield int(entry.name), int(fields[1]), int(fields[21])


def _counted_already(uid: int) -> int:
    release = tuple(int(part) for part in platform.release().split(".")[:2] if part.isdigit())
    if release >= _COUNTS_PER_NAMESPACE:
        return 0
    return sum(1 for entry in Path("/proc").iterdir() if entry.name.isdigit() and _owner(entry) == uid)


def _owner(path: Path) -> int | None:
    try:
        return path.stat().st_uid
    except OSError:
        return None
