"""What the processes on one state directory share: who owns the Temporal server, and where it answers.

The locks say *whether*, the address file says *where*: after a crash the file may be stale, a lock never is, because
the kernel drops it with the process that held it.
"""

import asyncio
import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import ValidationError

from sweeper.errors import BadInput
from sweeper.model import Strict

OWNER_LOCK = "temporal.lock"
SERVER_LOCK = "temporal-server.lock"
ADDRESS_FILE = "temporal.json"
_STEP_SECONDS = 0.02


class ServerAddress(Strict):
    """Where the embedded server answers and its process id."""

    address: str
    pid: int


class FileLock:
    """An flock that ends with its holder, however that ends. Not inherited by children unless passed on purpose."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def fileno(self) -> int:
        """The descriptor the lock hangs on; a process that inherits it holds the lock too."""
        return self._fd

    def try_exclusive(self) -> bool:
        """Take it alone, without waiting."""
        return self._try(fcntl.LOCK_EX)

    def try_shared(self) -> bool:
        """Take it beside other sharers, without waiting. Changes an exclusive lock into a shared one."""
        return self._try(fcntl.LOCK_SH)

    def _try(self, kind: int) -> bool:
        try:
            fcntl.flock(self._fd, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def read(self) -> str:
        """What the holder wrote about itself; at most 200 bytes."""
        return os.pread(self._fd, 200, 0).decode(errors="replace").strip()

    def write(self, text: str) -> None:
        """Replace what the file says."""
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, text.encode(), 0)

    def close(self) -> None:
        """Let go, unless a child inherited it. Twice is a no-op."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


async def comes_true(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether it becomes true in that time. For locks: the kernel tells nobody when one is let go."""
    for _ in range(int(seconds / _STEP_SECONDS)):
        if condition():
            return True
        await asyncio.sleep(_STEP_SECONDS)
    return False


def private_directory(path: Path) -> Path:
    """The state directory, made if absent and closed to others (0700).

    Raises BadInput instead of locking others out of a shared place such as /tmp, the home directory or one above it.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = path.stat()
    except OSError as error:
        raise BadInput(f"The state directory {path} cannot be used ({error.strerror}): choose another one.") from error
    if facts.st_mode & 0o777 == 0o700:
        return path
    home = Path.home()
    if facts.st_uid != os.geteuid() or facts.st_mode & 0o1000 or path.resolve() in (home, *home.parents):
        raise BadInput(f"The state directory {path} is shared with others: choose one of its own below it.")
    path.chmod(0o700)
    return path


def read_address(state_dir: Path) -> ServerAddress | None:
    """What the address file says; None if it is absent or torn. It may be stale: ask `running_address`."""
    try:
        return ServerAddress.model_validate_json((state_dir / ADDRESS_FILE).read_bytes())
    except (OSError, ValidationError):
        return None


def write_address(state_dir: Path, address: ServerAddress) -> None:
    """Replace the address file in one step (0600)."""
    path = state_dir / ADDRESS_FILE
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w") as file:
        file.write(address.model_dump_json() + "\n")
    draft.replace(path)


def forget_address(state_dir: Path) -> None:
    """Remove the address file; absent is fine."""
    with suppress(FileNotFoundError):
        (state_dir / ADDRESS_FILE).unlink()


def running_address(state_dir: Path) -> str | None:
    """Where the embedded server of that directory answers; None while no process owns one."""
    if not (state_dir / OWNER_LOCK).exists():
        return None
    with FileLock(state_dir / OWNER_LOCK) as lock:
        if lock.try_shared():
            return None
    found = read_address(state_dir)
    return found.address if found else None
