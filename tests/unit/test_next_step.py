from datetime import timedelta
from typing import Any

import pytest

from sweeper.model import ChecksState, MergeMode, Outcome, World
from sweeper.policy.next_step import Act, Decision, Watch, decide, is_of_ci
from tests.support.values import HEAD, NOW, OLD_HEAD, approved, proposal, wants_changes, world

GRACE = timedelta(minutes=2)
MERGED: dict[str, Any] = {"merged": True, "state": "closed", "merged_by": "ann"}
PUSHED: dict[str, Any] = {"branch_sha": OLD_HEAD}
CLOSED: dict[str, Any] = {"state": "closed", "closed_by": "ann"}
BRANCH_GONE: dict[str, Any] = {"branch_sha": None}
TARGET_GONE: dict[str, Any] = {"target_head": None}
GREEN_LATER: dict[str, Any] = {"run_green_later": True}
EXPIRED: dict[str, Any] = {}


def _watch(**changes: object) -> Watch:
    watch = Watch(
        proposal=proposal(),
        pushed_at=NOW - timedelta(hours=1),
        expires_at=NOW + timedelta(days=7),
        mode=MergeMode.MERGE,
        checks_grace=GRACE,
    )
    return watch.model_copy(update=changes)


def _decide(seen: World, **changes: object) -> Decision:
    return decide(_watch(**changes), seen, NOW)


@pytest.mark.parametrize(
    ("seen", "outcome", "reason"),
    [
        (MERGED, Outcome.MERGED, "merged by ann"),
        ({**MERGED, "merged_by": None}, Outcome.MERGED, "merged by somebody"),
        (PUSHED, Outcome.LEFT_TO_HUMAN, "somebody pushed to the proposal's branch"),
        (CLOSED, Outcome.CLOSED, "closed by ann"),
        ({**CLOSED, "closed_by": None}, Outcome.CLOSED, "closed by somebody"),
        (BRANCH_GONE, Outcome.CLOSED, "the proposal's branch was deleted"),
        (TARGET_GONE, Outcome.CLOSED, "the target branch is gone"),
        (GREEN_LATER, Outcome.FLAKY, "the failing run passed on the same commit later"),
    ],
)
@pytest.mark.parametrize("said", [(), (approved(),), (wants_changes(),)], ids=["silence", "approval", "request"])
def test_an_ending_outranks_every_word(seen: dict[str, Any], outcome: Outcome, reason: str, said: tuple[Any]) -> None:
    decision = _decide(world(*said, **seen))
    assert (decision.act, decision.outcome, decision.reason) == (Act.END, outcome, reason)


@pytest.mark.parametrize(
    ("seen", "said_no"),
    [(CLOSED, True), (BRANCH_GONE, True), (TARGET_GONE, False), (MERGED, False), (PUSHED, False), (GREEN_LATER, False)],
)
def test_a_closed_proposal_is_a_no_and_a_world_that_moved_is_none(seen: dict[str, Any], said_no: bool) -> None:
    assert _decide(world(**seen)).said_no is said_no


@pytest.mark.parametrize(
    ("age", "outcome"), [(timedelta(seconds=-1), None), (timedelta(0), Outcome.EXPIRED), (GRACE, Outcome.EXPIRED)]
)
def test_expires_at_its_moment_and_not_before(age: timedelta, outcome: Outcome | None) -> None:
    decision = _decide(world(approved()), expires_at=NOW - age)
    assert decision.outcome is outcome


ENDINGS_BY_RANK: list[tuple[Outcome, dict[str, Any]]] = [
    (Outcome.MERGED, MERGED),
    (Outcome.LEFT_TO_HUMAN, PUSHED),
    (Outcome.CLOSED, {**CLOSED, **TARGET_GONE}),
    (Outcome.FLAKY, GREEN_LATER),
    (Outcome.EXPIRED, EXPIRED),
]


@pytest.mark.parametrize("rank", range(len(ENDINGS_BY_RANK)))
def test_of_several_endings_the_strongest_is_told(rank: int) -> None:
    together: dict[str, Any] = {}
    for _, seen in reversed(ENDINGS_BY_RANK[rank:]):
        together |= seen
    assert _decide(world(**together), expires_at=NOW).outcome is ENDINGS_BY_RANK[rank][0]


def test_a_deleted_branch_is_no_push_by_a_human() -> None:
    assert _decide(world(**BRANCH_GONE)).outcome is Outcome.CLOSED


