"""What has to hold when an approved proposal is merged. Each story ends with nothing left over."""

from datetime import timedelta

import pytest

from sweeper.errors import MergeRefused, Transient
from sweeper.model import ChecksState, MergeMode, Outcome, ReviewState, Step
from tests.support.sandbox import Reply
from tests.support.scene import FIXES, FIXES_MORE, SETTINGS, Scene

pytestmark = pytest.mark.slow
DAY = timedelta(days=1)


async def test_a_moved_target_is_proved_again_before_the_merge(scene: Scene) -> None:
    await scene.start_and_wait()
    moved = scene.push("main", {"other.py": "x = 1\n"})
    runs = len(scene.sandbox.runs)
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    result = await scene.ends(Outcome.MERGED)
    assert result.state.verified_target == moved
    assert len(scene.sandbox.runs) == runs + 2
    assert len(result.state.pushes) == 1


async def test_a_moved_target_that_makes_the_fix_red_closes_the_proposal(scene: Scene) -> None:
    await scene.start_and_wait()
    scene.push("main", {"other.py": "x = 1\n"})
    scene.sandbox.on("pytest", Reply(1))
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    result = await scene.ends(Outcome.EXPIRED)
    assert result.reason.startswith("no longer proved on the target as it is now")
    assert scene.github.count("pull.merge") == 0


async def test_a_moved_target_that_conflicts_closes_the_proposal(scene: Scene) -> None:
    await scene.start_and_wait()
    scene.push("main", {"app.py": "answer = 40\n"})
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    assert "it conflicts with the target" in (await scene.ends(Outcome.EXPIRED)).reason


async def test_old_evidence_is_made_anew_before_the_merge(scene: Scene) -> None:
    await scene.start_and_wait(evidence_ttl=timedelta(hours=1))
    runs = len(scene.sandbox.runs)
    await scene.sleep(timedelta(hours=2))
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    await scene.ends(Outcome.MERGED)
    assert len(scene.sandbox.runs) == runs + 2


async def test_fresh_evidence_is_not_made_anew(scene: Scene) -> None:
    await scene.start_and_wait()
    runs = len(scene.sandbox.runs)
    await scene.sleep(timedelta(hours=2))
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    await scene.ends(Outcome.MERGED)
    assert len(scene.sandbox.runs) == runs


async def test_a_refused_merge_is_a_named_wait_and_tried_again(scene: Scene) -> None:
    await scene.start_and_wait()
    scene.github.refuse_merges("2 reviews are required")
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    told = await scene.waits_for("GitHub to allow the merge")
    assert told.current_step is Step.AWAIT_REVIEW
    await scene.sleep(DAY)
    scene.github.refuse_merges(None)
    await scene.ends(Outcome.MERGED)
    assert scene.github.count("pull.merge") == 1


async def test_a_second_refusal_is_not_a_second_merge(scene: Scene) -> None:
    await scene.start_and_wait()
    scene.github.fail_next("merge_pull", MergeRefused("Wait: the head has moved."))
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    await scene.waits_for("GitHub to allow the merge")
    scene.github.close_by(scene.pull.number, "ann")
    await scene.ring()
    await scene.ends(Outcome.CLOSED)
    assert scene.github.count("pull.merge") == 0


async def test_checks_of_the_proposal_are_waited_for(scene: Scene) -> None:
    await scene.start_and_wait()
    scene.github.set_checks(scene.pull.head_sha, ChecksState.PENDING)
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    await scene.waits_for("checks to finish")
    scene.github.set_checks(scene.pull.head_sha, ChecksState.RED)
    await scene.ring()
    await scene.waits_for("checks to become green")
    assert scene.github.count("pull.merge") == 0
    scene.github.set_checks(scene.pull.head_sha, ChecksState.GREEN)
    await scene.ring()
    await scene.ends(Outcome.MERGED)


async def test_without_checks_it_merges_once_their_grace_is_over(scene: Scene) -> None:
    await scene.start_and_wait(checks_grace=timedelta(minutes=2))
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    await scene.waits_for("checks to start")
    await scene.sleep(timedelta(minutes=3))
    await scene.ends(Outcome.MERGED)


async def test_a_new_head_is_proved_on_the_moved_target_although_an_older_head_was(scene: Scene) -> None:
    scene.agent_does(FIXES, FIXES_MORE)
    await scene.start_and_wait()
    scene.push("main", {"other.py": "x = 1\n"})
    scene.github.refuse_merges("2 reviews are required")
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    await scene.waits_for("GitHub to allow the merge")
    first = scene.pull.head_sha
    scene.review(ReviewState.CHANGES_REQUESTED)
    await scene.ring()
    await scene.until(lambda told: told.current_step is Step.AWAIT_REVIEW and scene.pull.head_sha != first)
    scene.github.refuse_merges(None)
    runs = len(scene.sandbox.runs)
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    await scene.ends(Outcome.MERGED)
    assert len(scene.sandbox.runs) == runs + 2


async def test_handing_over_proves_a_moved_target_once_for_each_approval(scene: Scene) -> None:
    await scene.start_and_wait(merge_mode=MergeMode.HAND_OVER)
    scene.push("main", {"other.py": "x = 1\n"})
    runs = len(scene.sandbox.runs)
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    await scene.waits_for("a human's merge")
    scene.push("main", {"other.py": "x = 2\n"})
    await scene.looks_again()
    assert len(scene.sandbox.runs) == runs + 2
    scene.github.merge_by(scene.pull.number, "ann")
    await scene.ends(Outcome.MERGED)


async def test_an_approved_fix_that_is_red_on_the_moved_target_is_not_handed_over(scene: Scene) -> None:
    await scene.start_and_wait(merge_mode=MergeMode.HAND_OVER)
    scene.push("main", {"other.py": "x = 1\n"})
    scene.sandbox.on("pytest", Reply(1))
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    assert "no longer proved" in (await scene.ends(Outcome.EXPIRED)).reason


async def test_github_being_away_for_hours_is_a_wait_and_not_the_end_of_a_proposal(scene: Scene) -> None:
    await scene.start_and_wait(timeouts=SETTINGS.timeouts.model_copy(update={"tries": 2}))
    scene.github.fail_next("read_world", Transient("GitHub answers 502."), times=4)
    await scene.ring()
    await scene.waits_for("GitHub to answer (GitHub answers 502.)")
    scene.review(ReviewState.APPROVED)
    await scene.ends(Outcome.MERGED)
