"""What is left of sweeps that are gone: adopted, undone or left alone. Real git, HTTP and Temporal."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from temporalio.client import WorkflowExecutionStatus

from adapters.loopback.drive.requests import FaultRule, NewPush, PullAct
from sweeper.cli.upkeep import ring
from sweeper.model import CheckReport, Outcome
from sweeper.workflows.upkeep import WORKFLOW_ID
from tests.support.household import AT_ONCE, Case, Household, household, until
from tests.support.red_run import MAINTAINER

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

ONCE_EACH = {"branch.push": 1, "pull.create": 1}
UNDONE = {**ONCE_EACH, "comment.create": 1, "pull.close": 1, "branch.delete": 1}


async def parked(home: Household, name: str) -> Case:
    """A red run whose proposal waits for a human."""
    case = await home.red_run(name)
    await home.passes()
    await case.parked()
    return case


async def nothing_is_left(case: Case) -> bool:
    """No branch, no open pull request, no check run that goes on, nothing on this host."""
    seen, home = await case.seen(), case.home
    still_open = [pull.number for pull in seen.pulls if pull.state == "open"]
    still_open += [check.id for check in seen.checks if check.external_id and check.status != "completed"]
    on_disk = [name for name in home.on_disk() if name.startswith(case.sweep)]
    return (list(seen.branches), still_open, on_disk, case.sweep in await home.records()) == (["main"], [], [], False)


async def takes_over(case: Case, files: dict[str, str | None]) -> str:
    """The maintainer pushes to the sweep's own branch."""
    push = NewPush(repo=case.run.repository, branch=case.branch, files=files, user=MAINTAINER)
    return await case.home.drive.push(push)


@pytest.mark.asyncio(loop_scope="class")
@pytest.mark.xdist_group("orphans")
class TestWhileTheServiceRuns:
    @pytest_asyncio.fixture(scope="class", loop_scope="class")
    async def home(self, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Household]:
        async with household(tmp_path_factory.mktemp("orphans")) as made, made.service():
            yield made

    async def test_a_terminated_sweep_is_undone_once_and_a_live_one_is_left(self, home: Household) -> None:
        live = await parked(home, "live")
        gone = await parked(home, "gone")
        await gone.terminated()
        told = await home.passes()
        assert told.problems == ()
        assert await nothing_is_left(gone)
        (pull,) = (await gone.seen()).pulls
        assert "its sweep was ended by other hands" in pull.comments[-1].body
        await home.passes()
        assert await gone.effects() == UNDONE
        assert await live.effects() == ONCE_EACH
        assert live.branch in (await live.seen()).branches
        assert live.sweep in await home.records()

    async def test_an_undo_whose_answers_are_lost_happens_once(self, home: Household) -> None:
        case = await parked(home, "unanswered")
        await case.terminated()
        place = f"/{case.run.repository}"
        await home.drive.faults(
            FaultRule(method="POST", path=f"{place}/issues/1/comments$", when="after", kind="reset"),
            FaultRule(method="PATCH", path=f"{place}/pulls/1$", when="after", kind="reset"),
            FaultRule(method="POST", path=f"{place}.git/git-receive-pack", when="after", kind="reset"),
        )
        await home.passes()
        faults = [call.fault for call in (await home.drive.ledger()).calls if call.fault and place in call.path]
        assert len(faults) == 3
        await home.drive.faults()
        await home.passes()
        assert await nothing_is_left(case)
        assert await case.effects() == UNDONE

    async def test_what_looks_orphaned_only_for_a_moment_is_left_alone(self, home: Household) -> None:
        case = await parked(home, "young")
        await case.terminated()
        patient = AT_ONCE.model_copy(update={"grace": timedelta(hours=1)})
        await home.passes(patient)
        await home.passes(patient)
        assert await case.effects() == ONCE_EACH
        await home.passes()
        assert await nothing_is_left(case)

    async def test_after_the_grace_time_upkeep_comes_back_by_itself(self, home: Household) -> None:
        case = await parked(home, "later")
        await case.terminated()
        await home.passes(AT_ONCE.model_copy(update={"grace": timedelta(seconds=2)}))
        assert await case.effects() == ONCE_EACH
        await until(lambda: nothing_is_left(case), "nothing is left")

    async def test_a_branch_that_somebody_pushed_to_is_left_alone_and_named(self, home: Household) -> None:
        case = await parked(home, "taken-over")
        await case.terminated()
        head = await takes_over(case, {"file.txt": "better\n"})
        await home.passes()
        told = await home.passes()
        seen = await case.seen()
        assert seen.branches[case.branch] == head
        assert "somebody else's commit" in told.left[case.sweep]
        assert [(pull.state, len(pull.comments)) for pull in seen.pulls] == [("open", 1)]
        assert len([sentence for sentence in told.done if case.sweep in sentence]) == 1
        assert "it is yours now" in seen.pulls[0].comments[0].body
        assert case.sweep not in await home.records()

    async def test_a_branch_that_somebody_made_anew_is_left_alone_and_named(self, home: Household) -> None:
        case = await parked(home, "recreated")
        await case.terminated()
        await home.passes()
        assert await nothing_is_left(case)
        again = NewPush.model_validate(
            {
                "repo": case.run.repository,
                "branch": case.branch,
                "from": "main",
                "files": {"a": "b"},
                "user": MAINTAINER,
            }
        )
        head = await home.drive.push(again)
        told = await home.passes()
        assert (await case.seen()).branches[case.branch] == head
        assert "left alone" in told.left[case.sweep]

    async def test_a_branch_with_a_name_of_ours_and_nothing_else_is_left_alone(self, home: Household) -> None:
        case = await home.red_run("stranger")
        branch = "sweeper/127.0.0.1-4711-1"
        push = {"repo": case.run.repository, "branch": branch, "from": "main", "files": {"a": "b"}, "user": MAINTAINER}
        await home.drive.push(NewPush.model_validate(push))
        told = await home.passes()
        assert branch in (await case.seen()).branches
        assert "nothing vouches for it" in told.left["sweep-127.0.0.1-4711-1"]
        await case.parked()


