"""Each event starts a sweep, rings one, or is ignored for a reason that is told."""

import asyncio

import pytest

from sweeper.errors import NotFound, OutOfReach, Transient
from sweeper.events import (
    BranchPushed,
    Event,
    Ignored,
    Ping,
    ProposalChanged,
    ReviewSubmitted,
    RunEnded,
    RunFailed,
    SweepRequested,
)
from sweeper.intake import Answer, Desk, Result, handle, request
from sweeper.model import Outcome, RunRef, SweepSettings, Trigger, TriggerSource
from tests.support.code_host import FakeCodeHost
from tests.support.sweeps import FakeSweeps

REPOSITORY, REPOSITORY_ID, FORK_ID = "octo/app", 4711, 9999
API_URL = "https://api.github.com"


@pytest.fixture
def sweeps() -> FakeSweeps:
    return FakeSweeps()


@pytest.fixture
def github() -> FakeCodeHost:
    return FakeCodeHost(REPOSITORY, REPOSITORY_ID)


@pytest.fixture
def desk(sweeps: FakeSweeps, github: FakeCodeHost) -> Desk:
    return Desk(sweeps=sweeps, code_host=github, settings=SweepSettings(max_attempts=2), api_url=API_URL)


def failed(branch: str | None = "main", head: int | None = REPOSITORY_ID, run_id: int = 77, attempt: int = 1) -> Event:
    return RunFailed(
        repository=REPOSITORY,
        repository_id=REPOSITORY_ID,
        head_branch=branch,
        head_repository_id=head,
        run_id=run_id,
        run_attempt=attempt,
        conclusion="failure",
        head_sha="a" * 40,
        actor="ann",
    )


def ended(branch: str, conclusion: str | None = "success", head: int | None = REPOSITORY_ID) -> Event:
    return RunEnded(
        repository=REPOSITORY,
        repository_id=REPOSITORY_ID,
        head_branch=branch,
        head_repository_id=head,
        conclusion=conclusion,
    )


def pushed(branch: str) -> Event:
    return BranchPushed(
        repository=REPOSITORY, repository_id=REPOSITORY_ID, head_branch=branch, head_repository_id=REPOSITORY_ID
    )


def about_proposal(
    kind: type[ReviewSubmitted | ProposalChanged], branch: str, head: int | None = REPOSITORY_ID
) -> Event:
    return kind(
        repository=REPOSITORY, repository_id=REPOSITORY_ID, number=7, head_branch=branch, head_repository_id=head
    )


def asked(run: RunRef, request_id: str = "r1") -> Event:
    return SweepRequested(
        repository=REPOSITORY, repository_id=REPOSITORY_ID, run_id=run.run_id, request_id=request_id, actor="ann"
    )


def told(answer: Answer) -> tuple[str, str | None]:
    return answer.result.value, answer.workflow_id


async def test_a_failing_run_starts_one_sweep_however_often_it_is_told(desk: Desk, sweeps: FakeSweeps) -> None:
    assert told(await handle(failed(), desk)) == ("started", "sweep-77-1")
    assert told(await handle(failed(), desk)) == ("duplicate", "sweep-77-1")
    sweeps.finish("sweep-77-1")
    assert told(await handle(failed(), desk)) == ("duplicate", "sweep-77-1")
    assert list(sweeps.sweeps) == ["sweep-77-1"]


async def test_of_two_receivers_at_once_one_starts(desk: Desk) -> None:
    answers = await asyncio.gather(*(handle(failed(), desk) for _ in range(5)))
    assert sorted(answer.result for answer in answers) == ["duplicate"] * 4 + ["started"]


async def test_a_sweep_is_started_with_its_run_trigger_and_settings(desk: Desk, sweeps: FakeSweeps) -> None:
    await handle(failed(attempt=2), desk)
    sweep = sweeps.sweeps["sweep-77-2"].input
    assert sweep.run == RunRef(repository=REPOSITORY, repository_id=REPOSITORY_ID, run_id=77, run_attempt=2)
    assert sweep.trigger == Trigger(source=TriggerSource.WORKFLOW_RUN, actor="ann", reason="failure")
    assert sweep.settings.max_attempts == 2


