"""Lost answers, passing and lasting faults, rate limits. Each story ends with nothing left over."""

from datetime import UTC, datetime, timedelta

import pytest

from sweeper.errors import AuthBroken, OutcomeUnknown, Permanent, RateLimited, Transient
from sweeper.model import EffectState, Outcome, ReviewState, Step
from tests.support.scene import SETTINGS, Scene, effects

pytestmark = pytest.mark.slow


async def test_a_merge_whose_answer_is_lost_happens_once(scene: Scene) -> None:
    await scene.start_and_wait()
    scene.github.fail_next("merge_pull", OutcomeUnknown("The answer was lost; look again."), when="after")
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    result = await scene.ends(Outcome.MERGED)
    assert ("pull.merge", EffectState.DEDUPLICATED) in effects(result)
    assert scene.github.count("pull.merge") == 1


async def test_a_pull_request_whose_answer_is_lost_is_opened_once(scene: Scene) -> None:
    scene.github.fail_next("open_pull", OutcomeUnknown("The answer was lost; look again."), when="after")
    await scene.start_and_wait()
    assert len(scene.github.pulls) == 1
    await scene.cancel()
    result = await scene.ends(Outcome.CANCELLED)
    assert ("pull.create", EffectState.DEDUPLICATED) in effects(result)
    assert scene.github.count("pull.create") == 1


async def test_a_push_whose_answer_is_lost_happens_once(scene: Scene) -> None:
    scene.workspaces.fail("push", OutcomeUnknown("The answer was lost; look again."), after=True)
    await scene.start_and_wait()
    await scene.cancel()
    assert ("branch.push", EffectState.DEDUPLICATED) in effects(await scene.ends(Outcome.CANCELLED))


async def test_a_push_that_cannot_be_confirmed_is_taken_back(scene: Scene) -> None:
    scene.workspaces.fail("push", Permanent("The answer makes no sense; look at the log."), after=True)
    await scene.start()
    result = await scene.ends(Outcome.ESCALATED)
    assert effects(result) == [("branch.delete", EffectState.CREATED)]


async def test_a_passing_fault_is_tried_again(scene: Scene) -> None:
    scene.github.fail_next("read_run", Transient("GitHub answered 502; this is tried again."), times=2)
    await scene.start_and_wait()
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


async def test_a_lasting_fault_ends_with_its_sentence(scene: Scene) -> None:
    scene.github.fail_next("read_run", Transient("GitHub answered 502; this is tried again."), times=50)
    await scene.start()
    assert (await scene.ends(Outcome.ESCALATED)).reason == "GitHub answered 502; this is tried again."


async def test_a_rate_limit_is_a_named_wait_that_ends(scene: Scene) -> None:
    now = await scene.env.get_current_time()
    retry_at = datetime.fromtimestamp(int(now.timestamp()) + 1800, UTC)
    scene.github.fail_next("read_jobs", RateLimited("Wait for GitHub's limit to reset.", retry_at))
    await scene.start()
    told = await scene.waits_for("GitHub's rate limit")
    assert told.current_step is Step.COLLECT
    assert told.waiting_for is not None
    assert told.waiting_for.until == retry_at
    calls = scene.github.calls.count("read_jobs")
    await scene.sleep(timedelta(minutes=29))
    assert scene.github.calls.count("read_jobs") == calls
    await scene.sleep(timedelta(minutes=2))
    await scene.waits_for("review")
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


async def test_a_rate_limit_beyond_the_bound_is_escalated(scene: Scene) -> None:
    retry_at = await scene.env.get_current_time() + timedelta(days=3)
    scene.github.fail_next("read_jobs", RateLimited("Wait for GitHub's limit to reset.", retry_at))
    await scene.start()
    assert (await scene.ends(Outcome.ESCALATED)).reason == "Wait for GitHub's limit to reset."


async def test_what_cannot_be_undone_is_named(scene: Scene) -> None:
    await scene.start_and_wait()
    scene.workspaces.fail("delete_branch", Permanent("The rule forbids it; delete the branch yourself."))
    await scene.cancel("stop")
    result = await scene.result()
    assert result.outcome is Outcome.CANCELLED
    assert result.reason == (
        f"stop; left over: delete_branch of {scene.branch}: The rule forbids it; delete the branch yourself."
    )
    assert scene.pull.state == "closed"


async def test_refused_credentials_are_waited_for_by_name_until_they_work(scene: Scene) -> None:
    scene.github.fail_next("read_run", AuthBroken("Give the app new credentials."), times=3)
    await scene.start()
    told = await scene.waits_for("GitHub to accept our credentials")
    assert told.waiting_for is not None
    assert told.waiting_for.until <= told.waiting_for.since + SETTINGS.timeouts.credentials_total
    await scene.sleep(timedelta(minutes=1))
    await scene.ring()
    await scene.sleep(timedelta(minutes=30))
    await scene.waits_for("review")
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


async def test_credentials_that_never_work_again_end_the_wait_with_a_sentence(scene: Scene) -> None:
    scene.github.fail_next("read_run", AuthBroken("Give the app new credentials."), times=500)
    await scene.start()
    result = await scene.ends(Outcome.ESCALATED)
    assert result.reason == "Give the app new credentials."


async def test_a_pull_request_that_opened_unheard_is_closed_with_a_sentence_when_its_sweep_is_stopped(
    scene: Scene,
) -> None:
    scene.github.fail_next("open_pull", Permanent("The answer makes no sense; look at the log."), when="after")
    await scene.start()
    result = await scene.ends(Outcome.ESCALATED)
    assert [name for name, _ in effects(result)] == [
        "branch.push",
        "comment.create",
        "label.add",
        "pull.close",
        "branch.delete",
    ]
    assert scene.pull.labels == ["sweeper:needs-human"]
