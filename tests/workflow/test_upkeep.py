"""Upkeep's own rhythm and memory, with time passing at once; what its activities find is the test's to say."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio import activity
from temporalio.api.enums.v1 import EventType
from temporalio.client import WorkflowHandle
from temporalio.exceptions import ApplicationError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from sweeper.activities import care, names, requests, writes
from sweeper.activities.names import TASK_QUEUE
from sweeper.errors import Permanent
from sweeper.model import Effect, EffectState, Outcome, RunRef
from sweeper.model.upkeep import (
    HostTrace,
    PullTrace,
    Remains,
    RepositoryRef,
    Rung,
    StuckCase,
    UpkeepInput,
    UpkeepSettings,
)
from sweeper.policy.orphans import Fate, Judgement
from sweeper.policy.stuck import task_fails
from sweeper.worker import workflow_runner
from sweeper.workflows.upkeep import WORKFLOW_ID, UpkeepWorkflow
from tests.support.temporal import time_skipping_env

SHOP = RepositoryRef(id=7, name="octo/shop")
HOURLY = UpkeepSettings(interval=timedelta(hours=1), grace=timedelta(0))
RUN = RunRef(repository="octo/shop", repository_id=7, run_id=1)
ORPHAN = Judgement(
    sweep="sweep-1-1",
    repository=SHOP,
    fate=Fate.UNDO,
    reason="it is nobody's",
    run=RUN,
    outcome=Outcome.CANCELLED,
    pulls=(PullTrace(number=5, branch="sweeper/1-1", head_sha="a" * 40),),
    delete="a" * 40,
    hosts=("here",),
)
CASE = task_fails("sweep-9-1", "a bug", datetime(2026, 11, 29, tzinfo=UTC))


@dataclass
class Findings:
    """What the world is like, and what was asked of it."""

    judgements: tuple[Judgement, ...] = ()
    cases: tuple[StuckCase, ...] = ()
    until: datetime | None = None
    fails: str = ""
    asked: list[tuple[str, Any]] = field(default_factory=list)

    def of(self, name: str) -> list[Any]:
        """What an activity was asked."""
        return [request for asked, request in self.asked if asked == name]

    def note(self, name: str, request: Any) -> None:
        self.asked.append((name, request))
        if name == self.fails:
            raise ApplicationError("it cannot be done", type=Permanent.__name__, non_retryable=True)

    @activity.defn(name=names.LIST_REPOSITORIES.name)
    async def list_repositories(self, request: requests.Nothing) -> care.Overview:
        self.note(names.LIST_REPOSITORIES.name, request)
        return care.Overview(repositories=(SHOP,), broken=())

    @activity.defn(name=names.FIND_MISSED_RUNS.name)
    async def find_missed_runs(self, request: care.MissedRequest) -> care.Missed:
        self.note(names.FIND_MISSED_RUNS.name, request)
        if self.until is not None:
            return care.Missed(until=self.until)
        return care.Missed(seen={str(SHOP.id): activity.info().started_time})

    @activity.defn(name=names.SURVEY_GITHUB.name)
    async def survey_github(self, request: care.SurveyRequest) -> care.Survey:
        self.note(names.SURVEY_GITHUB.name, request)
        return care.Survey(remains=(Remains(sweep="sweep-1-1", repository=SHOP),), until=self.until)

    @activity.defn(name=names.JUDGE_REMAINS.name)
    async def judge_remains(self, request: care.JudgeRequest) -> care.Judged:
        self.note(names.JUDGE_REMAINS.name, request)
        return care.Judged(judgements=self.judgements)

    @activity.defn(name=names.START_AGAIN.name)
    async def start_again(self, request: care.StartAgainRequest) -> care.StartedAgain:
        self.note(names.START_AGAIN.name, request)
        return care.StartedAgain(is_new=True)

    @activity.defn(name=names.FIND_STUCK.name)
    async def find_stuck(self, request: requests.Nothing) -> care.Stuck:
        self.note(names.FIND_STUCK.name, request)
        return care.Stuck(cases=self.cases)

    @activity.defn(name=names.SEND_ALERT.name)
    async def send_alert(self, request: care.AlertRequest) -> requests.Nothing:
        self.note(names.SEND_ALERT.name, request)
        return requests.Nothing()

    @activity.defn(name=names.COMMENT.name)
    async def comment(self, request: writes.CommentRequest) -> Effect:
        return self.effect(names.COMMENT.name, request)

    @activity.defn(name=names.CLOSE_PROPOSAL.name)
    async def close_proposal(self, request: writes.CloseRequest) -> Effect:
        return self.effect(names.CLOSE_PROPOSAL.name, request)

    @activity.defn(name=names.DELETE_BRANCH.name)
    async def delete_branch(self, request: writes.DeleteBranchRequest) -> Effect:
        return self.effect(names.DELETE_BRANCH.name, request)

    @activity.defn(name=names.DISCARD.name)
    async def discard(self, request: requests.DiscardRequest) -> requests.Nothing:
        self.note(names.DISCARD.name, request)
        return requests.Nothing()

    @activity.defn(name=names.SURVEY_HOST.name)
    async def survey_host(self, request: requests.Nothing) -> care.HostSurvey:
        self.note(names.SURVEY_HOST.name, request)
        return care.HostSurvey(traces=(HostTrace(host="here", repository_id=7, sweep="sweep-1-1"),))

    def effect(self, name: str, request: Any) -> Effect:
        self.note(name, request)
        return Effect(key=request.effect_key, name=name, state=EffectState.CREATED)


@dataclass
class Upkeep:
    """The workflow on a server that skips time."""

    env: WorkflowEnvironment
    world: Findings
    handle: WorkflowHandle[UpkeepWorkflow, None]

    async def passes(self, times: int = 1) -> None:
        """Wait until it has passed so often in all."""
        async with asyncio.timeout(30):
            while len(self.world.of(names.FIND_STUCK.name)) < times:
                await self.env.sleep(timedelta(minutes=10))


@asynccontextmanager
async def upkeep(world: Findings, settings: UpkeepSettings = HOURLY) -> AsyncIterator[Upkeep]:
    """Rung by one worker's start."""
    async with time_skipping_env() as env:
        anywhere: list[Callable[..., Any]] = [
            *(world.list_repositories, world.find_missed_runs, world.survey_github, world.judge_remains),
            *(world.start_again, world.find_stuck, world.send_alert, world.comment, world.close_proposal),
        ]
        on_host: list[Callable[..., Any]] = [world.survey_host, world.delete_branch, world.discard]
        async with (
            Worker(
                env.client,
                task_queue=TASK_QUEUE,
                workflows=[UpkeepWorkflow],
                activities=anywhere,
                workflow_runner=workflow_runner(),
            ),
            Worker(env.client, task_queue=names.host_queue("here"), activities=on_host),
        ):
            handle = await env.client.start_workflow(
                UpkeepWorkflow.run,
                UpkeepInput(settings=settings),
                id=WORKFLOW_ID,
                task_queue=TASK_QUEUE,
                start_signal="look",
                start_signal_args=[Rung(host="here", settings=settings)],
            )
            yield Upkeep(env, world, handle)