@pytest.mark.xdist_group("orphans-lost")
class TestWhenTheDatabaseIsLost:
    @pytest.fixture
    async def home(self, tmp_path: Path) -> AsyncIterator[Household]:
        async with household(tmp_path) as made:
            yield made

    async def test_a_check_run_of_a_terminated_sweep_stops_saying_that_it_goes_on(self, home: Household) -> None:
        async with home.temporal(), home.worker() as ports:
            case = await parked(home, "checked")
            facts = (await case.record()).state.facts
            assert facts is not None
            report = CheckReport(sha=facts.head_sha, external_id=case.sweep, title="At work", summary="Wait for it.")
            await ports.code_host.report_check(case.run, report, f"{case.sweep}/test/1")
            await case.terminated()
            await home.passes()
            checks = [check for check in (await case.seen()).checks if check.external_id == case.sweep]
            assert {(check.status, check.conclusion) for check in checks} == {("completed", "neutral")}

    async def test_after_the_database_was_deleted_a_sweep_starts_again_and_adopts_its_proposal(
        self, home: Household
    ) -> None:
        async with home.service():
            case = await parked(home, "forgotten")
        home.lose_database()
        async with home.service():
            told = await home.passes()
            record = await case.parked()
            assert [f"{case.sweep}: started again, because its sweep is not on record any more"] == list(told.done) or (
                told.done == ()
            ), "either upkeep's look at orphans or its look at failed runs was quicker"
            assert record.view.checkpoint.proposal == 1
            assert await case.effects() == ONCE_EACH
            await home.drive.merge_pull(PullAct(repo=case.run.repository, pr=1, user=MAINTAINER))
            ended = await case.until(lambda record: not record.view.is_open)
            assert ended.view.checkpoint.outcome is Outcome.MERGED
            assert await nothing_is_left(case)

    async def test_after_the_database_was_deleted_what_fails_no_more_is_undone(self, home: Household) -> None:
        async with home.service():
            case = await parked(home, "overtaken")
        home.lose_database()
        mended = NewPush(repo=case.run.repository, branch="main", files={"file.txt": "good\n"}, user=MAINTAINER)
        await home.drive.push(mended)
        async with home.service():
            await home.passes(AT_ONCE.model_copy(update={"lookback": timedelta(0)}))
            assert await nothing_is_left(case)
            assert await case.effects() == UNDONE
            assert "not on record any more" in (await case.seen()).pulls[0].comments[-1].body

    async def test_after_an_earlier_copy_of_the_database_was_restored_all_come_back(self, home: Household) -> None:
        async with home.service():
            before = await parked(home, "before")
        copy = home.keep_copy()
        async with home.service():
            after = await parked(home, "after")
            await home.drive.close_pull(PullAct(repo=before.run.repository, pr=1, user=MAINTAINER))
            await before.until(lambda record: not record.view.is_open)
        home.restore(copy)
        async with home.service():
            await home.passes()
            await after.parked()
            assert await after.effects() == ONCE_EACH
            ended = await before.until(lambda record: not record.view.is_open)
            assert ended.view.checkpoint.outcome is Outcome.CLOSED
            await home.passes()
            assert await nothing_is_left(before)
            assert after.branch in (await after.seen()).branches


@pytest.mark.xdist_group("orphans-lost")
async def test_upkeep_that_is_switched_off_does_not_run_on(tmp_path: Path) -> None:
    async with household(tmp_path) as home, home.temporal():
        await ring(home.settings, "here", home.client)
        upkeep = home.client.get_workflow_handle(WORKFLOW_ID)
        assert (await upkeep.describe()).status is WorkflowExecutionStatus.RUNNING
        for _ in range(2):
            with home.with_settings(reconcile_interval=timedelta(0)):
                await ring(home.settings, "here", home.client)
            assert (await upkeep.describe()).status is WorkflowExecutionStatus.TERMINATED
        await ring(home.settings, "here", home.client)
        assert (await upkeep.describe()).status is WorkflowExecutionStatus.RUNNING
