"""The Sweeps port: the same behaviour from the fake and from a real Temporal server, where no worker has to live."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Protocol, TypeVar
from zlib import crc32

import pytest
import pytest_asyncio
from temporalio.client import Client
from temporalio.worker import Worker

from adapters.temporal.sweeps import TemporalSweeps
from sweeper.activities.names import TASK_QUEUE
from sweeper.errors import NotFound, OutOfReach
from sweeper.ids import target_of
from sweeper.model import Outcome, Step, SweepInput, Trigger, TriggerSource
from sweeper.ports import Sweeps, SweepView
from tests.support import values
from tests.support.stand_in_sweep import ACTIVITIES, ANEW, BREAK, FAIL, FINISH, SIGNED, WORK, WORKFLOWS
from tests.support.sweeps import FakeSweeps
from tests.support.temporal import dev_server

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.xdist_group("sweeps")]

T = TypeVar("T")


def sweep_input(run_id: int = 1001, repository: str = "octo/app") -> SweepInput:
    return SweepInput(
        run=values.run_ref(run_id=run_id, repository=repository), trigger=Trigger(source=TriggerSource.WORKFLOW_RUN)
    )


class Stage(Protocol):
    """A Sweeps port, and what happens to its sweeps from the inside."""

    @property
    def sweeps(self) -> Sweeps: ...

    async def finish(self, workflow_id: str) -> None: ...

    async def learn_target(self, workflow_id: str, head_repository_id: int, branch: str) -> None: ...

    async def learn_signature(self, workflow_id: str, signature: str) -> None: ...

    async def cancel_reason(self, workflow_id: str) -> str | None: ...


class FakeStage:
    def __init__(self) -> None:
        self.fake = FakeSweeps()

    @property
    def sweeps(self) -> Sweeps:
        return self.fake

    async def finish(self, workflow_id: str) -> None:
        self.fake.finish(workflow_id)

    async def learn_target(self, workflow_id: str, head_repository_id: int, branch: str) -> None:
        self.fake.for_target(workflow_id, head_repository_id, branch)

    async def learn_signature(self, workflow_id: str, signature: str) -> None:
        self.fake.for_signature(workflow_id, signature)

    async def cancel_reason(self, workflow_id: str) -> str | None:
        return self.fake.sweeps[workflow_id].cancel_reason


class TemporalStage:
    """Its workflows move only while it runs a worker, inside `tell`; at all other times none is alive."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.sweeps: Sweeps = TemporalSweeps(client)

    def worker(self) -> Worker:
        return Worker(self.client, task_queue=TASK_QUEUE, workflows=WORKFLOWS, activities=ACTIVITIES)

    async def tell(self, workflow_id: str, word: str) -> None:
        handle = self.client.get_workflow_handle(workflow_id)
        before = await handle.describe()
        await handle.signal("tell", word)
        async with self.worker():
            if word in (FINISH, FAIL, ANEW):
                await until(handle.describe, lambda now: (now.status, now.run_id) != (before.status, before.run_id))
            else:
                await handle.execute_update("settle")

    async def history_length(self, workflow_id: str) -> int:
        return (await self.client.get_workflow_handle(workflow_id).describe()).history_length

    async def signals(self, workflow_id: str, name: str) -> int:
        history = await self.client.get_workflow_handle(workflow_id).fetch_history()
        found = [event.workflow_execution_signaled_event_attributes.signal_name for event in history.events]
        return found.count(name)

    async def finish(self, workflow_id: str) -> None:
        await self.tell(workflow_id, FINISH)

    async def learn_target(self, workflow_id: str, head_repository_id: int, branch: str) -> None:
        await self.tell(workflow_id, target_of(head_repository_id, branch))

    async def learn_signature(self, workflow_id: str, signature: str) -> None:
        await self.tell(workflow_id, SIGNED + signature)

    async def cancel_reason(self, workflow_id: str) -> str | None:
        return (await self.sweeps.show(workflow_id)).state.cancel_reason


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client]:
    async with dev_server(tmp_path_factory.mktemp("state")) as connected:
        yield connected


@pytest.fixture
def temporal(client: Client) -> TemporalStage:
    return TemporalStage(client)


@pytest.fixture(params=["fake", "temporal"])
def stage(request: pytest.FixtureRequest, temporal: TemporalStage) -> Stage:
    return temporal if request.param == "temporal" else FakeStage()


@pytest.fixture
def sweep(request: pytest.FixtureRequest) -> str:
    """An id no other test uses."""
    return f"sweep-{crc32(request.node.nodeid.encode())}-1"


