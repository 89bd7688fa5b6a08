"""Which failing runs get a sweep: from the webhook, and from the run as it is now."""

from datetime import UTC, datetime
from typing import Literal

import pytest

from sweeper.events import RunFailed
from sweeper.model import HeadCi, Outcome, RunFacts, RunRef
from sweeper.policy.admission import Admission, admit_event, admit_fix, admit_run

SHA, OTHER_SHA = "a" * 40, "b" * 40
FACTS = RunFacts(
    run=RunRef(repository="octo/app", repository_id=4711, run_id=77),
    status="completed",
    conclusion="failure",
    event="push",
    head_sha=SHA,
    head_branch="main",
    head_repository="octo/app",
    head_repository_id=4711,
    branch_head=SHA,
    created_at=datetime(2026, 11, 29, tzinfo=UTC),
)


@pytest.mark.parametrize(
    ("branch", "head_repository_id", "action", "reason"),
    [
        ("main", 4711, "start", ""),
        ("feature/sweeper/x", 4711, "start", ""),
        ("a;$(touch${IFS}PWN)", 4711, "start", ""),
        ("main", 9999, "start", ""),
        ("main", None, "start", ""),
        ("sweeper/77-1", 4711, "ring", "own_branch"),
        ("sweeper/anything else", 4711, "ring", "own_branch"),
        ("sweeper/77-1", 9999, "ignore", "fork"),
        ("sweeper/77-1", None, "ignore", "fork"),
        ("gh-readonly-queue/main/pr-7-abc", 4711, "ignore", "merge_queue"),
        (None, 4711, "ignore", "no_branch"),
    ],
)
def test_a_failing_run_starts_rings_or_is_ignored(
    branch: str | None, head_repository_id: int | None, action: Literal["start", "ring", "ignore"], reason: str
) -> None:
    event = RunFailed(
        repository="octo/app",
        repository_id=4711,
        head_branch=branch,
        head_repository_id=head_repository_id,
        run_id=77,
        conclusion="failure",
        head_sha=SHA,
    )
    admission = admit_event(event)
    assert (admission.action, admission.reason.partition(":")[0]) == (action, reason)


@pytest.mark.parametrize("conclusion", ["failure", "timed_out", "startup_failure"])
def test_a_failing_run_at_the_head_of_its_branch_goes_on(conclusion: str) -> None:
    assert admit_run(FACTS.model_copy(update={"conclusion": conclusion})) == Admission(go=True)


@pytest.mark.parametrize(
    ("changes", "outcome", "reason"),
    [
        ({"conclusion": "success"}, Outcome.FLAKY, "green later"),
        ({"conclusion": "success", "branch_head": OTHER_SHA}, Outcome.FLAKY, "green later"),
        ({"conclusion": "cancelled"}, Outcome.CLOSED, "not_failing"),
        ({"conclusion": "action_required"}, Outcome.CLOSED, "not_failing"),
        ({"conclusion": "neutral"}, Outcome.CLOSED, "not_failing"),
        ({"conclusion": "skipped"}, Outcome.CLOSED, "not_failing"),
        ({"conclusion": "stale"}, Outcome.CLOSED, "not_failing"),
        ({"conclusion": None}, Outcome.CLOSED, "not_failing"),
        ({"conclusion": "a_value_of_the_future"}, Outcome.CLOSED, "not_failing"),
        ({"head_repository_id": 9999, "head_repository": "eve/app"}, Outcome.LEFT_TO_HUMAN, "fork"),
        ({"head_repository_id": None, "head_repository": None}, Outcome.LEFT_TO_HUMAN, "fork"),
        ({"head_repository_id": 9999, "head_branch": "sweeper/77-1"}, Outcome.LEFT_TO_HUMAN, "fork"),
        ({"head_branch": "sweeper/77-1"}, Outcome.JOINED, "own_branch"),
        ({"head_branch": "gh-readonly-queue/main/pr-7-abc"}, Outcome.LEFT_TO_HUMAN, "merge_queue"),
        ({"branch_head": None}, Outcome.CLOSED, "branch_gone"),
        ({"head_branch": None}, Outcome.CLOSED, "branch_gone"),
        ({"branch_head": OTHER_SHA}, Outcome.SUPERSEDED, "head_moved"),
        ({"branch_head": OTHER_SHA, "head_ci": HeadCi.GREEN}, Outcome.SUPERSEDED, "head_moved"),
        ({"branch_head": OTHER_SHA, "head_ci": HeadCi.RED}, Outcome.SUPERSEDED, "head_moved"),
    ],
)
def test_a_run_that_needs_no_sweep_ends_with_an_outcome(
    changes: dict[str, object], outcome: Outcome, reason: str
) -> None:
    admission = admit_run(FACTS.model_copy(update=changes))
    assert not admission.go
    assert admission.outcome is outcome
    assert admission.reason.startswith(reason)


def test_the_newest_failure_of_a_busy_branch_is_worked_on_while_its_head_is_still_tested() -> None:
    assert admit_run(FACTS.model_copy(update={"branch_head": OTHER_SHA, "head_ci": HeadCi.PENDING})).go


@pytest.mark.parametrize(("head_ci", "wanted"), [(ci, ci is not HeadCi.GREEN) for ci in HeadCi])
def test_a_fix_that_is_made_is_wanted_unless_the_newer_head_is_green(head_ci: HeadCi, wanted: bool) -> None:
    assert admit_fix(FACTS.model_copy(update={"branch_head": OTHER_SHA, "head_ci": head_ci})).go is wanted


def test_a_fix_for_a_commit_that_passed_since_is_not_wanted() -> None:
    assert admit_fix(FACTS.model_copy(update={"conclusion": "success"})).outcome is Outcome.FLAKY


@pytest.mark.parametrize("status", ["queued", "in_progress", "waiting", "a_status_of_the_future"])
def test_nothing_is_decided_while_a_run_goes_on(status: str) -> None:
    admission = admit_run(FACTS.model_copy(update={"status": status, "conclusion": None}))
    assert (admission.go, admission.outcome) == (False, None)
    assert admission.reason.startswith("still_running")


def test_a_fork_is_refused_even_while_its_run_goes_on() -> None:
    admission = admit_run(FACTS.model_copy(update={"status": "in_progress", "head_repository_id": 9999}))
    assert admission.outcome is Outcome.LEFT_TO_HUMAN
