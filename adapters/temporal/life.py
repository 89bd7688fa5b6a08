"""Whether a worker is alive, without asking Temporal's queries, which hang for half a minute when none is.

On one state directory a lock says it: the kernel drops a worker's lock the moment it dies. Where no directory is
shared, the task queue's list of pollers has to do; it forgets a dead one only after about a minute.
"""

import asyncio
import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client

from adapters.temporal.client import READ_SECONDS, reaching
from adapters.temporal.state import FileLock, comes_true
from sweeper.errors import Bug
from sweeper.ports import WorkerLife

WORKER_LOCK = "worker.lock"
BEAT_SECONDS = 2.0
POLLER_AGE = timedelta(seconds=70)
"""A living worker asks for work at least every 60 s; the rest is for the way."""


class WorkerPulse:
    """Held by a worker process for its life: `async with WorkerPulse(state_dir):`. Several may beat at once.

    The lock says alive; the file's text says since when somebody is; its time of change is the last sign of life.
    """

    def __init__(self, state_dir: Path, beat_seconds: float = BEAT_SECONDS) -> None:
        self._beat_seconds = beat_seconds
        self._path = state_dir / WORKER_LOCK
        self._lock: FileLock | None = None
        self._beating: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        lock = self._lock = FileLock(self._path)
        # Alone, the lock can be had exclusively; a reader's probe may be in the way for an instant.
        if await comes_true(lock.try_exclusive, 0.1):
            lock.write(datetime.now(UTC).isoformat())
        if not await comes_true(lock.try_shared, 5.0):
            raise Bug(f"{self._path} is held by something that is no worker: end it and start again.")
        self._beating = asyncio.create_task(self._beat(lock))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._beating is not None:
            self._beating.cancel()
            with suppress(asyncio.CancelledError):
                await self._beating
        if self._lock is not None:
            os.utime(self._lock.fileno())
            self._lock.close()

    async def _beat(self, lock: FileLock) -> None:
        while True:
            os.utime(lock.fileno())
            await asyncio.sleep(self._beat_seconds)


def read_worker_life(state_dir: Path) -> WorkerLife:
    """Alive since its start, or not alive since the last beat (None: no worker was ever there)."""
    path = state_dir / WORKER_LOCK
    if not path.exists():
        return WorkerLife(alive=False)
    with FileLock(path) as lock:
        if lock.try_exclusive():
            last_beat = os.fstat(lock.fileno()).st_mtime
            return WorkerLife(alive=False, since=datetime.fromtimestamp(last_beat, UTC))
        return WorkerLife(alive=True, since=_instant(lock.read()))


def _instant(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else None


async def read_poller_life(client: Client, task_queue: str) -> WorkerLife:
    """What the task queue's pollers tell: alive if one asked lately, else since the last one asked, if still listed."""
    request = DescribeTaskQueueRequest(
        namespace=client.namespace,
        task_queue=TaskQueue(name=task_queue),
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    )
    async with reaching(client, READ_SECONDS):
        pollers = (await client.workflow_service.describe_task_queue(request)).pollers
    seen = max((poller.last_access_time.ToDatetime(UTC) for poller in pollers), default=None)
    if seen is None:
        return WorkerLife(alive=False)
    alive = datetime.now(UTC) - seen < POLLER_AGE
    return WorkerLife(alive=alive, since=None if alive else seen)