async def until(look: Callable[[], Awaitable[T]], is_so: Callable[[T], bool]) -> T:
    """What `look` finds once it is so; lists may lag a moment behind. The test's own timeout bounds it."""
    while not is_so(found := await look()):
        await asyncio.sleep(0.02)
    return found


async def listed(stage: Stage, *ids: str) -> list[SweepView]:
    """These sweeps as the list has them, once it has all."""

    async def look() -> list[SweepView]:
        return [view for view in await stage.sweeps.list() if view.id in ids]

    return await until(look, lambda views: len(views) == len(ids))


class TestEverySweeps:
    async def test_a_start_is_a_start_once_and_a_duplicate_ever_after(self, stage: Stage, sweep: str) -> None:
        assert await stage.sweeps.start(sweep, sweep_input())
        assert not await stage.sweeps.start(sweep, sweep_input())
        await stage.finish(sweep)
        assert not await stage.sweeps.start(sweep, sweep_input())

    async def test_of_many_starts_at_once_one_is_the_start(self, stage: Stage, sweep: str) -> None:
        answers = await asyncio.gather(*(stage.sweeps.start(sweep, sweep_input()) for _ in range(20)))
        assert sorted(answers) == [False] * 19 + [True]

    async def test_it_tells_open_from_ended_from_unknown(self, stage: Stage, sweep: str) -> None:
        assert await stage.sweeps.is_open(sweep) is None
        await stage.sweeps.start(sweep, sweep_input())
        assert await stage.sweeps.is_open(sweep) is True
        await stage.finish(sweep)
        assert await stage.sweeps.is_open(sweep) is False

    async def test_only_an_open_sweep_hears_a_ring(self, stage: Stage, sweep: str) -> None:
        assert not await stage.sweeps.ring(sweep)
        await stage.sweeps.start(sweep, sweep_input())
        assert await stage.sweeps.ring(sweep)
        await stage.finish(sweep)
        assert not await stage.sweeps.ring(sweep)

    async def test_only_an_open_sweep_can_be_cancelled(self, stage: Stage, sweep: str) -> None:
        assert not await stage.sweeps.cancel(sweep, "no more needed")
        await stage.sweeps.start(sweep, sweep_input())
        assert await stage.sweeps.cancel(sweep, "no more needed")
        assert await stage.cancel_reason(sweep) == "no more needed"
        await stage.finish(sweep)
        assert not await stage.sweeps.cancel(sweep, "again")

    @pytest.mark.parametrize("branch", ["main", "fix/it's-odd", 'say-"hi"', "hundred%", "a_b"])
    async def test_open_sweeps_are_found_by_their_target(self, stage: Stage, sweep: str, branch: str) -> None:
        await stage.sweeps.start(sweep, sweep_input())
        await stage.learn_target(sweep, 7, branch)
        await until(lambda: stage.sweeps.open_for_target(target_of(7, branch)), lambda found: found == (sweep,))
        assert await stage.sweeps.open_for_target(target_of(7, branch + "x")) == ()
        assert await stage.sweeps.open_for_target(target_of(70, branch)) == ()
        await stage.finish(sweep)
        await until(lambda: stage.sweeps.open_for_target(target_of(7, branch)), lambda found: found == ())

    async def test_the_list_has_the_newest_first(self, stage: Stage, sweep: str) -> None:
        ids = [f"{sweep}-{n}" for n in range(3)]
        for n, workflow_id in enumerate(ids):
            await stage.sweeps.start(workflow_id, sweep_input(run_id=2000 + n))
        views = await listed(stage, *ids)
        assert [view.id for view in views] == ids[::-1]
        assert [view.checkpoint.run.run_id for view in views] == [2002, 2001, 2000]
        assert all(view.is_open and view.stuck is None for view in views)

    async def test_the_list_is_as_long_as_asked_for(self, stage: Stage, sweep: str) -> None:
        ids = [f"{sweep}-{n}" for n in range(3)]
        for workflow_id in ids:
            await stage.sweeps.start(workflow_id, sweep_input())
        await listed(stage, *ids)
        assert len(await stage.sweeps.list(limit=2)) == 2

    async def test_a_new_sweep_shows_itself_before_anybody_works_on_it(self, stage: Stage, sweep: str) -> None:
        await stage.sweeps.start(sweep, sweep_input())
        record = await stage.sweeps.show(sweep)
        assert record.view.is_open
        assert record.view.checkpoint.current_step is Step.ADMIT
        assert record.view.checkpoint.run == sweep_input().run
        assert record.view.checkpoint.budget.attempts_remaining == sweep_input().settings.max_attempts
        assert record.state.triggers == (sweep_input().trigger,)

    async def test_an_ended_sweep_shows_its_outcome(self, stage: Stage, sweep: str) -> None:
        await stage.sweeps.start(sweep, sweep_input())
        await stage.finish(sweep)
        record = await stage.sweeps.show(sweep)
        assert not record.view.is_open
        assert record.view.checkpoint.outcome is Outcome.MERGED
        assert record.view.checkpoint.current_step is Step.DONE

    async def test_an_unknown_sweep_is_not_found(self, stage: Stage, sweep: str) -> None:
        with pytest.raises(NotFound, match=sweep):
            await stage.sweeps.show(sweep)


