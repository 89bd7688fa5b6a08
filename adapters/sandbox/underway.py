"""Runs that are under way, written down, so that what a killed worker left running is ended before anything runs again.

bubblewrap's processes die with the worker, but not at the same instant; without a sandbox nothing ends them. A note
lies in a directory of its own below the temporary one, and names processes by number and start, as a number alone may
belong to another process by now (proc(5): the 22nd field of `stat`).
"""

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sweeper.errors import Transient

_PREFIX = "sweeper-run-"
_OWNER, _LEADER = "owner", "leader"
_LOOK_EVERY = 0.02
_SECONDS = 10.0
_STILL_THERE = "Processes that a killed worker left do not end; end them by hand, the first is {pid}"


@dataclass(frozen=True)
class Process:
    """One process of this machine, never another one with its number. `world`: its boot and its pid namespace."""

    pid: int
    start: int
    world: str

    @classmethod
    def running(cls, pid: int) -> "Process | None":
        """None if there is none, or it has ended and only waits to be reaped."""
        fields = _stat(pid)
        return None if fields is None or fields[0] in "ZX" else cls(pid, int(fields[19]), _world())

    @property
    def is_alive(self) -> bool:
        """Whether this very one still runs."""
        return Process.running(self.pid) == self


class Underway:
    """The note of one run; `place` is for its files. Use as a context."""

    def __enter__(self) -> "Underway":
        self.place = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        _write(self.place / _OWNER, os.getpid())
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.place, ignore_errors=True)

    def led_by(self, pid: int) -> None:
        """The process whose session, or whose namespace, is the run. It has not begun yet, or it is lost if we die."""
        _write(self.place / _LEADER, pid)


async def end_left_runs(root: Path | None = None) -> int:
    """End every run of a worker that is not alive; how many. Returns when nothing of them runs any more.

    Safe at any time: a run of a living worker, of another user or of another pid namespace is not touched. Raises
    Transient when something does not end.
    """
    ended = 0
    for place in (root or Path(tempfile.gettempdir())).glob(f"{_PREFIX}*-*"):
        with contextlib.suppress(FileNotFoundError):  # another worker was faster
            owner = _read(place / _OWNER)
            if place.lstat().st_uid == os.geteuid() and owner is not None and _is_dead(owner):
                await _end(_read(place / _LEADER))
                shutil.rmtree(place, ignore_errors=True)
                ended += 1
    return ended


def _is_dead(owner: Process) -> bool:
    return owner.world == _world() and not owner.is_alive


async def _end(leader: Process | None) -> None:
    if leader is None:
        return
    try:
        async with asyncio.timeout(_SECONDS):
            while members := list(_members(leader)):
                for member in members:
                    _kill(member)
                await asyncio.sleep(_LOOK_EVERY)
    except TimeoutError:
        raise Transient(_STILL_THERE.format(pid=members[0].pid)) from None


def _members(leader: Process) -> Iterator[Process]:
    """The leader and whoever is in its session. A number is not given away as long as a session bears it."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))) is not None:
            process = Process.running(int(entry.name))
            is_in_session = int(fields[3]) == leader.pid and int(fields[19]) >= leader.start
            if process is not None and (process == leader or is_in_session):
                yield process


def _kill(process: Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        pidfd = os.pidfd_open(process.pid)
        try:
            if process.is_alive:  # the pidfd is of that very process, not of a later one with its number
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        finally:
            os.close(pidfd)


def _stat(pid: int) -> list[str] | None:
    """Fields from the third on: the name before them may hold anything."""
    try:
        return Path("/proc", str(pid), "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None


def _world() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"


def _write(path: Path, pid: int) -> None:
    """Whole or not at all."""
    process = Process.running(pid)
    if process is not None:
        beside = path.with_suffix(".new")
        beside.write_text(f"{process.pid} {process.start} {process.world}")
        beside.replace(path)


def _read(path: Path) -> Process | None:
    try:
        pid, start, world = path.read_text(errors="replace").split(" ", 2)
        return Process(int(pid), int(start), world)
    except (OSError, ValueError):
        return None