async def test_each_run_attempt_is_a_sweep_of_its_own(desk: Desk) -> None:
    await handle(failed(attempt=1), desk)
    assert told(await handle(failed(attempt=2), desk)) == ("started", "sweep-77-2")


async def test_webhooks_of_runs_ask_github_nothing(desk: Desk, github: FakeCodeHost) -> None:
    await handle(failed(), desk)
    await handle(ended("main"), desk)
    await handle(pushed("main"), desk)
    await handle(about_proposal(ReviewSubmitted, "sweeper/77-1"), desk)
    assert github.calls == []


@pytest.mark.parametrize("branch", [None, "gh-readonly-queue/main/pr-7-abc", "sweeper/77-1", "sweeper/gone"])
async def test_what_may_not_be_fixed_starts_nothing(desk: Desk, sweeps: FakeSweeps, branch: str | None) -> None:
    answer = await handle(failed(branch), desk)
    assert told(answer) == ("ignored", None)
    assert answer.reason
    assert not sweeps.sweeps


@pytest.mark.parametrize(
    "event",
    [
        failed("sweeper/77-1", run_id=80),
        ended("sweeper/77-1"),
        ended("sweeper/77-1", "cancelled"),
        about_proposal(ReviewSubmitted, "sweeper/77-1"),
        about_proposal(ProposalChanged, "sweeper/77-1"),
    ],
)
async def test_events_of_a_proposal_ring_its_sweep(desk: Desk, sweeps: FakeSweeps, event: Event) -> None:
    await handle(failed(), desk)
    assert told(await handle(event, desk)) == ("delivered", "sweep-77-1")
    assert sweeps.rings("sweep-77-1") == 1
    sweeps.finish("sweep-77-1")
    answer = await handle(event, desk)
    assert told(answer) == ("ignored", None)
    assert answer.reason.startswith("no_open_sweep")


@pytest.mark.parametrize("head", [FORK_ID, None])
@pytest.mark.parametrize("kind", ["failed", "ended", "review", "pull"])
async def test_a_forks_branch_with_our_name_rings_nobody(
    desk: Desk, sweeps: FakeSweeps, kind: str, head: int | None
) -> None:
    await handle(failed(), desk)
    event = {
        "failed": failed("sweeper/77-1", head, run_id=80),
        "ended": ended("sweeper/77-1", head=head),
        "review": about_proposal(ReviewSubmitted, "sweeper/77-1", head),
        "pull": about_proposal(ProposalChanged, "sweeper/77-1", head),
    }[kind]
    answer = await handle(event, desk)
    assert told(answer) == ("ignored", None)
    assert answer.reason.startswith("fork")
    assert list(sweeps.sweeps) == ["sweep-77-1"]
    assert sweeps.rings("sweep-77-1") == 0


@pytest.mark.parametrize("kind", [ReviewSubmitted, ProposalChanged])
async def test_reviews_of_other_pull_requests_ring_nobody(
    desk: Desk, sweeps: FakeSweeps, kind: type[ReviewSubmitted | ProposalChanged]
) -> None:
    await handle(failed(), desk)
    sweeps.for_target("sweep-77-1", REPOSITORY_ID, "main")
    assert told(await handle(about_proposal(kind, "main"), desk)) == ("ignored", None)
    assert sweeps.rings("sweep-77-1") == 0


@pytest.mark.parametrize("event", [pushed("main"), ended("main")])
async def test_a_push_or_a_green_run_rings_the_open_sweeps_of_that_branch(
    desk: Desk, sweeps: FakeSweeps, event: Event
) -> None:
    for run_id, branch in ((1, "main"), (2, "main"), (3, "other"), (4, "main")):
        await handle(failed(run_id=run_id), desk)
        sweeps.for_target(f"sweep-{run_id}-1", REPOSITORY_ID, branch)
    sweeps.finish("sweep-4-1")
    answer = await handle(event, desk)
    assert told(answer) == ("delivered", "sweep-1-1")
    assert [sweeps.rings(f"sweep-{run_id}-1") for run_id in (1, 2, 3, 4)] == [1, 1, 0, 0]


