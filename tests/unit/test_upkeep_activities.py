"""What upkeep's looks do when a part of the world does not answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from temporalio.testing import ActivityEnvironment

from sweeper import ids
from sweeper.activities import care
from sweeper.activities.requests import Nothing
from sweeper.activities.upkeep import UpkeepActivities
from sweeper.errors import NotFound, PolicyDenied, RateLimited, SweeperError, Transient
from sweeper.model import Outcome, RunRef, SweepInput, Trigger, TriggerSource
from sweeper.model.target import Answer, EnterRequest, LeaveRequest
from sweeper.model.upkeep import Alert, FailedRun, HostTrace, OpenCheck, PullTrace, Remains, RepositoryRef
from sweeper.policy.orphans import Fate
from sweeper.ports import Caretaking, Durable, Ports
from tests.support.code_host import FakeCodeHost
from tests.support.journals import FakeJournals
from tests.support.no_spending import NoSpending
from tests.support.sandbox import FakeSandbox
from tests.support.scene_doubles import MemoryArtifacts
from tests.support.sweeps import FakeSweeps
from tests.support.workspaces import FakeWorkspaces

SHOP, MILL, BARN = (
    RepositoryRef(id=number, name=f"octo/{name}") for number, name in ((4711, "app"), (2, "b"), (3, "c"))
)
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
LATER = datetime(2030, 1, 1, tzinfo=UTC)


@dataclass
class FakeInventory:
    """A GitHub of which each repository may refuse to answer."""

    errors: dict[int, SweeperError] = field(default_factory=dict)
    listing: SweeperError | None = None

    async def repositories(self) -> tuple[RepositoryRef, ...]:
        if self.listing is not None:
            raise self.listing
        return (SHOP, MILL)

    async def failed_runs(self, repository: RepositoryRef, since: datetime) -> tuple[FailedRun, ...]:
        self._may_fail(repository)
        return (FailedRun(run=run_in(repository), conclusion="failure", head_sha="a" * 40),)

    async def remains(self, repository: RepositoryRef) -> tuple[Remains, ...]:
        self._may_fail(repository)
        return (Remains(sweep=f"sweep-{repository.id}-1", repository=repository, branch_sha="a" * 40),)

    async def open_checks(self, repository: RepositoryRef, sweep: str, commits: Sequence[str]) -> tuple[OpenCheck, ...]:
        return ()

    def _may_fail(self, repository: RepositoryRef) -> None:
        if repository.id in self.errors:
            raise self.errors[repository.id]


@dataclass
class FakeDoor:
    """Starts whoever knocks, once."""

    known: list[str] = field(default_factory=list)

    async def knock(self, failed: FailedRun) -> str | None:
        sweep = f"sweep-{failed.run.run_id}-1"
        if sweep in self.known:
            return None
        self.known.append(sweep)
        return sweep

    async def start_again(self, sweep: str, run: RunRef) -> bool:
        return await self.knock(FailedRun(run=run, conclusion="failure", head_sha="a" * 40)) is not None


class NoAlerts:
    channels: tuple[str, ...] = ()

    async def send(self, alert: Alert, channel: str) -> None:
        raise AssertionError("nobody is to be told")


class NoTargets:
    async def enter(self, request: EnterRequest) -> Answer:
        raise AssertionError("no target is to be asked")

    async def leave(self, request: LeaveRequest) -> None:
        raise AssertionError("no target is to be asked")


def run_in(repository: RepositoryRef) -> RunRef:
    return RunRef(repository=repository.name, repository_id=repository.id, run_id=repository.id)


@dataclass
class World:
    inventory: FakeInventory = field(default_factory=FakeInventory)
    door: FakeDoor = field(default_factory=FakeDoor)
    sweeps: FakeSweeps = field(default_factory=FakeSweeps)
    github: FakeCodeHost = field(default_factory=FakeCodeHost)

    @property
    def activities(self) -> UpkeepActivities:
        here = FakeWorkspaces()
        ports = Ports(self.github, here, FakeSandbox(), {}, MemoryArtifacts(), journals=FakeJournals(here))
        care_for = Caretaking(self.inventory, self.door, NoAlerts())
        return UpkeepActivities(ports, Durable(self.sweeps, NoTargets(), care_for, spending=NoSpending()))

    async def missed(self, *repositories: RepositoryRef) -> care.Missed:
        watched = tuple(care.Watched(repository=repository, since=LONG_AGO) for repository in repositories)
        return await ActivityEnvironment().run(self.activities.find_missed_runs, care.MissedRequest(watched=watched))

    async def survey(self, *repositories: RepositoryRef) -> care.Survey:
        request = care.SurveyRequest(repositories=repositories)
        return await ActivityEnvironment().run(self.activities.survey_github, request)

    async def judged(self, *remains: Remains) -> care.Judged:
        return await ActivityEnvironment().run(self.activities.judge_remains, care.JudgeRequest(remains=remains))

    async def started(self, run: RunRef, outcome: Outcome | None = None) -> str:
        """A sweep of that run, ended if it has an outcome."""
        sweep = ids.sweep_id(run, self.github.api_url)
        await self.sweeps.start(sweep, SweepInput(run=run, trigger=Trigger(source=TriggerSource.WORKFLOW_RUN)))
        if outcome is not None:
            self.sweeps.finish(sweep, outcome)
        return sweep


@pytest.fixture
def world() -> World:
    return World()


async def test_one_repository_that_does_not_answer_keeps_no_other_from_being_looked_at(world: World) -> None:
    world.inventory.errors[SHOP.id] = Transient("GitHub had a hiccup; try again.")
    missed = await world.missed(SHOP, MILL)
    assert (set(missed.seen), missed.started) == ({"2"}, ("sweep-2-1",))
    assert missed.problems == ("octo/app: GitHub had a hiccup; try again.",)
    survey = await world.survey(SHOP, MILL)
    assert ([found.repository for found in survey.remains], len(survey.problems)) == ([MILL], 1)


async def test_a_repository_that_is_gone_is_no_problem(world: World) -> None:
    world.inventory.errors[SHOP.id] = NotFound("Check the name.")
    assert (await world.missed(SHOP, MILL)).problems == ()
    assert (await world.survey(SHOP, MILL)).problems == ()


async def test_a_rate_limit_ends_the_look_and_says_until_when(world: World) -> None:
    world.inventory.errors[MILL.id] = RateLimited("Wait.", LATER)
    missed = await world.missed(SHOP, MILL, BARN)
    assert (set(missed.seen), missed.until, missed.problems) == ({"4711"}, LATER, ())
    survey = await world.survey(SHOP, MILL, BARN)
    assert ([found.repository for found in survey.remains], survey.until) == ([SHOP], LATER)


async def test_a_run_that_is_found_twice_starts_one_sweep(world: World) -> None:
    assert (await world.missed(SHOP)).started == ("sweep-4711-1",)
    assert (await world.missed(SHOP)).started == ()


async def test_where_sweeps_were_is_looked_at_also_when_nothing_can_be_listed(world: World) -> None:
    world.inventory.listing = PolicyDenied("Not for apps.")
    await world.started(run_in(BARN))
    overview = await ActivityEnvironment().run(world.activities.list_repositories, Nothing())
    assert overview.repositories == (BARN,)
    assert "Not for apps." in overview.problem


class TestJudging:
    async def test_an_open_sweep_is_left_without_a_look_at_github(self, world: World) -> None:
        sweep = await world.started(run_in(SHOP))
        assert await world.judged(Remains(sweep=sweep, repository=SHOP, branch_sha="a" * 40)) == care.Judged()
        assert world.github.calls == []

    async def test_an_unknown_one_whose_run_fails_still_is_started_again(self, world: World) -> None:
        run = world.github.add_run()
        pull = PullTrace(number=1, branch="sweeper/x", head_sha="a" * 40)
        sweep = ids.sweep_id(run, world.github.api_url)
        (judgement,) = (await world.judged(Remains(sweep=sweep, repository=SHOP, pulls=(pull,)))).judgements
        assert (judgement.fate, judgement.run) == (Fate.START, run)

    @pytest.mark.parametrize("gone", [True, False], ids=["run is gone", "branch has moved"])
    async def test_an_unknown_one_whose_failure_is_gone_is_undone(self, world: World, gone: bool) -> None:
        run = RunRef(repository="octo/app", repository_id=4711, run_id=9) if gone else world.github.add_run()
        if not gone:
            world.github.commit("main")
        pull = PullTrace(number=1, branch="sweeper/x", head_sha="a" * 40)
        sweep = ids.sweep_id(run, world.github.api_url)
        (judgement,) = (await world.judged(Remains(sweep=sweep, repository=SHOP, pulls=(pull,)))).judgements
        assert (judgement.fate, judgement.pulls) == (Fate.UNDO, (pull,))

    async def test_what_another_github_left_on_this_disk_is_only_discarded(self, world: World) -> None:
        sweep = "sweep-git.example-9-1"
        trace = HostTrace(host="here", repository_id=4711, sweep=sweep, commits=("a" * 40,))
        (judgement,) = (
            await world.judged(Remains(sweep=sweep, repository=SHOP, branch_sha="a" * 40, hosts=(trace,)))
        ).judgements
        assert (judgement.fate, judgement.delete, judgement.hosts) == (Fate.UNDO, None, ("here",))

    async def test_one_that_cannot_be_judged_keeps_no_other_from_it(self, world: World) -> None:
        world.github.fail_next("read_run", Transient("GitHub had a hiccup; try again."))
        run = world.github.add_run()
        pull = PullTrace(number=1, branch="sweeper/x", head_sha="a" * 40)
        first, second = (ids.sweep_id(run, world.github.api_url, request) for request in (None, "r2"))
        judged = await world.judged(
            *(Remains(sweep=sweep, repository=SHOP, pulls=(pull,)) for sweep in (first, second))
        )
        assert ([found.sweep for found in judged.judgements], len(judged.problems)) == ([second], 1)

    async def test_a_sweep_that_ended_well_leaves_nothing_to_judge(self, world: World) -> None:
        sweep = await world.started(run_in(SHOP), Outcome.MERGED)
        assert await world.judged(Remains(sweep=sweep, repository=SHOP)) == care.Judged()
