"""Targets on a real Temporal server: turns outlive workers and continue-as-new, and pass over the dead."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from temporalio.client import Client
from temporalio.worker import Worker

from adapters.temporal.sweeps import TemporalSweeps
from adapters.temporal.targets import TemporalTargets
from sweeper.activities import targets as bodies
from sweeper.activities.names import TASK_QUEUE
from sweeper.model import SweepInput, Timeouts, Trigger, TriggerSource
from sweeper.model.target import Answer, Asked, EnterRequest, LeaveRequest, TargetInput, TargetMemo, Turn
from sweeper.ports import Durable
from sweeper.workflows.target import MEMO, TargetWorkflow
from tests.support import values
from tests.support.no_spending import NoSpending
from tests.support.stand_in_sweep import WORKFLOWS
from tests.support.temporal import dev_server

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]

QUICK = TargetInput(
    look_after=timedelta(milliseconds=500),
    keep_idle=timedelta(seconds=1),
    timeouts=Timeouts(history_events=40),
)
PATIENCE = 30.0


class Street:
    """Sweeps that can be started and ended, and the targets they ask."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.sweeps = TemporalSweeps(client)
        self.targets = TemporalTargets(client, fresh=QUICK)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Somebody works here, for the time of the block."""
        body = bodies.TargetActivities(Durable(self.sweeps, self.targets, spending=NoSpending()))
        activities: list[Callable[..., Any]] = [body.ring_sweep, body.find_ended]
        async with AsyncExitStack() as stack:
            workflows = [TargetWorkflow, *WORKFLOWS]
            worker = Worker(self.client, task_queue=TASK_QUEUE, workflows=workflows, activities=activities)
            await stack.enter_async_context(worker)
            yield

    async def sweep(self, number: int) -> str:
        """One that is there to be rung."""
        run = values.run_ref(run_id=number)
        sweep_id = f"sweep-{number}-1"
        await self.sweeps.start(sweep_id, SweepInput(run=run, trigger=Trigger(source=TriggerSource.WORKFLOW_RUN)))
        return sweep_id

    async def ask(self, target: str, sweep: str, cause: str) -> Answer:
        """May it go on?"""
        asked = Asked(sweep=sweep, run_id=1, workflow=sweep, signature=cause)
        return await self.targets.enter(EnterRequest(target=target, asked=asked))

    async def until_it_may_go(self, target: str, sweep: str, cause: str) -> None:
        """Ask until the answer is go."""
        async with asyncio.timeout(PATIENCE):
            while (await self.ask(target, sweep, cause)).turn is not Turn.GO:
                await asyncio.sleep(0.1)

    async def memo(self, target: str) -> TargetMemo:
        """What the target says of itself."""
        description = await self.client.get_workflow_handle(target).describe()
        return await description.memo_value(MEMO, type_hint=TargetMemo)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def street(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Street]:
    async with dev_server(tmp_path_factory.mktemp("targets")) as client:
        yield Street(client)


async def test_a_turn_outlives_the_worker(street: Street, tmp_path: Path) -> None:
    first, second = await street.sweep(11), await street.sweep(12)
    async with street.open():
        assert (await street.ask("target-1-a", first, "red")).turn is Turn.GO
    async with street.open():
        answer = await street.ask("target-1-a", second, "blue")
    assert (answer.turn, answer.other, answer.position) == (Turn.WAIT, first, 1)
    memo = await street.memo("target-1-a")
    assert (memo.holder, [waiting.sweep for waiting in memo.queue], memo.waiting) == (first, [second], 1)


async def test_a_holder_that_was_terminated_is_passed_over_while_somebody_waits(street: Street) -> None:
    holder, waiting = await street.sweep(21), await street.sweep(22)
    async with street.open():
        assert (await street.ask("target-1-b", holder, "red")).turn is Turn.GO
        assert (await street.ask("target-1-b", waiting, "blue")).turn is Turn.WAIT
        await street.client.get_workflow_handle(holder).terminate()
        await street.until_it_may_go("target-1-b", waiting, "blue")


async def test_who_is_next_is_rung(street: Street) -> None:
    holder, waiting = await street.sweep(31), await street.sweep(32)
    async with street.open():
        await street.ask("target-1-c", holder, "red")
        await street.ask("target-1-c", waiting, "blue")
        await street.targets.leave(LeaveRequest(target="target-1-c", sweep=holder, signature="red"))
        async with asyncio.timeout(PATIENCE):
            while "look" not in await signals_of(street.client, waiting):
                await asyncio.sleep(0.1)


async def signals_of(client: Client, workflow_id: str) -> list[str]:
    """Names of the signals in a workflow's history."""
    history = await client.get_workflow_handle(workflow_id).fetch_history()
    return [
        event.workflow_execution_signaled_event_attributes.signal_name
        for event in history.events
        if event.HasField("workflow_execution_signaled_event_attributes")
    ]


async def test_turns_places_and_mutes_outlive_the_targets_continue_as_new(street: Street) -> None:
    holder, waiting = await street.sweep(41), await street.sweep(42)
    async with street.open():
        await street.ask("target-1-d", holder, "red")
        muted = LeaveRequest(target="target-1-d", sweep="sweep-40-1", signature="grey", mute_for=timedelta(days=1))
        await street.targets.leave(muted)
        first_run = (await street.client.get_workflow_handle("target-1-d").describe()).run_id
        async with asyncio.timeout(PATIENCE):
            while (await street.client.get_workflow_handle("target-1-d").describe()).run_id == first_run:
                assert (await street.ask("target-1-d", waiting, "blue")).turn is Turn.WAIT
        assert (await street.ask("target-1-d", holder, "red")).turn is Turn.GO
        assert (await street.ask("target-1-d", waiting, "blue")).position == 1
        assert (await street.ask("target-1-d", "sweep-43-1", "grey")).turn is Turn.MUTED


async def test_a_target_with_nothing_to_remember_ends_and_begins_again_when_asked(street: Street) -> None:
    sweep = await street.sweep(51)
    async with street.open():
        await street.ask("target-1-e", sweep, "red")
        await street.targets.leave(LeaveRequest(target="target-1-e", sweep=sweep, signature="red"))
        await asyncio.wait_for(street.client.get_workflow_handle("target-1-e").result(), PATIENCE)
        assert (await street.ask("target-1-e", sweep, "red")).turn is Turn.GO