def test_waits_for_review_while_nobody_has_spoken() -> None:
    assert _decide(world()) == Decision(act=Act.WAIT, reason="review")


def test_an_approval_without_weight_is_no_approval() -> None:
    weightless = [approved(permission="read"), approved("bot", user_type="Bot"), approved("ben", commit_id=OLD_HEAD)]
    assert _decide(world(*weightless)) == Decision(act=Act.WAIT, reason="review")


def test_changes_requested_by_one_outrank_the_approval_of_another() -> None:
    request = wants_changes("ben", id=2)
    decision = _decide(world(approved("ann"), request))
    assert decision == Decision(act=Act.FIX_AGAIN, reason="ben requested changes", review=request)


def test_a_handled_request_makes_way_for_an_approval() -> None:
    decision = _decide(world(wants_changes("ben", id=2), approved("ann", id=3)), handled_reviews=(2,))
    assert (decision.act, decision.reason) == (Act.MERGE, "approved by ann")


def test_hand_over_mode_looks_at_the_proof_once_per_approval() -> None:
    decision = _decide(world(approved(), checks=ChecksState.GREEN), mode=MergeMode.HAND_OVER)
    assert decision == Decision(act=Act.HAND_OVER, reason="approved by ann", review=approved())


def test_hand_over_mode_waits_for_a_humans_merge_once_the_approval_is_worked_off() -> None:
    seen = world(approved(), checks=ChecksState.GREEN)
    decision = _decide(seen, mode=MergeMode.HAND_OVER, handed_over=approved().id)
    assert decision == Decision(act=Act.WAIT, reason="a human's merge", review=approved())


@pytest.mark.parametrize(
    ("checks", "act", "reason"),
    [
        (ChecksState.GREEN, Act.MERGE, "approved by ann"),
        (ChecksState.NONE, Act.MERGE, "approved by ann"),
        (ChecksState.PENDING, Act.WAIT, "checks to finish"),
        (ChecksState.RED, Act.WAIT, "checks to become green"),
    ],
)
def test_merge_mode_merges_an_approved_proposal_unless_its_checks_say_no(
    checks: ChecksState, act: Act, reason: str
) -> None:
    assert _decide(world(approved(), checks=checks)) == Decision(act=act, reason=reason, review=approved())


@pytest.mark.parametrize(("since_push", "act"), [(GRACE - timedelta(seconds=1), Act.WAIT), (GRACE, Act.MERGE)])
def test_gives_checks_their_grace_to_start(since_push: timedelta, act: Act) -> None:
    decision = _decide(world(approved()), pushed_at=NOW - since_push)
    assert decision.act is act
    if act is Act.WAIT:
        assert (decision.reason, decision.look_at) == ("checks to start", NOW - since_push + GRACE)


def test_green_checks_need_no_grace() -> None:
    assert _decide(world(approved(), checks=ChecksState.GREEN), pushed_at=NOW).act is Act.MERGE


def test_never_merges_a_head_that_is_not_the_one_we_pushed() -> None:
    lagging = world(approved(), head_sha=OLD_HEAD, checks=ChecksState.GREEN)
    assert _decide(lagging) == Decision(act=Act.WAIT, reason="GitHub to show the pushed head", review=approved())


def test_approval_is_bound_to_the_head_we_pushed() -> None:
    seen = world(approved(commit_id=HEAD), checks=ChecksState.GREEN, branch_sha=OLD_HEAD, head_sha=OLD_HEAD)
    assert _decide(seen, proposal=proposal(head_sha=OLD_HEAD)).act is Act.WAIT


def test_the_proposals_own_red_ci_gets_one_attempt_for_each_head() -> None:
    seen = world(checks=ChecksState.RED)
    decision = _decide(seen, may_try=True)
    assert (decision.act, decision.reason) == (Act.FIX_AGAIN, "the proposal's own CI failed")
    assert decision.review is not None
    assert is_of_ci(decision.review)
    assert _decide(seen, may_try=True, handled_reviews=(decision.review.id,)).act is Act.WAIT
    assert _decide(seen, may_try=False).act is Act.WAIT


@pytest.mark.parametrize("checks", [state for state in ChecksState if state is not ChecksState.RED])
def test_ci_that_does_not_say_no_asks_for_nothing(checks: ChecksState) -> None:
    assert _decide(world(checks=checks), may_try=True).act is Act.WAIT


def test_a_persons_request_goes_before_what_ci_says() -> None:
    decision = _decide(world(wants_changes(), checks=ChecksState.RED), may_try=True)
    assert decision.review == wants_changes()
