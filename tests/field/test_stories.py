"""Whole sweeps in the situations that other bots were reported to handle badly.

A fix for the fix for the fix (C08), fixes for commits nobody builds on any more (C10), proof of a commit that is no
longer the head (C11), branches that vanish (C16), a burst of 503 that stopped everything (C48), an agent that did
nothing and said it was done (C49), proposals that other bots close (C50).
"""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from sweeper.errors import Transient
from sweeper.model import ChecksState, FixOutcome, Outcome, ReviewState, Step, Workspace
from tests.support.agents import Turn
from tests.support.code_host_state import FakeJob
from tests.support.scene import CHANGES_NOTHING, FIXES, FIXES_MORE, GREEN, SETTINGS, Scene, sweep_scene

pytestmark = pytest.mark.slow
JOB = FakeJob("test", steps=(("Run pytest", "failure"),))


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    async with sweep_scene() as made:
        yield made


class TestC08:
    async def test_red_checks_of_our_own_proposal_get_one_more_attempt_on_the_same_branch(self, scene: Scene) -> None:
        scene.agent_does(FIXES, FIXES_MORE)
        await scene.start_and_wait()
        first = scene.pull.head_sha
        scene.github.set_checks(first, ChecksState.RED)
        await scene.ring()
        await scene.until(lambda told: told.current_step is Step.AWAIT_REVIEW and told.budget.attempts_remaining == 1)
        assert "own CI failed" in scene.agent.tasks[1].review_comments[0].body
        assert (list(scene.github.pulls), scene.pull.head_sha != first) == ([scene.pull.number], True)
        scene.review(ReviewState.APPROVED)
        await scene.ring()
        await scene.ends(Outcome.MERGED)

    async def test_red_checks_that_no_attempt_mends_are_waited_out_and_make_no_second_proposal(
        self, scene: Scene
    ) -> None:
        await scene.start_and_wait()
        scene.github.set_checks(scene.pull.head_sha, ChecksState.RED)
        scene.review(ReviewState.APPROVED)
        await scene.ring()
        await scene.waits_for("checks to become green")
        for _ in range(3):
            await scene.looks_again()
        assert list(scene.github.pulls) == [scene.pull.number]
        assert len(scene.agent.tasks) == 2
        scene.github.set_checks(scene.pull.head_sha, ChecksState.GREEN)
        await scene.ring()
        await scene.ends(Outcome.MERGED)


class TestC10:
    async def test_a_red_run_of_an_old_commit_is_not_worked_on_where_the_head_is_green(self, scene: Scene) -> None:
        newer = scene.push("main", {"app.py": GREEN})
        scene.github.add_run("main", sha=newer, conclusion="success", jobs=[JOB])
        await scene.start()
        result = await scene.ends(Outcome.SUPERSEDED)
        assert "where the workflow passes" in result.reason
        assert (scene.agent.tasks, scene.github.pulls, scene.workspaces.calls) == ([], {}, [])


class TestC11:
    async def test_a_push_while_the_fix_is_proved_has_it_proved_anew_before_it_is_merged(self, scene: Scene) -> None:
        def fix_while_somebody_pushes(workspace: Workspace) -> None:
            scene.push("main", {"other.py": "x = 1\n"})
            FIXES(scene.workspaces)(workspace)

        scene.agent.turns = [Turn(edit=fix_while_somebody_pushes)]
        await scene.start_and_wait()
        scene.review(ReviewState.APPROVED)
        await scene.ring()
        result = await scene.ends(Outcome.MERGED)
        failing = result.state.facts
        assert failing is not None
        assert result.state.verified_target not in (None, failing.head_sha)


class TestC16:
    async def test_a_branch_that_is_gone_before_work_begins_ends_it_quietly(self, scene: Scene) -> None:
        del scene.github.branches["main"]
        await scene.start()
        assert (await scene.ends(Outcome.CLOSED)).reason.startswith("branch_gone")
        assert scene.workspaces.calls == []

    async def test_a_branch_that_vanishes_while_the_agent_works_leaves_nothing_behind(self, scene: Scene) -> None:
        def fix_while_it_vanishes(workspace: Workspace) -> None:
            del scene.github.branches["main"]
            FIXES(scene.workspaces)(workspace)

        scene.agent.turns = [Turn(edit=fix_while_it_vanishes)]
        await scene.start()
        assert "gone" in (await scene.ends(Outcome.CLOSED)).reason
        assert scene.github.pulls == {}


class TestC48:
    @pytest.mark.parametrize("call", ["read_world", "read_run"])
    async def test_fifty_times_503_are_sat_out(self, scene: Scene, call: str) -> None:
        fault = Transient("GitHub answered 503; it is tried again.")
        if call == "read_run":
            scene.github.fail_next(call, fault, times=50)
            await scene.start(timeouts=SETTINGS.timeouts.model_copy(update={"tries": 60}))
            await scene.sleep(timedelta(hours=12))
            await scene.waits_for("review")
        else:
            await scene.start_and_wait()
            scene.github.fail_next(call, fault, times=50)
        scene.review(ReviewState.APPROVED)
        await scene.ring()
        await scene.sleep(timedelta(days=1))
        await scene.ends(Outcome.MERGED)
        assert scene.github.calls.count(call) > 50


class TestC49:
    @pytest.mark.parametrize("says", [FixOutcome.EDITED, FixOutcome.NO_CHANGE])
    async def test_an_agent_that_changed_nothing_has_failed_whatever_it_says(
        self, scene: Scene, says: FixOutcome
    ) -> None:
        scene.agent.turns = [Turn(edit=CHANGES_NOTHING(scene.workspaces), outcome=says, summary="all done")]
        await scene.start(max_attempts=3)
        result = await scene.ends(Outcome.ESCALATED)
        # Counted, and given up once it does the same again: the third try would be the second one's.
        assert len(result.state.attempts) == len(scene.agent.tasks) == 2
        assert all(attempt.patch is None for attempt in result.state.attempts)
        assert scene.github.pulls == {}


class TestC50:
    async def test_a_proposal_another_bot_closes_ends_with_its_name_and_a_reopening_is_no_news(
        self, scene: Scene
    ) -> None:
        await scene.start_and_wait()
        scene.github.close_by(scene.pull.number, "stale[bot]")
        await scene.ring()
        result = await scene.ends(Outcome.CLOSED)
        assert result.reason == "closed by stale[bot]"
        scene.pull.state = "open"
        assert not await scene.sweeps.ring(scene.workflow_id)
