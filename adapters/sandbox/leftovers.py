"""Sandboxes that a killed worker left half-made.

bwrap's child waits for its parent's word without noticing that the parent has died. A worker killed in that
millisecond leaves a blocked process: no code of a repository runs in it, but nobody else would ever end it.
"""

import contextlib
import os
import signal
from pathlib import Path

from adapters.sandbox.layout import HOST_NAME


def end_leftovers(proc: Path = Path("/proc")) -> int:
    """Kill them, of this machine's all workers; how many. Safe at any time: one that is still led is never touched."""
    ended = 0
    for entry in proc.iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):  # it ended meanwhile, or it is not ours
                ended += _end_if_left(int(entry.name), proc)
    return ended


def _end_if_left(pid: int, proc: Path) -> bool:
    if not is_left_over(pid, proc):
        return False
    pidfd = os.pidfd_open(pid)
    try:
        if is_left_over(pid, proc):  # the pidfd is of that very process, not of a later one with its number
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            return True
        return False
    finally:
        os.close(pidfd)


def is_left_over(pid: int, proc: Path) -> bool:
    """Pid 1 of a sandbox of ours whose parent is not the bwrap that made it."""
    words = _words(pid, proc)
    if not words[0].endswith(b"bwrap") or HOST_NAME.encode() not in words:
        return False
    status = dict(line.split(":", 1) for line in (proc / str(pid) / "status").read_text().splitlines() if ":" in line)
    inner_pids = status.get("NSpid", "").split()[1:]
    return inner_pids == ["1"] and _words(int(status["PPid"]), proc) != words


def _words(pid: int, proc: Path) -> list[bytes]:
    return (proc / str(pid) / "cmdline").read_bytes().split(b"\0")