async def test_the_first_look_goes_back_a_day_and_the_next_ones_to_the_one_before() -> None:
    world = Findings()
    async with upkeep(world) as kept:
        await kept.passes(3)
        first, second, third = (request.watched[0].since for request in world.of(names.FIND_MISSED_RUNS.name)[:3])
        assert timedelta(hours=22) < second - first < timedelta(hours=25)
        assert abs(third - second - HOURLY.interval) < timedelta(minutes=11)


async def test_an_orphan_is_undone_in_an_order_that_loses_nothing() -> None:
    world = Findings(judgements=(ORPHAN,))
    async with upkeep(world) as kept:
        await kept.passes()
        undone = [name for name, _ in world.asked if name in (*_UNDO, names.DISCARD.name)]
        assert undone[:4] == [*_UNDO, names.DISCARD.name]
        keys = [request.effect_key for name in _UNDO for request in world.of(name)[:1]]
        assert keys == ["upkeep/sweep-1-1/comment/5", "upkeep/sweep-1-1/close/5", "upkeep/sweep-1-1/delete_branch/1"]


_UNDO = (names.COMMENT.name, names.CLOSE_PROPOSAL.name, names.DELETE_BRANCH.name)


@pytest.mark.parametrize("step", _UNDO)
async def test_what_cannot_be_undone_keeps_its_record_for_the_next_pass(step: str) -> None:
    world = Findings(judgements=(ORPHAN,), fails=step)
    async with upkeep(world) as kept:
        await kept.passes()
        assert world.of(names.DISCARD.name) == []
        world.fails = ""
        await kept.passes(2)
        assert len(world.of(names.DISCARD.name)) == 1


