"""What a sweep does, told as stories. Each ends with nothing left over."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from temporalio import activity
from temporalio.api.enums.v1 import EventType

from sweeper.errors import MergeRefused, OutcomeUnknown, Permanent, RateLimited, Transient
from sweeper.model import (
    ChecksState,
    EffectState,
    MergeMode,
    Outcome,
    ReviewComment,
    ReviewState,
    Step,
    SweepResult,
    VerdictKind,
    Workspace,
)
from tests.support.agents import Turn
from tests.support.code_host_state import FakeJob
from tests.support.sandbox import Reply
from tests.support.scene import (
    CHANGES_NOTHING,
    FIXES,
    FIXES_MORE,
    MISSES,
    SETTINGS,
    BusyAgent,
    Scene,
    edit,
)

pytestmark = pytest.mark.slow
DAY = timedelta(days=1)
JOB = FakeJob("test", steps=(("Run pytest", "failure"),))


def _effects(result: SweepResult) -> list[tuple[str, EffectState]]:
    return [(effect.name, effect.state) for effect in result.state.effects]


def _last_comment(scene: Scene) -> str:
    return scene.pull.comments[-1].body


async def _until_review(scene: Scene, **settings: object) -> None:
    await scene.start(**settings)
    await scene.waits_for("review")


async def test_a_verified_fix_is_proposed_approved_and_merged(scene: Scene) -> None:
    await _until_review(scene)
    assert (scene.pull.branch, scene.pull.base) == (scene.branch, "main")
    assert "red before, green after" in scene.pull.body
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    result = await scene.ends(Outcome.MERGED)
    assert result.reason == "approved by ann"
    assert [name for name, _ in _effects(result)] == ["branch.push", "pull.create", "pull.merge", "branch.delete"]
    assert {state for _, state in _effects(result)} == {EffectState.CREATED}
    assert [attempt.verdict.kind for attempt in result.state.attempts] == [VerdictKind.FIXED]


async def test_hand_over_waits_until_a_human_merges(scene: Scene) -> None:
    await _until_review(scene, merge_mode=MergeMode.HAND_OVER)
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
    await _until_review(scene, merge_mode=MergeMode.HAND_OVER)
    scene.github.merge_by(scene.pull.number, "ann")
    assert (await scene.ends(Outcome.MERGED)).reason == "merged by ann"


async def test_an_unanswered_proposal_expires_and_says_so(scene: Scene) -> None:
    await _until_review(scene)
    await scene.sleep(7 * DAY - timedelta(hours=1))
    assert scene.pull.state == "open"
    await scene.ends(Outcome.EXPIRED)
    assert scene.pull.closed_by == scene.github.bot_login
    assert "nobody answered in time" in _last_comment(scene)


async def test_requested_changes_become_one_more_attempt_on_the_same_branch(scene: Scene) -> None:
    scene.agent_does(FIXES, FIXES_MORE)
    await _until_review(scene)
    first = scene.pull.head_sha
    note = ReviewComment(path="app.py", line=1, body="and here")
    scene.github.review(scene.pull.number, "ann", ReviewState.CHANGES_REQUESTED, body="Also extra.py", comments=[note])
    await scene.ring()
    await scene.until(lambda told: told.current_step is Step.AWAIT_REVIEW and told.budget.attempts_remaining == 1)
    second = scene.pull.head_sha
    assert scene.workspaces.commits[second].parents == (first,)
    assert [comment.body for comment in scene.agent.tasks[1].review_comments] == ["Also extra.py", "and here"]
    assert "as `ann` asked" in _last_comment(scene)
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    result = await scene.ends(Outcome.MERGED)
    assert len(scene.github.pulls) == 1
    assert result.state.pushes == (first, second)
    assert result.state.proposal is not None
    assert result.state.proposal.head_sha == second


async def test_the_same_request_is_not_worked_in_twice(scene: Scene) -> None:
    scene.agent_does(FIXES, FIXES_MORE)
    await _until_review(scene)
    scene.review(ReviewState.CHANGES_REQUESTED)
    await scene.ring()
    await scene.until(lambda told: told.current_step is Step.AWAIT_REVIEW and told.budget.attempts_remaining == 1)
    await scene.looks_again()
    assert len(scene.agent.tasks) == 2
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


async def test_requested_changes_without_an_attempt_left_are_escalated(scene: Scene) -> None:
    await _until_review(scene, max_attempts=1)
    scene.review(ReviewState.CHANGES_REQUESTED)
    await scene.ring()
    assert (await scene.ends(Outcome.ESCALATED)).reason == "ann requested changes and no attempt is left"


async def test_requested_changes_that_break_the_fix_are_escalated_and_never_pushed(scene: Scene) -> None:
    scene.agent_does(FIXES, MISSES)
    await _until_review(scene)
    first = scene.pull.head_sha
    scene.review(ReviewState.CHANGES_REQUESTED)
    await scene.ring()
    result = await scene.ends(Outcome.ESCALATED)
    assert result.state.pushes == (first,)
    assert "could not be made" in result.reason


async def test_approvals_without_weight_do_nothing(scene: Scene) -> None:
    scene.agent_does(FIXES, FIXES_MORE)
    scene.github.set_permission("eve", "read")
    await _until_review(scene)
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
    await _until_review(scene)
    scene.github.dismiss(scene.pull.number, scene.review(ReviewState.APPROVED))
    await scene.looks_again()
    assert scene.github.count("pull.merge") == 0
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


async def test_a_failure_that_does_not_show_here_is_not_worked_on(scene: Scene) -> None:
    scene.sandbox.on("pytest", Reply(0))
    await scene.start()
    await scene.ends(Outcome.NOT_REPRODUCED)
    assert (scene.agent.tasks, scene.github.pulls) == ([], {})


async def test_a_missing_program_proves_nothing(scene: Scene) -> None:
    scene.sandbox.on("pytest", Reply(127, b"bash: line 1: pytest: command not found\n"))
    await scene.start()
    result = await scene.ends(Outcome.UNVERIFIABLE)
    assert result.reason == "missing program 'pytest': it was looked for in /usr/bin:/bin"
    assert scene.agent.tasks == []


async def test_a_check_that_hits_its_limit_proves_nothing(scene: Scene) -> None:
    scene.sandbox.on("pytest", Reply(None, limit="time"))
    await scene.start()
    assert (await scene.ends(Outcome.UNVERIFIABLE)).reason == "check 'test' was ended by its time limit"


async def test_a_job_that_cannot_be_run_here_proves_nothing(scene: Scene) -> None:
    scene.github.set_file(".github/workflows/ci.yml", b"jobs: {test: {steps: [{run: pytest, shell: pwsh}]}}")
    await scene.start()
    assert "shell 'pwsh'" in (await scene.ends(Outcome.UNVERIFIABLE)).reason
    assert scene.workspaces.calls == []


async def test_exhausted_attempts_are_escalated_with_the_last_verdict(scene: Scene) -> None:
    scene.agent_does(MISSES, CHANGES_NOTHING, MISSES)
    await scene.start()
    result = await scene.ends(Outcome.ESCALATED)
    assert result.reason == "no verified fix after 3 attempt(s): check 'test' ended with exit code 1"
    assert [attempt.verdict.kind for attempt in result.state.attempts] == [VerdictKind.NOT_FIXED] * 3
    assert scene.github.pulls == {}


async def test_each_attempt_starts_clean_and_is_told_the_verdict_before(scene: Scene) -> None:
    seen: list[bytes] = []

    def look_and_fix(workspace: Workspace) -> None:
        seen.append(scene.workspaces.tree(workspace)["app.py"])
        FIXES(scene.workspaces)(workspace)

    scene.agent.turns = [Turn(edit=MISSES(scene.workspaces)), Turn(edit=look_and_fix)]
    await _until_review(scene)
    assert seen == [b"answer = 41\n"]
    assert scene.agent.tasks[0].previous_verdict is None
    previous = scene.agent.tasks[1].previous_verdict
    assert previous is not None
    assert previous.kind is VerdictKind.NOT_FIXED
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


@pytest.mark.parametrize(
    ("change", "size"),
    [
        ({f"file{n}.py": "x\n" for n in range(4)}, "files (4, at most 3 allowed)"),
        ({"big.py": "x\n" * 30}, "lines (30, at most 20 allowed)"),
    ],
    ids=["files", "lines"],
)
async def test_too_large_a_change_is_escalated_at_once(scene: Scene, change: dict[str, str | None], size: str) -> None:
    scene.agent_does(edit(change))
    await scene.start()
    result = await scene.ends(Outcome.ESCALATED)
    assert result.reason.startswith("diff_too_large: ")
    assert size in result.reason
    assert len(result.state.attempts) == 1


async def test_a_fix_that_is_green_only_sometimes_is_not_proposed(scene: Scene) -> None:
    ends = iter([1, 0, 1])
    scene.sandbox.on("pytest", lambda run: Reply(next(ends)))
    await scene.start(max_attempts=1)
    result = await scene.ends(Outcome.ESCALATED)
    assert result.state.attempts[0].verdict.kind is VerdictKind.FLAKY
    assert scene.github.pulls == {}


async def test_a_push_by_a_human_leaves_the_branch_to_them(scene: Scene) -> None:
    await _until_review(scene)
    proven = scene.pull.head_sha
    pushed = scene.push(scene.branch, {"app.py": "answer = 6 * 7\n"})
    await scene.ring()
    await scene.ends(Outcome.LEFT_TO_HUMAN)
    assert scene.github.branches[scene.branch] == pushed
    assert scene.pull.state == "open"
    assert f"for `{proven[:12]}` only" in _last_comment(scene)


async def test_a_push_by_a_human_during_the_second_attempt_is_not_overwritten(scene: Scene) -> None:
    await _until_review(scene)
    pushed: list[str] = []

    def fix_while_somebody_pushes(workspace: Workspace) -> None:
        pushed.append(scene.push(scene.branch, {"app.py": "answer = 6 * 7\n"}))
        FIXES_MORE(scene.workspaces)(workspace)

    scene.agent.turns = [Turn(edit=fix_while_somebody_pushes)]
    scene.review(ReviewState.CHANGES_REQUESTED)
    await scene.ring()
    await scene.ends(Outcome.LEFT_TO_HUMAN)
    assert scene.github.branches[scene.branch] == pushed[0]


async def test_a_closed_proposal_is_cleaned_up(scene: Scene) -> None:
    await _until_review(scene)
    scene.github.close_by(scene.pull.number, "ann")
    await scene.ring()
    assert (await scene.ends(Outcome.CLOSED)).reason == "closed by ann"


async def test_a_deleted_branch_ends_the_sweep(scene: Scene) -> None:
    await _until_review(scene)
    scene.github.delete_branch(scene.branch, "ann")
    await scene.ring()
    await scene.ends(Outcome.CLOSED)


async def test_a_deleted_target_closes_the_proposal(scene: Scene) -> None:
    await _until_review(scene)
    del scene.github.branches["main"]
    await scene.ring()
    assert (await scene.ends(Outcome.CLOSED)).reason == "the target branch is gone"


async def test_cancel_while_the_agent_works_ends_it_and_leaves_nothing(scene: Scene) -> None:
    scene.agents["scripted"] = agent = BusyAgent()
    await scene.start()
    await asyncio.wait_for(agent.started.wait(), 20)
    await scene.cancel("not wanted")
    assert (await scene.ends(Outcome.CANCELLED)).reason == "not wanted"
    assert agent.stopped.is_set()
    assert scene.github.pulls == {}


async def test_cancel_while_waiting_closes_the_proposal(scene: Scene) -> None:
    await _until_review(scene)
    await scene.cancel("wrong run")
    result = await scene.ends(Outcome.CANCELLED)
    assert result.reason == "wrong run"
    assert scene.pull.closed_by == scene.github.bot_login
    assert "the sweep was cancelled" in _last_comment(scene)


async def test_a_workflow_cancelled_in_temporal_cleans_up_too(scene: Scene) -> None:
    await _until_review(scene)
    await scene.handle.cancel()
    assert (await scene.ends(Outcome.CANCELLED)).reason == "the workflow was cancelled"


async def test_a_moved_target_is_proved_again_before_the_merge(scene: Scene) -> None:
    await _until_review(scene)
    moved = scene.push("main", {"other.py": "x = 1\n"})
    runs = len(scene.sandbox.runs)
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    result = await scene.ends(Outcome.MERGED)
    assert result.state.verified_target == moved
    assert len(scene.sandbox.runs) == runs + 2
    assert len(result.state.pushes) == 1


async def test_a_moved_target_that_makes_the_fix_red_closes_the_proposal(scene: Scene) -> None:
    await _until_review(scene)
    scene.push("main", {"other.py": "x = 1\n"})
    scene.sandbox.on("pytest", Reply(1))
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    result = await scene.ends(Outcome.EXPIRED)
    assert result.reason.startswith("no longer proved on the target as it is now")
    assert scene.github.count("pull.merge") == 0


async def test_a_moved_target_that_conflicts_closes_the_proposal(scene: Scene) -> None:
    await _until_review(scene)
    scene.push("main", {"app.py": "answer = 40\n"})
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    assert "it conflicts with the target" in (await scene.ends(Outcome.EXPIRED)).reason


async def test_old_evidence_is_made_anew_before_the_merge(scene: Scene) -> None:
    await _until_review(scene, evidence_ttl=timedelta(hours=1))
    runs = len(scene.sandbox.runs)
    await scene.sleep(timedelta(hours=2))
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    await scene.ends(Outcome.MERGED)
    assert len(scene.sandbox.runs) == runs + 2


async def test_fresh_evidence_is_not_made_anew(scene: Scene) -> None:
    await _until_review(scene)
    runs = len(scene.sandbox.runs)
    await scene.sleep(timedelta(hours=2))
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    await scene.ends(Outcome.MERGED)
    assert len(scene.sandbox.runs) == runs


async def test_a_refused_merge_is_a_named_wait_and_tried_again(scene: Scene) -> None:
    await _until_review(scene)
    scene.github.refuse_merges("2 reviews are required")
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    told = await scene.waits_for("GitHub to allow the merge")
    assert told.current_step is Step.AWAIT_REVIEW
    await scene.sleep(DAY)
    scene.github.refuse_merges(None)
    await scene.ends(Outcome.MERGED)
    assert scene.github.count("pull.merge") == 1


async def test_a_merge_whose_answer_is_lost_happens_once(scene: Scene) -> None:
    await _until_review(scene)
    scene.github.fail_next("merge_pull", OutcomeUnknown("The answer was lost; look again."), when="after")
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    result = await scene.ends(Outcome.MERGED)
    assert ("pull.merge", EffectState.DEDUPLICATED) in _effects(result)
    assert scene.github.count("pull.merge") == 1


async def test_a_pull_request_whose_answer_is_lost_is_opened_once(scene: Scene) -> None:
    scene.github.fail_next("open_pull", OutcomeUnknown("The answer was lost; look again."), when="after")
    await _until_review(scene)
    assert len(scene.github.pulls) == 1
    await scene.cancel()
    result = await scene.ends(Outcome.CANCELLED)
    assert ("pull.create", EffectState.DEDUPLICATED) in _effects(result)
    assert scene.github.count("pull.create") == 1


async def test_a_push_whose_answer_is_lost_happens_once(scene: Scene) -> None:
    scene.workspaces.fail("push", OutcomeUnknown("The answer was lost; look again."), after=True)
    await _until_review(scene)
    await scene.cancel()
    assert ("branch.push", EffectState.DEDUPLICATED) in _effects(await scene.ends(Outcome.CANCELLED))


async def test_a_push_that_cannot_be_confirmed_is_taken_back(scene: Scene) -> None:
    scene.workspaces.fail("push", Permanent("The answer makes no sense; look at the log."), after=True)
    await scene.start()
    result = await scene.ends(Outcome.ESCALATED)
    assert _effects(result) == [("branch.delete", EffectState.CREATED)]


async def test_a_passing_fault_is_tried_again(scene: Scene) -> None:
    scene.github.fail_next("read_run", Transient("GitHub answered 502; this is tried again."), times=2)
    await _until_review(scene)
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


async def test_continue_as_new_keeps_everything(scene: Scene) -> None:
    timeouts = SETTINGS.timeouts.model_copy(update={"history_events": 40})
    scene.agent_does(FIXES, FIXES_MORE)
    await _until_review(scene, timeouts=timeouts, merge_mode=MergeMode.HAND_OVER)
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
    assert [name for name, _ in _effects(result)] == [
        "branch.push",
        "pull.create",
        "branch.push",
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


async def test_report_only_writes_nothing(scene: Scene) -> None:
    await scene.start(report_only=True)
    result = await scene.ends(Outcome.LEFT_TO_HUMAN)
    assert result.reason.startswith("report_only")
    assert result.state.attempts[0].verdict.kind is VerdictKind.FIXED
    assert (scene.github.effects, scene.workspaces.effects) == ([], [])


async def test_a_run_that_is_green_later_is_flaky(scene: Scene) -> None:
    await _until_review(scene)
    scene.github.rerun(scene.run, "success")
    await scene.ring()
    await scene.ends(Outcome.FLAKY)
    assert "looks flaky, not broken" in _last_comment(scene)


async def test_a_run_that_is_green_before_the_proposal_is_not_proposed_for(scene: Scene) -> None:
    def fix_while_a_rerun_passes(workspace: Workspace) -> None:
        scene.run_ends("success")
        FIXES(scene.workspaces)(workspace)

    scene.agent.turns = [Turn(edit=fix_while_a_rerun_passes)]
    await scene.start()
    await scene.ends(Outcome.FLAKY)
    assert scene.github.pulls == {}


async def test_a_target_that_moves_before_the_proposal_supersedes_it(scene: Scene) -> None:
    def fix_while_somebody_pushes(workspace: Workspace) -> None:
        scene.push("main", {"other.py": "x = 1\n"})
        FIXES(scene.workspaces)(workspace)

    scene.agent.turns = [Turn(edit=fix_while_somebody_pushes)]
    await scene.start()
    await scene.ends(Outcome.SUPERSEDED)
    assert scene.github.pulls == {}


async def test_a_forks_code_is_left_alone(scene: Scene) -> None:
    scene.run = scene.github.add_run("main", fork="stranger/app", jobs=[JOB])
    await scene.start()
    assert "stranger/app" in (await scene.ends(Outcome.LEFT_TO_HUMAN)).reason
    assert (scene.workspaces.calls, scene.sandbox.runs) == ([], [])


async def test_a_run_that_still_goes_on_is_waited_for(scene: Scene) -> None:
    scene.run = scene.github.add_run("main", conclusion=None, jobs=[JOB])
    await scene.start()
    told = await scene.waits_for("the run to end")
    assert told.current_step is Step.ADMIT
    scene.run_ends("failure")
    await scene.sleep(timedelta(hours=4))
    await scene.waits_for("review")
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


async def test_checks_of_the_proposal_are_waited_for(scene: Scene) -> None:
    await _until_review(scene)
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
    await _until_review(scene, checks_grace=timedelta(minutes=2))
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    await scene.waits_for("checks to start")
    await scene.sleep(timedelta(minutes=3))
    await scene.ends(Outcome.MERGED)


async def test_memo_and_search_attributes_show_step_and_wait(scene: Scene) -> None:
    await _until_review(scene)
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
    pending = (await scene.until(lambda told: told.pending_action is not None)).pending_action
    assert pending is not None
    assert (pending.tool, pending.idempotency_key) == ("push_branch", f"{scene.workflow_id}/propose/1")
    may_push.set()
    assert (await scene.waits_for("review")).pending_action is None
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


async def test_cancel_while_a_push_is_under_way_waits_for_its_answer_and_takes_it_back(scene: Scene) -> None:
    pushing = asyncio.Event()

    async def hold_until_cancelled() -> None:
        pushing.set()
        await activity.wait_for_cancelled()

    scene.workspaces.before["push"] = hold_until_cancelled
    await scene.start()
    await asyncio.wait_for(pushing.wait(), 20)
    await scene.cancel("stop")
    result = await scene.ends(Outcome.CANCELLED)
    assert _effects(result) == [("branch.push", EffectState.CREATED), ("branch.delete", EffectState.CREATED)]
    assert scene.github.pulls == {}


async def test_a_cancel_while_it_tidies_up_changes_nothing(scene: Scene) -> None:
    tidying, may_go_on = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        tidying.set()
        await may_go_on.wait()

    await _until_review(scene)
    scene.workspaces.before["discard"] = hold
    scene.github.close_by(scene.pull.number, "ann")
    await scene.ring()
    await asyncio.wait_for(tidying.wait(), 20)
    await scene.handle.cancel()
    await scene.until_history_has(
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED, EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    )
    assert EventType.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED not in await scene.events()
    may_go_on.set()
    assert (await scene.ends(Outcome.CLOSED)).reason == "closed by ann"


async def test_what_cannot_be_undone_is_named(scene: Scene) -> None:
    await _until_review(scene)
    scene.workspaces.fail("delete_branch", Permanent("The rule forbids it; delete the branch yourself."))
    await scene.cancel("stop")
    result = await scene.result()
    assert result.outcome is Outcome.CANCELLED
    assert result.reason == (
        f"stop; left over: delete_branch of {scene.branch}: The rule forbids it; delete the branch yourself."
    )
    assert scene.pull.state == "closed"


async def test_a_second_refusal_is_not_a_second_merge(scene: Scene) -> None:
    await _until_review(scene)
    scene.github.fail_next("merge_pull", MergeRefused("Wait: the head has moved."))
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    await scene.waits_for("GitHub to allow the merge")
    scene.github.close_by(scene.pull.number, "ann")
    await scene.ring()
    await scene.ends(Outcome.CLOSED)
    assert scene.github.count("pull.merge") == 0
