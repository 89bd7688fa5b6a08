"""What a sweep shows of itself, and what it keeps through continue-as-new. Each story ends with nothing left over."""

import asyncio
from datetime import datetime, timedelta

import pytest

from sweeper.model import MergeMode, Outcome, ReviewState, Step
from tests.support.scene import FIXES, FIXES_MORE, SETTINGS, Scene, effects

pytestmark = pytest.mark.slow
DAY = timedelta(days=1)


async def test_continue_as_new_keeps_everything(scene: Scene) -> None:
    timeouts = SETTINGS.timeouts.model_copy(update={"history_events": 40})
    scene.agent_does(FIXES, FIXES_MORE)
    await scene.start_and_wait(timeouts=timeouts, merge_mode=MergeMode.HAND_OVER)
    scene.review(ReviewState.CHANGES_REQUESTED)
    await scene.ring()
    before = await scene.until(
        lambda told: told.current_step is Step.AWAIT_REVIEW and told.budget.attempts_remaining == 1
    )
    await scene.sleep(DAY)
    scene.review(ReviewState.APPROVED)
    await scene.looks_again()
    told = await scene.waits_for("a human's merge")
    described = await scene.info()
    assert described.execution.run_id != scene.handle.first_execution_run_id
    assert (told.proposal, told.branch, told.artifacts) == (before.proposal, before.branch, before.artifacts)
    scene.github.merge_by(scene.pull.number, "ann")
    result = await scene.ends(Outcome.MERGED)
    assert [name for name, _ in effects(result)] == [
        "branch.push",
        "pull.create",
        "branch.push",
        "pull.update",
        "comment.create",
        "branch.delete",
    ]
    assert len(scene.agent.tasks) == 2
    assert len(result.state.handled_reviews) == 1
    assert sum(result.state.seconds.values()) >= DAY.total_seconds()


async def test_a_wait_keeps_its_beginning_over_continue_as_new(scene: Scene) -> None:
    timeouts = SETTINGS.timeouts.model_copy(update={"history_events": 40})
    await scene.start(timeouts=timeouts)
    first = await scene.waits_for("review")
    await scene.sleep(DAY)
    later = await scene.waits_for("review")
    assert (await scene.info()).execution.run_id != scene.handle.first_execution_run_id
    assert first.waiting_for is not None
    assert later.waiting_for == first.waiting_for
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


async def test_memo_and_search_attributes_show_step_and_wait(scene: Scene) -> None:
    await scene.start_and_wait()
    told = await scene.waits_for("review")
    assert (told.run, told.current_step, told.outcome) == (scene.run, Step.AWAIT_REVIEW, None)
    assert (told.proposal, told.budget.attempts_remaining) == (scene.pull.number, 2)
    assert told.waiting_for is not None
    assert told.waiting_for.until - told.waiting_for.since == pytest.approx(7 * DAY, abs=timedelta(seconds=5))
    shown = await scene.search_attributes()
    assert (shown["Repository"], shown["Target"], shown["Step"]) == ("octo/app", "4711:main", "await_review")
    assert datetime.fromisoformat(str(shown["WaitingUntil"])) == told.waiting_for.until
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)
    final = await scene.until(lambda told: told.outcome is not None)
    assert (final.current_step, final.outcome, final.waiting_for) == (Step.DONE, Outcome.CANCELLED, None)
    shown = await scene.search_attributes()
    assert shown["Step"] == "done"
    assert "WaitingUntil" not in shown


async def test_a_pending_write_is_shown_before_it_is_confirmed(scene: Scene) -> None:
    may_push = asyncio.Event()

    async def hold() -> None:
        await may_push.wait()

    scene.workspaces.before["push"] = hold
    await scene.start()
    told = await scene.until(lambda told: told.current_step is Step.PROPOSE and told.pending_action is not None)
    pending = told.pending_action
    assert pending is not None
    assert (pending.tool, pending.idempotency_key) == ("push_branch", f"{scene.workflow_id}/propose/1")
    may_push.set()
    assert (await scene.waits_for("review")).pending_action is None
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)
