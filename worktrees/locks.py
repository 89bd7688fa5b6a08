"""File locks between the processes and threads of one host."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sweeper.errors import Transient

WAIT_SECONDS = 300.0
_PAUSE = 0.02


@contextmanager
def locked(path: Path, *, shared: bool = False) -> Iterator[int]:
    """Hold a flock on `path` (made if absent) and give its descriptor.

    The kernel drops it when the last holder of the descriptor dies, so nothing is left to clean after kill -9. Not
    re-entrant. Raises Transient when it is not free within WAIT_SECONDS.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = _open_and_take(path, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _open_and_take(path: Path, mode: int) -> int:
    """A holder may unlink a file of no more use: then the lock just taken is on nothing, so the new one is taken."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if _take(descriptor, mode, deadline) and _is_at(path, descriptor):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        if time.monotonic() > deadline:
            raise Transient(f"{path.name} is held by another process for minutes; it is tried again.")


def _take(descriptor: int, mode: int, deadline: float) -> bool:
    while time.monotonic() <= deadline:
        try:
            fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PAUSE)
        else:
            return True
    return False


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