@pytest.mark.parametrize(
    "event",
    [
        pushed("quiet"),
        ended("quiet"),
        ended("main", "cancelled"),
        ended("main", None),
        ended("main", "a_value_of_the_future"),
        ended("main", head=FORK_ID),
        pushed("sweeper/77-1"),
        Ping(),
        Ignored(reason="unused_event: x"),
    ],
)
async def test_nothing_else_rings(desk: Desk, sweeps: FakeSweeps, event: Event) -> None:
    await handle(failed(), desk)
    sweeps.for_target("sweep-77-1", REPOSITORY_ID, "main")
    answer = await handle(event, desk)
    assert told(answer) == ("ignored", None)
    assert answer.reason
    assert sweeps.rings("sweep-77-1") == 0


async def test_a_request_starts_the_first_sweep_of_a_run(desk: Desk, sweeps: FakeSweeps, github: FakeCodeHost) -> None:
    run = github.add_run()
    workflow_id = f"sweep-{run.run_id}-1"
    assert told(await handle(asked(run), desk)) == ("started", workflow_id)
    trigger = sweeps.sweeps[workflow_id].input.trigger
    assert (trigger.source, trigger.request_id, trigger.actor) == (TriggerSource.DISPATCH, "r1", "ann")


async def test_a_request_joins_the_sweep_that_runs(desk: Desk, sweeps: FakeSweeps, github: FakeCodeHost) -> None:
    run = github.add_run()
    await handle(failed(run_id=run.run_id), desk)
    assert told(await handle(asked(run), desk)) == ("joined", f"sweep-{run.run_id}-1")
    assert sweeps.rings(f"sweep-{run.run_id}-1") == 1
    assert len(sweeps.sweeps) == 1


async def test_a_request_that_joined_is_still_known_after_the_sweeps_end(
    desk: Desk, sweeps: FakeSweeps, github: FakeCodeHost
) -> None:
    run = github.add_run()
    await handle(failed(run_id=run.run_id), desk)
    for _ in range(3):
        assert (await handle(asked(run, "r2"), desk)).result is Result.JOINED
    sweep = sweeps.sweeps[f"sweep-{run.run_id}-1"]
    assert [trigger.request_id for trigger in sweep.state.triggers] == [None, "r2"]
    sweeps.finish(sweep.id)
    assert told(await handle(asked(run, "r2"), desk)) == ("duplicate", sweep.id)
    assert len(sweeps.sweeps) == 1


async def test_a_request_that_joined_another_requests_sweep_is_still_known(
    desk: Desk, sweeps: FakeSweeps, github: FakeCodeHost
) -> None:
    run = github.add_run()
    await handle(failed(run_id=run.run_id), desk)
    sweeps.finish(f"sweep-{run.run_id}-1")
    anew = (await handle(asked(run, "r1"), desk)).workflow_id
    assert anew is not None
    assert told(await handle(asked(run, "r2"), desk)) == ("joined", anew)
    sweeps.finish(anew)
    assert told(await handle(asked(run, "r2"), desk)) == ("duplicate", anew)
    assert len(sweeps.sweeps) == 2


async def test_a_request_after_the_end_starts_anew_and_only_once(
    desk: Desk, sweeps: FakeSweeps, github: FakeCodeHost
) -> None:
    run = github.add_run()
    await handle(failed(run_id=run.run_id), desk)
    sweeps.finish(f"sweep-{run.run_id}-1", Outcome.EXPIRED)
    again = f"sweep-{run.run_id}-1-mr1"
    assert told(await handle(asked(run), desk)) == ("started", again)
    assert told(await handle(asked(run), desk)) == ("duplicate", again)
    sweeps.finish(again)
    assert told(await handle(asked(run), desk)) == ("duplicate", again)
    assert told(await handle(asked(run, "r2"), desk)) == ("started", f"sweep-{run.run_id}-1-mr2")


async def test_the_request_that_started_a_sweep_is_still_known_after_its_end(
    desk: Desk, sweeps: FakeSweeps, github: FakeCodeHost
) -> None:
    run = github.add_run()
    await handle(asked(run), desk)
    sweeps.finish(f"sweep-{run.run_id}-1")
    assert told(await handle(asked(run), desk)) == ("duplicate", f"sweep-{run.run_id}-1")
    assert len(sweeps.sweeps) == 1


