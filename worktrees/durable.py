"""Files that are either wholly there or not there, also after a power cut."""

import os
import time
from pathlib import Path

from sweeper.errors import Transient

_TICK_SECONDS = 0.001
_MOST_TICKS = 3_000
"""File systems stamp by the kernel's tick (1-10 ms), the coarsest still in use by 2 s."""


def write_durably(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Write beside `path`, fsync, rename, fsync the directory. Twice with the same bytes is the same file."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(descriptor)
    beside.replace(path)
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make the names in a directory survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def outlast_stamp(path: Path) -> None:
    """Return once whatever changes on this file system carries a later time of change than `path` does.

    Stamps are as coarse as the kernel's tick (inode(7)): without it, a change right after looks as old as `path`.
    Raises Transient where the clock of the file system stands still.
    """
    stamp = path.stat().st_ctime_ns
    beside = path.with_name(f".{path.name}.{os.getpid()}.clock")
    try:
        for _ in range(_MOST_TICKS):
            beside.touch(mode=0o600)
            if beside.stat().st_ctime_ns > stamp:
                return
            time.sleep(_TICK_SECONDS)
    finally:
        beside.unlink(missing_ok=True)
    raise Transient("Set this host's clock: files that change carry no later time than those before.")
