"""A household whose worker is a process of its own, so that it and Temporal can be killed and come back."""

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path

from adapters.temporal.state import read_address
from sweeper.activities.names import TASK_QUEUE
from tests.support.dying_worker import Dooms, Life, ModelLife, Shared
from tests.support.household import Household

_LOOK_EVERY = 0.05


class KillableService:
    """`dooms`: what is to happen to whom. `alerts`: where the operator is told."""

    def __init__(
        self, home: Household, root: Path, model: ModelLife | None = None, shared: Shared | None = None
    ) -> None:
        self._home = home
        self._model = model
        self._shared = shared
        self.state_dir = home.state.root
        self.alerts = root / "alerts"
        self._place = root / "dooms"
        self._place.mkdir()
        self.dooms = Dooms(self._place)
        self._worker: BaseProcess | None = None

    @property
    def life(self) -> Life:
        """What the worker works with. There has to be a Temporal."""
        running = read_address(self._home.state.root)
        assert running is not None
        return Life(
            temporal=running.address,
            github=self._home.info,
            state_dir=self.state_dir,
            task_queue=TASK_QUEUE,
            dooms=self._place,
            alert_command=f"cat >> {self.alerts}; echo >> {self.alerts}",
            model=self._model,
            shared=self._shared,
        )

    @asynccontextmanager
    async def up(self) -> AsyncIterator[None]:
        """Temporal and a worker."""
        async with self._home.temporal(), AsyncExitStack() as stack:
            stack.callback(self._kill_worker)
            await self._begin_worker()
            yield

    async def kill_worker(self) -> None:
        """kill -9, and another one comes."""
        self._kill_worker()
        await self._begin_worker()

    async def lose_host(self, elsewhere: Path) -> None:
        """kill -9, its disk is gone, and another one comes on a disk of its own."""
        self._kill_worker()
        shutil.rmtree(self.state_dir)
        self.state_dir = elsewhere
        await self._begin_worker()

    async def kill_temporal(self) -> None:
        """kill -9, and it is started again by who started it."""
        before = read_address(self._home.state.root)
        assert before is not None
        os.kill(before.pid, signal.SIGKILL)
        while (now := read_address(self._home.state.root)) is None or now.pid == before.pid:
            await asyncio.sleep(_LOOK_EVERY)

    async def kill_both(self) -> None:
        """At once."""
        self._kill_worker()
        await self.kill_temporal()
        await self._begin_worker()

    async def _begin_worker(self) -> None:
        self._worker = await asyncio.to_thread(self.life.begin)

    def _kill_worker(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker.join()
            self._worker = None
