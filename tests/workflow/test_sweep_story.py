"""The main path: proposed, answered by people, merged. Each story ends with nothing left over."""

from datetime import timedelta

import pytest

from sweeper.model import EffectState, MergeMode, Outcome, ReviewComment, ReviewState, Step, VerdictKind
from tests.support.scene import FIXES, FIXES_MORE, MISSES, Scene, effects

pytestmark = pytest.mark.slow
DAY = timedelta(days=1)


async def test_a_verified_fix_is_proposed_approved_and_merged(scene: Scene) -> None:
    await scene.start_and_wait()
    assert (scene.pull.branch, scene.pull.base) == (scene.branch, "main")
    assert "red before, green after" in scene.pull.body
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    result = await scene.ends(Outcome.MERGED)
    assert result.reason == "approved by ann"
    assert [name for name, _ in effects(result)] == ["branch.push", "pull.create", "pull.merge", "branch.delete"]
    assert {state for _, state in effects(result)} == {EffectState.CREATED}
    assert [attempt.verdict.kind for attempt in result.state.attempts] == [VerdictKind.FIXED]


@pytest.mark.parametrize(
    ("outcome", "conclusion"), [(Outcome.MERGED, "success"), (Outcome.CANCELLED, "neutral")], ids=str
)
async def test_a_check_run_on_the_failing_commit_says_how_it_ended(
    scene: Scene, outcome: Outcome, conclusion: str
) -> None:
    await scene.start_and_wait()
    (check,) = scene.github.check_runs
    assert (check.report.sha, check.report.conclusion) == (scene.github.branches["main"], None)
    if outcome is Outcome.MERGED:
        scene.review(ReviewState.APPROVED)
        await scene.ring()
    else:
        await scene.cancel("the operator said so")
    await scene.ends(outcome)
    (check,) = scene.github.check_runs
    assert (check.report.title, check.report.conclusion) == (outcome, conclusion)


async def test_hand_over_waits_until_a_human_merges(scene: Scene) -> None:
    await scene.start_and_wait(merge_mode=MergeMode.HAND_OVER)
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    told = await scene.waits_for("a human's merge")
    assert (told.current_step, told.outcome) == (Step.AWAIT_REVIEW, None)
    scene.github.merge_by(scene.pull.number, "ann")
    await scene.ring()
    result = await scene.ends(Outcome.MERGED)
    assert result.reason == "merged by ann"
    assert scene.github.count("pull.merge") == 0


async def test_hand_over_notices_a_merge_without_any_webhook(scene: Scene) -> None:
    await scene.start_and_wait(merge_mode=MergeMode.HAND_OVER)
    scene.github.merge_by(scene.pull.number, "ann")
    assert (await scene.ends(Outcome.MERGED)).reason == "merged by ann"


async def test_an_unanswered_proposal_expires_and_says_so(scene: Scene) -> None:
    await scene.start_and_wait()
    await scene.sleep(7 * DAY - timedelta(hours=1))
    assert scene.pull.state == "open"
    await scene.ends(Outcome.EXPIRED)
    assert scene.pull.closed_by == scene.github.bot_login
    assert "nobody answered in time" in scene.pull.comments[-1].body


async def test_requested_changes_become_one_more_attempt_on_the_same_branch(scene: Scene) -> None:
    scene.agent_does(FIXES, FIXES_MORE)
    await scene.start_and_wait()
    first = scene.pull.head_sha
    note = ReviewComment(path="app.py", line=1, body="and here")
    scene.github.review(scene.pull.number, "ann", ReviewState.CHANGES_REQUESTED, body="Also extra.py", comments=[note])
    await scene.ring()
    await scene.until(lambda told: told.current_step is Step.AWAIT_REVIEW and told.budget.attempts_remaining == 1)
    second = scene.pull.head_sha
    assert scene.workspaces.commits[second].parents == (first,)
    assert [comment.body for comment in scene.agent.tasks[1].review_comments] == ["Also extra.py", "and here"]
    assert "as `ann` asked" in scene.pull.comments[-1].body
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    result = await scene.ends(Outcome.MERGED)
    assert len(scene.github.pulls) == 1
    assert result.state.pushes == (first, second)
    assert result.state.proposal is not None
    assert result.state.proposal.head_sha == second
    assert {item.subject for item in result.state.evidence} == {result.state.proposal.patch_id}


async def test_the_same_request_is_not_worked_in_twice(scene: Scene) -> None:
    scene.agent_does(FIXES, FIXES_MORE)
    await scene.start_and_wait()
    scene.review(ReviewState.CHANGES_REQUESTED)
    await scene.ring()
    await scene.until(lambda told: told.current_step is Step.AWAIT_REVIEW and told.budget.attempts_remaining == 1)
    await scene.looks_again()
    assert len(scene.agent.tasks) == 2
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


async def test_requested_changes_without_an_attempt_left_are_escalated(scene: Scene) -> None:
    await scene.start_and_wait(max_attempts=1)
    scene.review(ReviewState.CHANGES_REQUESTED)
    await scene.ring()
    result = await scene.ends(Outcome.ESCALATED, keeps_proposal=True)
    assert result.reason == "ann requested changes and no attempt is left"
    assert (scene.pull.state, scene.pull.draft, scene.pull.labels) == ("open", True, ["sweeper:needs-human"])
    assert "no attempt is left" in scene.pull.comments[-1].body


async def test_requested_changes_that_break_the_fix_are_escalated_and_never_pushed(scene: Scene) -> None:
    scene.agent_does(FIXES, MISSES)
    await scene.start_and_wait()
    first = scene.pull.head_sha
    scene.review(ReviewState.CHANGES_REQUESTED)
    await scene.ring()
    result = await scene.ends(Outcome.ESCALATED, keeps_proposal=True)
    assert result.state.pushes == (first,)
    assert "could not be made" in result.reason


async def test_approvals_without_weight_do_nothing(scene: Scene) -> None:
    scene.agent_does(FIXES, FIXES_MORE)
    scene.github.set_permission("eve", "read")
    await scene.start_and_wait()
    old_head = scene.pull.head_sha
    scene.review(ReviewState.CHANGES_REQUESTED)
    await scene.ring()
    await scene.until(lambda told: told.current_step is Step.AWAIT_REVIEW and told.budget.attempts_remaining == 1)
    number = scene.pull.number
    scene.github.review(number, "eve", ReviewState.APPROVED)
    scene.github.review(number, "ann", ReviewState.APPROVED, commit_id=old_head)
    scene.github.set_permission("robot", "admin")
    scene.github.review(number, "robot", ReviewState.APPROVED, user_type="Bot")
    with pytest.raises(ValueError, match="your own"):
        scene.github.review(number, scene.github.bot_login, ReviewState.APPROVED)
    await scene.looks_again()
    told = await scene.waits_for("review")
    assert told.current_step is Step.AWAIT_REVIEW
    assert scene.github.count("pull.merge") == 0
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


async def test_a_dismissed_approval_does_not_merge(scene: Scene) -> None:
    await scene.start_and_wait()
    scene.github.dismiss(scene.pull.number, scene.review(ReviewState.APPROVED))
    await scene.looks_again()
    assert scene.github.count("pull.merge") == 0
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)