class TestSignatures:
    async def test_sweeps_of_the_same_failure_are_found_newest_first_open_or_ended(
        self, stage: Stage, sweep: str
    ) -> None:
        signature, ids = f"v1:{sweep}", [f"{sweep}-{n}" for n in range(3)]
        for workflow_id in ids:
            await stage.sweeps.start(workflow_id, sweep_input())
            await stage.learn_signature(workflow_id, signature)
        await stage.finish(ids[1])

        async def alike(besides: str) -> tuple[str, ...]:
            return await stage.sweeps.with_signature("octo/app", signature, besides)

        assert await until(lambda: alike("nobody"), lambda found: len(found) == 3) == (ids[2], ids[1], ids[0])
        assert await alike(ids[2]) == (ids[1], ids[0])

    @pytest.mark.parametrize("odd", ["plain", "it's-odd", 'say-"hi"', "hundred%"])
    async def test_another_failure_and_another_repository_are_none_of_it(
        self, stage: Stage, sweep: str, odd: str
    ) -> None:
        signature = f"{sweep} {odd}"
        for workflow_id, repository in ((sweep, "octo/app"), (f"{sweep}-2", "octo/shop")):
            await stage.sweeps.start(workflow_id, sweep_input(repository=repository))
            await stage.learn_signature(workflow_id, signature)

        async def alike(repository: str, of: str = signature) -> tuple[str, ...]:
            return await stage.sweeps.with_signature(repository, of, "nobody")

        assert await until(lambda: alike("octo/app"), bool) == (sweep,)
        assert await until(lambda: alike("octo/shop"), bool) == (f"{sweep}-2",)
        assert await alike("octo/app", signature + "x") == ()
        assert await alike("octo/appendix") == ()

    async def test_ten_are_enough(self, stage: Stage, sweep: str) -> None:
        ids = [f"{sweep}-{n:02}" for n in range(12)]
        for workflow_id in ids:
            await stage.sweeps.start(workflow_id, sweep_input())
            await stage.learn_signature(workflow_id, sweep)

        async def alike() -> tuple[str, ...]:
            return await stage.sweeps.with_signature("octo/app", sweep, ids[-1])

        assert await until(alike, lambda found: found[:1] == (ids[-2],)) == tuple(reversed(ids[1:-1]))


class TestWhoAsked:
    async def test_what_else_asked_is_noted_once_and_known_after_the_end(self, stage: Stage, sweep: str) -> None:
        asked = Trigger(source=TriggerSource.DISPATCH, request_id="r2", actor="ann")
        await stage.sweeps.start(sweep, sweep_input())
        for _ in range(2):
            assert await stage.sweeps.note(sweep, asked)
        known = (sweep_input().trigger, asked)
        assert (await stage.sweeps.show(sweep)).state.triggers == known
        await stage.finish(sweep)
        assert not await stage.sweeps.note(sweep, asked)
        assert (await stage.sweeps.show(sweep)).state.triggers == known

    async def test_sweeps_asked_for_anew_are_found_by_the_first_ones_id(self, stage: Stage, sweep: str) -> None:
        anew = f"{sweep}-mr1"
        for one in (sweep, anew, f"{sweep}1-mr1"):
            await stage.sweeps.start(one, sweep_input())
        await stage.finish(anew)
        assert await until(lambda: stage.sweeps.asked_anew(sweep), bool) == (anew,)


