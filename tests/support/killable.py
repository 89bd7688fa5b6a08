"""A household whose worker is a process of its own, so that it and Temporal can be killed and come back."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path

from adapters.temporal.state import read_address
from sweeper.activities.names import TASK_QUEUE
from tests.support.dying_worker import Dooms, Life, ModelLife
from tests.support.household import Household

_LOOK_EVERY = 0.05


class KillableService:
    """`dooms`: what is to happen to whom. `alerts`: where the operator is told."""

    def __init__(self, home: Household, root: Path, model: ModelLife | None = None) -> None:
        self._home = home
        self._model = model
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
            state_dir=self._home.state.root,
            task_queue=TASK_QUEUE,
            dooms=self._place,
            alert_command=f"cat >> {self.alerts}; echo >> {self.alerts}",
            model=self._model,
        )

    @asynccontextmanager
    async def up(self) -> AsyncIterator[None]:
        """Temporal and a worker."""
        async with self._home.temporal(), AsyncExitStack() as stack:
            stack.callback(self._kill_worker)
            await self._begin_worker()
            yield

    async def kill_worker(self, state_dir: Path | None = None) -> None:
        """kill -9, and another one comes: on the same disk, or on that one."""
        self._kill_worker()
        await self._begin_worker(state_dir)

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

    async def _begin_worker(self, state_dir: Path | None = None) -> None:
        life = replace(self.life, state_dir=state_dir) if state_dir is not None else self.life
        self._worker = await asyncio.to_thread(life.begin)

    def _kill_worker(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker.join()
            self._worker = None
