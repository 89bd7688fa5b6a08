"""The day's budgets on the server the product embeds: what they know outlives workers, continue-as-new and the dead."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
import pytest_asyncio
from temporalio.client import Client
from temporalio.worker import Worker

from adapters.temporal.spending import TemporalSpending
from adapters.temporal.sweeps import TemporalSweeps
from adapters.temporal.targets import TemporalTargets
from sweeper import ids
from sweeper.activities.names import TASK_QUEUE
from sweeper.activities.spending import SpendingActivities
from sweeper.activities.targets import TargetActivities
from sweeper.model import Allowance, Spent, SweepInput, Timeouts, Trigger, TriggerSource
from sweeper.model.days import Grant, ReserveRequest, SettleRequest, SpendingInput
from sweeper.ports import Durable
from sweeper.workflows.spending import SpendingWorkflow
from tests.contract.test_targets import signals_of
from tests.support import values
from tests.support.stand_in_sweep import WORKFLOWS
from tests.support.temporal import dev_server

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

PATIENCE = 30.0
TEN = Allowance(model_calls=10)
QUICK = SpendingInput(look_after=timedelta(milliseconds=500), timeouts=Timeouts(history_events=40))


class Purse:
    """What agents of one GitHub may use; another GitHub is another purse."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.sweeps = TemporalSweeps(client)

    def of(self, host: str, fresh: SpendingInput = QUICK) -> TemporalSpending:
        """The purse of that GitHub."""
        return TemporalSpending(self.client, f"https://{host}", fresh=fresh)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Somebody works here, for the time of the block."""
        durable = Durable(self.sweeps, TemporalTargets(self.client), spending=self.of("any"))
        spending, targets = SpendingActivities(durable), TargetActivities(durable)
        activities: list[Callable[..., Awaitable[object]]] = [
            spending.reserve_spending,
            targets.ring_sweep,
            targets.find_ended,
        ]
        workflows = [SpendingWorkflow, *WORKFLOWS]
        async with Worker(self.client, task_queue=TASK_QUEUE, workflows=workflows, activities=activities):
            yield

    async def sweep(self, number: int) -> str:
        """One that is there to be rung."""
        sweep_id = f"sweep-{number}-1"
        trigger = Trigger(source=TriggerSource.WORKFLOW_RUN)
        await self.sweeps.start(sweep_id, SweepInput(run=values.run_ref(run_id=number), trigger=trigger))
        return sweep_id


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def purse(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Purse]:
    async with dev_server(tmp_path_factory.mktemp("spending")) as client:
        yield Purse(client)


def ask(key: str, bound: Allowance = TEN) -> ReserveRequest:
    return ReserveRequest(
        key=key,
        repository="octo/app",
        repository_id=1,
        wanted=Allowance(),
        installation_day=bound,
        lasts=timedelta(hours=1),
    )


def used(key: str, calls: int) -> SettleRequest:
    return SettleRequest(key=key, repository_id=1, spent=Spent(model_calls=calls))


async def granted_at_last(spending: TemporalSpending, key: str) -> Grant:
    """Ask until the answer is a share."""
    async with asyncio.timeout(PATIENCE):
        while (grant := await spending.reserve(ask(key))).granted is None:
            await asyncio.sleep(0.1)
        return grant


async def test_what_was_used_outlives_the_worker_and_each_github_has_its_own(purse: Purse) -> None:
    async with purse.open():
        assert (await purse.of("a").reserve(ask("sweep-1-1/1"))).granted == TEN
        await purse.of("a").settle(used("sweep-1-1/1", 7))
    async with purse.open():
        assert (await purse.of("a").reserve(ask("sweep-2-1/1"))).granted == Allowance(model_calls=3)
        assert (await purse.of("b").reserve(ask("sweep-2-1/1"))).granted == TEN


async def test_the_share_of_a_sweep_that_was_terminated_is_free_while_somebody_is_held(purse: Purse) -> None:
    dead, held = await purse.sweep(21), await purse.sweep(22)
    spending = purse.of("c")
    async with purse.open():
        await spending.reserve(ask(f"{dead}/1"))
        refused = await spending.reserve(ask(f"{held}/1"))
        assert (refused.granted, refused.is_held) == (None, True)
        await purse.client.get_workflow_handle(dead).terminate()
        assert (await granted_at_last(spending, f"{held}/1")).granted == TEN


async def test_who_is_held_is_rung_when_there_is_room(purse: Purse) -> None:
    first, held = await purse.sweep(31), await purse.sweep(32)
    spending = purse.of("d")
    async with purse.open():
        await spending.reserve(ask(f"{first}/1"))
        assert (await spending.reserve(ask(f"{held}/1"))).is_held
        await spending.settle(used(f"{first}/1", 4))
        async with asyncio.timeout(PATIENCE):
            while "look" not in await signals_of(purse.client, held):
                await asyncio.sleep(0.1)
        assert (await spending.reserve(ask(f"{held}/1"))).granted == Allowance(model_calls=6)


async def test_what_was_used_and_reserved_outlives_continue_as_new(purse: Purse) -> None:
    first, second = await purse.sweep(41), await purse.sweep(42)
    spending, handle = purse.of("e"), purse.client.get_workflow_handle(ids.spending_id("https://e"))
    async with purse.open():
        await spending.reserve(ask(f"{first}/1"))
        await spending.settle(used(f"{first}/1", 4))
        await spending.reserve(ask(f"{first}/2"))
        begun = (await handle.describe()).run_id
        async with asyncio.timeout(PATIENCE):
            while (await handle.describe()).run_id == begun:
                assert (await spending.reserve(ask(f"{second}/1"))).is_held
                await spending.settle(used(f"{first}/1", 4))
        assert (await spending.reserve(ask(f"{first}/2"))).granted == Allowance(model_calls=6)
        await spending.settle(used(f"{first}/2", 1))
        assert (await granted_at_last(spending, f"{second}/1")).granted == Allowance(model_calls=5)


async def test_many_who_ask_at_once_never_get_more_than_there_is(purse: Purse) -> None:
    spending = purse.of("f", SpendingInput())  # which takes its time before it asks whether these sweeps are alive
    wanted = Allowance(model_calls=3)
    async with purse.open():
        requests = [ask(f"sweep-{n}-1/1").model_copy(update={"wanted": wanted}) for n in range(50, 62)]
        grants = await asyncio.gather(*(spending.reserve(request) for request in requests))
    shares = [grant.granted.model_calls or 0 for grant in grants if grant.granted]
    assert (sorted(shares), sum(shares)) == ([1, 3, 3, 3], 10)