async def test_an_orphan_is_only_touched_once_it_has_looked_like_one_for_the_grace_time() -> None:
    world = Findings(judgements=(ORPHAN,))
    patient = HOURLY.model_copy(update={"grace": timedelta(minutes=90)})
    async with upkeep(world, patient) as kept:
        await kept.passes(2)
        assert world.of(names.DISCARD.name) == []
        await kept.passes(3)
        assert len(world.of(names.DISCARD.name)) == 1


async def test_a_sweep_whose_record_is_lost_is_started_again() -> None:
    world = Findings(judgements=(ORPHAN.model_copy(update={"fate": Fate.START}),))
    async with upkeep(world) as kept:
        await kept.passes()
        assert world.of(names.START_AGAIN.name)[0] == care.StartAgainRequest(sweep="sweep-1-1", run=RUN)
        assert world.of(names.DISCARD.name) == []


async def test_a_rate_limit_ends_a_look_quietly_and_the_next_pass_goes_on_where_it_was() -> None:
    world = Findings(until=datetime(2030, 1, 1, tzinfo=UTC))
    async with upkeep(world) as kept:
        await kept.passes()
        world.until = None
        await kept.passes(2)
        first, second = (request.watched[0].since for request in world.of(names.FIND_MISSED_RUNS.name)[:2])
        assert abs(second - first - HOURLY.interval) < timedelta(minutes=11), "still a day before now"


async def test_a_case_is_told_once_for_as_long_as_it_goes_on_and_again_when_it_comes_back() -> None:
    world = Findings(cases=(CASE,))
    async with upkeep(world, HOURLY.model_copy(update={"channels": ("command", "url")})) as kept:
        await kept.passes(3)
        told = world.of(names.SEND_ALERT.name)
        assert [alert.channel for alert in told] == ["command", "url"]
        assert len({alert.alert.id for alert in told}) == 1
        world.cases = ()
        await kept.passes(5)
        world.cases = (CASE,)
        await kept.passes(7)
        assert len(world.of(names.SEND_ALERT.name)) == 4
        assert len({alert.alert.id for alert in world.of(names.SEND_ALERT.name)}) == 2


async def test_a_failing_look_or_alert_does_not_end_the_pass() -> None:
    for broken in (names.LIST_REPOSITORIES, names.FIND_MISSED_RUNS, names.SURVEY_GITHUB, names.JUDGE_REMAINS):
        world = Findings(fails=broken.name)
        async with upkeep(world) as kept:
            await kept.passes(2)


async def test_it_goes_on_as_new_and_forgets_nothing() -> None:
    world = Findings(cases=(CASE,))
    async with upkeep(world, HOURLY.model_copy(update={"channels": ("command",)})) as kept:
        await kept.passes(4)
        assert (
            await kept.env.client.get_workflow_handle(WORKFLOW_ID).describe()
        ).run_id != kept.handle.first_execution_run_id
        assert len(world.of(names.SEND_ALERT.name)) == 1
        last = world.of(names.FIND_MISSED_RUNS.name)[-1].watched[0].since
        before = world.of(names.FIND_MISSED_RUNS.name)[-2].watched[0].since
        assert last > before


async def test_where_it_waits_nothing_is_behind_it_so_other_code_may_go_on() -> None:
    async with upkeep(Findings()) as kept:
        await kept.passes(2)
        kinds: list[EventType.ValueType] = []
        async with asyncio.timeout(30):
            while kinds[-1:] != [EventType.EVENT_TYPE_TIMER_STARTED]:
                history = await kept.env.client.get_workflow_handle(WORKFLOW_ID).fetch_history()
                kinds = [event.event_type for event in history.events]
        assert EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED not in kinds