class TestTemporalSweeps:
    async def test_a_duplicate_adds_nothing_to_the_history(self, temporal: TemporalStage, sweep: str) -> None:
        await temporal.sweeps.start(sweep, sweep_input())
        before = await temporal.history_length(sweep)
        await asyncio.gather(*(temporal.sweeps.start(sweep, sweep_input()) for _ in range(10)))
        assert await temporal.history_length(sweep) == before
        await temporal.finish(sweep)
        before = await temporal.history_length(sweep)
        await temporal.sweeps.start(sweep, sweep_input())
        assert await temporal.history_length(sweep) == before

    async def test_a_hundred_rings_at_once_are_few_signals(self, temporal: TemporalStage, sweep: str) -> None:
        await temporal.sweeps.start(sweep, sweep_input())
        assert all(await asyncio.gather(*(temporal.sweeps.ring(sweep) for _ in range(100))))
        assert 1 <= await temporal.signals(sweep, "look") <= 2

    async def test_what_was_done_is_shown_from_the_history(self, temporal: TemporalStage, sweep: str) -> None:
        await temporal.sweeps.start(sweep, sweep_input())
        await temporal.tell(sweep, WORK)
        record = await temporal.sweeps.show(sweep)
        assert record.view.checkpoint.current_step is Step.AWAIT_REVIEW
        assert record.state.step is Step.AWAIT_REVIEW
        assert record.state.facts == values.run_facts()
        assert record.state.diagnosis == values.diagnosis()
        assert record.state.attempts == (values.attempt(),)
        assert record.state.proposal == values.proposal()
        assert [effect.name for effect in record.state.effects] == ["branch.push", "pull.create"]

    async def test_a_run_that_went_on_anew_shows_all_it_ever_did(self, temporal: TemporalStage, sweep: str) -> None:
        await temporal.sweeps.start(sweep, sweep_input())
        started_at = (await temporal.sweeps.show(sweep)).view.started_at
        await temporal.tell(sweep, WORK)
        await temporal.tell(sweep, ANEW)
        await temporal.tell(sweep, WORK)
        record = await temporal.sweeps.show(sweep)
        assert len(record.state.effects) == 4
        assert record.view.started_at == started_at
        assert [view.is_open for view in await listed(temporal, sweep)] == [True]

    async def test_a_sweep_whose_code_fails_is_called_stuck(self, temporal: TemporalStage, sweep: str) -> None:
        await temporal.sweeps.start(sweep, sweep_input())
        await temporal.client.get_workflow_handle(sweep).signal("tell", BREAK)
        async with temporal.worker():
            while (await temporal.sweeps.show(sweep)).view.stuck is None:
                await asyncio.sleep(0.1)
        assert "fails again and again" in str((await temporal.sweeps.show(sweep)).view.stuck)

    async def test_a_sweep_ended_by_other_hands_is_called_stuck(self, temporal: TemporalStage, sweep: str) -> None:
        await temporal.sweeps.start(sweep, sweep_input())
        await temporal.client.get_workflow_handle(sweep).terminate("by hand")
        record = await temporal.sweeps.show(sweep)
        assert not record.view.is_open
        assert f"`sweeper retry {sweep}`" in str(record.view.stuck)
        assert record.state.triggers == (sweep_input().trigger,)

    async def test_a_sweep_that_failed_is_called_stuck(self, temporal: TemporalStage, sweep: str) -> None:
        await temporal.sweeps.start(sweep, sweep_input())
        await temporal.tell(sweep, FAIL)
        assert "failed" in str((await temporal.sweeps.show(sweep)).view.stuck)

    async def test_one_started_by_other_hands_is_listed_all_the_same(self, temporal: TemporalStage) -> None:
        bare = sweep_input()
        await temporal.client.start_workflow("sweep", bare, id="sweep-314-2", task_queue=TASK_QUEUE)
        checkpoint = (await temporal.sweeps.show("sweep-314-2")).view.checkpoint
        assert (checkpoint.run.run_id, checkpoint.run.run_attempt) == (314, 2)
        assert checkpoint.current_step is Step.ADMIT

    async def test_a_workflow_that_is_no_sweep_is_not_found(self, temporal: TemporalStage, sweep: str) -> None:
        await temporal.client.start_workflow("attempt", id=sweep, task_queue="nobody")
        with pytest.raises(NotFound):
            await temporal.sweeps.show(sweep)
        assert sweep not in [view.id for view in await temporal.sweeps.list()]

    async def test_pollers_tell_of_a_worker_where_no_directory_is_shared(self, client: Client) -> None:
        alone = TemporalSweeps(client, task_queue="a-queue-of-its-own")
        assert not (await alone.worker_life()).alive
        async with Worker(client, task_queue="a-queue-of-its-own", workflows=WORKFLOWS):
            while not (await alone.worker_life()).alive:
                await asyncio.sleep(0.05)


async def test_a_service_that_is_away_is_out_of_reach(tmp_path: Path) -> None:
    async with dev_server(tmp_path) as client:
        sweeps = TemporalSweeps(client)
        await sweeps.start("sweep-1-1", sweep_input())
    for call in (sweeps.list(), sweeps.show("sweep-1-1"), sweeps.start("sweep-2-1", sweep_input())):
        with pytest.raises(OutOfReach, match="does not answer"):
            await call
