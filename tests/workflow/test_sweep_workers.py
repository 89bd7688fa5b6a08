"""What happens to a sweep when workers come and go. On the real server, whose queues behave as in production."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from sweeper.activities import names
from sweeper.activities.evidence import EvidenceActivities
from sweeper.activities.names import TASK_QUEUE
from sweeper.activities.proposal import ProposalActivities
from sweeper.activities.spending import SpendingActivities
from sweeper.activities.targets import TargetActivities
from sweeper.activities.workbench import WorkbenchActivities
from sweeper.model import Outcome, World
from sweeper.ports import PullRef
from sweeper.worker import EdgeInterceptor, workflow_runner
from sweeper.workflows.attempt import AttemptWorkflow
from sweeper.workflows.spending import SpendingWorkflow
from sweeper.workflows.sweep import SweepWorkflow
from sweeper.workflows.target import TargetWorkflow
from tests.support.code_host import FakeCodeHost
from tests.support.scene import REPOSITORY_ID, SETTINGS, Scene, working
from tests.support.scene_doubles import LinkedWorkspaces
from tests.support.temporal import dev_server

pytestmark = pytest.mark.slow
SIGNALED = EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED


class HeldCodeHost(FakeCodeHost):
    """Holds the next look at the world until `may_look`."""

    def __init__(self) -> None:
        super().__init__(repository_id=REPOSITORY_ID)
        self.looking, self.may_look = asyncio.Event(), asyncio.Event()
        self.may_look.set()

    async def read_world(self, pull: PullRef) -> World:
        self.looking.set()
        await self.may_look.wait()
        return await super().read_world(pull)


@pytest.fixture
async def github() -> HeldCodeHost:
    return HeldCodeHost()


@pytest.fixture
async def scene(tmp_path: Path, github: HeldCodeHost) -> AsyncIterator[Scene]:
    async with dev_server(tmp_path) as client:
        yield Scene(WorkflowEnvironment.from_client(client), github)


async def test_a_sweep_whose_host_is_lost_goes_on_at_another_one(scene: Scene) -> None:
    timeouts = SETTINGS.timeouts.model_copy(update={"host_queue": timedelta(seconds=1)})
    async with working(scene):
        await scene.start(timeouts=timeouts)
        await scene.waits_for("review")
    scene.workspaces = LinkedWorkspaces(scene.github, host="elsewhere")
    async with working(scene):
        scene.github.close_by(scene.pull.number, "ann")
        await scene.ring()
        result = await scene.ends(Outcome.CLOSED)
    assert result.reason == "closed by ann"
    assert result.state.host == "elsewhere"
    assert scene.branch not in scene.workspaces.branches[scene.run.repository_id]


async def test_a_sweep_goes_on_when_its_host_comes_back(scene: Scene) -> None:
    timeouts = SETTINGS.timeouts.model_copy(update={"host_queue": timedelta(seconds=1)})
    async with working(scene):
        await scene.start(timeouts=timeouts)
        await scene.waits_for("review")
    scene.github.close_by(scene.pull.number, "ann")
    await scene.ring()
    async with working(scene):
        await scene.ends(Outcome.CLOSED)


def _deciding(scene: Scene) -> Worker:
    """A worker for workflows alone."""
    return Worker(
        scene.env.client,
        task_queue=TASK_QUEUE,
        workflows=[SweepWorkflow, AttemptWorkflow, TargetWorkflow, SpendingWorkflow],
        workflow_runner=workflow_runner(),
        no_remote_activities=True,
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=1),
    )


def _acting(scene: Scene) -> Iterator[Worker]:
    """Workers for activities alone."""
    ports = scene.ports
    parts = (
        EvidenceActivities(ports, scene.durable),
        ProposalActivities(ports),
        WorkbenchActivities(ports),
        TargetActivities(scene.durable),
        SpendingActivities(scene.durable),
    )
    for on_host, queue in ((False, TASK_QUEUE), (True, f"host-{scene.workspaces.host}")):
        named = [act.name for act in names.ALL if act.on_host is on_host]
        bodies = [getattr(part, name) for part in parts for name in named if hasattr(part, name)]
        yield Worker(scene.env.client, task_queue=queue, activities=bodies, interceptors=[EdgeInterceptor()])


async def test_a_cancel_that_meets_continue_as_new_is_not_lost(scene: Scene, github: HeldCodeHost) -> None:
    """Both are decided on in one go, because the worker was away when the cancel came."""
    events = 60
    async with AsyncExitStack() as stack:
        for worker in _acting(scene):
            await stack.enter_async_context(worker)
        async with _deciding(scene):
            await scene.start(timeouts=SETTINGS.timeouts.model_copy(update={"history_events": events}))
            await scene.waits_for("review")
            while (await scene.info()).history_length < events - 10:
                await scene.looks_again()
            github.may_look.clear()
            github.looking.clear()
            await scene.ring()
            await asyncio.wait_for(github.looking.wait(), 20)
        await scene.cancel("stop")
        github.may_look.set()
        await scene.until_history_has(SIGNALED, SIGNALED, EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED)
        async with _deciding(scene):
            assert (await scene.ends(Outcome.CANCELLED)).reason == "stop"
