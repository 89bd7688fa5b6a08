"""A sweep as small as can be, on a real Temporal and a GitHub on loopback: one file, one check, one fix."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.process import BaseProcess
from pathlib import Path

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle
from temporalio.service import RPCError

from adapters.loopback.drive.requests import NewReview
from adapters.loopback.drive_client import DriveClient
from adapters.loopback.options import LoopbackInfo
from adapters.temporal.client import address_of
from sweeper import ids
from sweeper.model import (
    Checkpoint,
    MergeMode,
    Step,
    SweepInput,
    SweepResult,
    SweepSettings,
    Timeouts,
    Trigger,
    TriggerSource,
)
from sweeper.workflows.progress import MEMO
from sweeper.workflows.sweep import SweepWorkflow
from tests.support.dying_worker import Execution, Fate, Life, read_diary
from tests.support.red_run import MAINTAINER, red_run

LOOK_EVERY = 0.1
FIRST_PULL = 1
_TASK_TIMEOUT = timedelta(seconds=1)
"""Of a workflow task whose worker died with it; the server's own default of 10 s would only make the tests slow."""


@dataclass(frozen=True)
class Ground:
    """What all sweeps of a module stand on."""

    client: Client
    info: LoopbackInfo
    drive: DriveClient


@dataclass(frozen=True)
class SmallSweep:
    """One sweep, alone on its repository, its task queue and its state directory."""

    ground: Ground
    repository: str
    handle: WorkflowHandle[SweepWorkflow, SweepResult]
    state_dir: Path

    def worker(self, fate: Fate | None = None) -> BaseProcess:
        """A new worker process."""
        return self._life(fate).begin()

    async def lives_until(self, fate: Fate) -> int:
        """A worker's whole life; the answer is what it died of, as a negative signal number."""
        process = self.worker(fate)
        while process.exitcode is None:
            await asyncio.sleep(LOOK_EVERY)
        return process.exitcode

    @contextmanager
    def working(self) -> Iterator[None]:
        """A worker that nothing happens to, for the time of the block."""
        process = self.worker()
        try:
            yield
        finally:
            process.kill()
            process.join()

    async def recorded(self) -> Counter[Execution]:
        """Every activity whose answer is in the history of the sweep or of its attempts right now."""
        found: Counter[Execution] = Counter()
        for workflow_id in (self.handle.id, f"{self.handle.id}-a1", f"{self.handle.id}-a2"):
            found.update([item async for item in self._recorded(workflow_id)])
        return found

    def executed(self) -> Counter[Execution]:
        """Every activity that began to run, in any life."""
        return Counter(read_diary(self._life(None).diary))

    async def effects(self) -> Counter[str]:
        """What happened to its repository, by GitHub's own ledger."""
        calls = (await self.ground.drive.ledger()).calls
        return Counter(call.effect for call in calls if call.effect and f"/{self.repository}" in call.path)

    async def approved(self) -> None:
        """A maintainer approves as soon as there is something to approve."""
        await self._told(_is_proposed)
        await self._reviewed("APPROVED")

    async def approved_at_last(self) -> None:
        """A maintainer wants more at first, and approves what came of it."""
        await self._told(_is_proposed)
        await self._reviewed("CHANGES_REQUESTED", "say please")
        await self._told(lambda told: told.current_step is Step.AWAIT_REVIEW and told.budget.attempts_remaining == 1)
        await self._reviewed("APPROVED")

    async def cancelled(self) -> None:
        """The operator stops it as soon as there is something to take back."""
        await self._told(_is_proposed)
        await self.handle.signal("cancel", "the operator said so")

    async def _told(self, condition: Callable[[Checkpoint], bool]) -> None:
        """Wait until the sweep shows it."""
        while True:
            told = await (await self.handle.describe()).memo_value(MEMO, default=None, type_hint=Checkpoint)
            if told is not None and condition(told):
                return
            await asyncio.sleep(LOOK_EVERY)

    async def _reviewed(self, state: str, body: str = "") -> None:
        word = {"repo": self.repository, "pr": FIRST_PULL, "user": MAINTAINER, "state": state, "body": body}
        await self.ground.drive.review(NewReview.model_validate(word))
        await self.handle.signal("look")

    async def _recorded(self, workflow_id: str) -> AsyncIterator[Execution]:
        try:
            history = await self.ground.client.get_workflow_handle(workflow_id).fetch_history()
        except RPCError:
            return
        scheduled = {}
        for event in history.events:
            if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
                asked = event.activity_task_scheduled_event_attributes
                scheduled[event.event_id] = Execution(
                    activity=asked.activity_type.name, workflow_id=workflow_id, activity_id=asked.activity_id
                )
            elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
                yield scheduled[event.activity_task_completed_event_attributes.scheduled_event_id]

    def _life(self, fate: Fate | None) -> Life:
        return Life(
            temporal=address_of(self.ground.client),
            github=self.ground.info,
            state_dir=self.state_dir,
            task_queue=self.handle.id,
            fate=fate,
        )


def _is_proposed(told: Checkpoint) -> bool:
    return told.proposal is not None


async def small_sweep(ground: Ground, name: str, state_dir: Path, heartbeat: timedelta) -> SmallSweep:
    """A red run and its sweep, which no worker works on yet."""
    repository = f"octo/{name}"
    run = (await red_run(ground.drive, repository)).ref
    sweep_id = ids.sweep_id(run, ground.info.url)
    handle = await ground.client.start_workflow(
        SweepWorkflow.run,
        SweepInput(run=run, trigger=Trigger(source=TriggerSource.WORKFLOW_RUN), settings=_settings(heartbeat)),
        id=sweep_id,
        task_queue=sweep_id,
        task_timeout=_TASK_TIMEOUT,
    )
    state_dir.mkdir()
    return SmallSweep(ground=ground, repository=repository, handle=handle, state_dir=state_dir)


def _settings(heartbeat: timedelta) -> SweepSettings:
    return SweepSettings(
        agents=("command",),
        merge_mode=MergeMode.MERGE,
        poll_interval=timedelta(seconds=5),
        checks_grace=timedelta(0),
        timeouts=Timeouts(heartbeat=heartbeat, retry_first=timedelta(milliseconds=100)),
    )