async def test_a_second_request_joins_the_first_ones_sweep(
    desk: Desk, sweeps: FakeSweeps, github: FakeCodeHost
) -> None:
    run = github.add_run()
    await handle(failed(run_id=run.run_id), desk)
    sweeps.finish(f"sweep-{run.run_id}-1")
    await handle(asked(run, "r1"), desk)
    assert told(await handle(asked(run, "r2"), desk)) == ("joined", f"sweep-{run.run_id}-1-mr1")
    assert len(sweeps.sweeps) == 2


async def test_of_equal_requests_at_once_one_starts(desk: Desk, sweeps: FakeSweeps, github: FakeCodeHost) -> None:
    run = github.add_run()
    await handle(failed(run_id=run.run_id), desk)
    sweeps.finish(f"sweep-{run.run_id}-1")
    answers = await asyncio.gather(*(handle(asked(run), desk) for _ in range(3)))
    assert [answer.result for answer in answers].count(Result.STARTED) == 1
    assert len(sweeps.sweeps) == 2


async def test_a_request_is_for_the_newest_attempt(desk: Desk, github: FakeCodeHost) -> None:
    run = github.add_run()
    github.rerun(run, "failure")
    assert told(await handle(asked(run), desk)) == ("started", f"sweep-{run.run_id}-2")


@pytest.mark.parametrize(
    ("conclusion", "reason"), [("success", "not_failing"), ("cancelled", "not_failing"), (None, "still_running")]
)
async def test_a_request_for_a_run_that_has_not_failed_is_ignored(
    desk: Desk, sweeps: FakeSweeps, github: FakeCodeHost, conclusion: str | None, reason: str
) -> None:
    run = github.add_run(conclusion=conclusion)
    answer = await handle(asked(run), desk)
    assert told(answer) == ("ignored", None)
    assert answer.reason.startswith(reason)
    assert not sweeps.sweeps


async def test_a_request_for_our_own_branch_starts_nothing(
    desk: Desk, sweeps: FakeSweeps, github: FakeCodeHost
) -> None:
    github.commit("sweeper/77-1")
    answer = await handle(asked(github.add_run("sweeper/77-1")), desk)
    assert answer.result is Result.IGNORED
    assert answer.reason.startswith("own_branch")
    assert not sweeps.sweeps


async def test_a_dispatch_for_an_unknown_run_is_ignored_and_a_command_is_told(desk: Desk) -> None:
    unknown = RunRef(repository=REPOSITORY, repository_id=REPOSITORY_ID, run_id=1)
    answer = await handle(asked(unknown), desk)
    assert answer.result is Result.IGNORED
    assert "no run 1" in answer.reason
    with pytest.raises(NotFound):
        await request(REPOSITORY, 1, Trigger(source=TriggerSource.CLI), desk)


async def test_a_request_without_id_starts_once_and_never_anew(
    desk: Desk, sweeps: FakeSweeps, github: FakeCodeHost
) -> None:
    run = github.add_run()
    trigger = Trigger(source=TriggerSource.CLI)
    assert (await request(REPOSITORY, run.run_id, trigger, desk)).result is Result.STARTED
    sweeps.finish(f"sweep-{run.run_id}-1")
    answer = await request(REPOSITORY, run.run_id, trigger, desk)
    assert told(answer) == ("duplicate", f"sweep-{run.run_id}-1")
    assert "request id" in answer.reason


async def test_faults_reach_the_caller_and_lose_nothing(desk: Desk, sweeps: FakeSweeps, github: FakeCodeHost) -> None:
    run = github.add_run()
    github.fail_next("find_run", Transient("GitHub answered 502; try again."))
    with pytest.raises(Transient):
        await handle(asked(run), desk)
    sweeps.away = True
    with pytest.raises(OutOfReach):
        await handle(failed(), desk)
    sweeps.away = False
    assert (await handle(failed(), desk)).result is Result.STARTED
    assert (await handle(asked(run), desk)).result is Result.STARTED
