import pytest

from sweeper.model import Ending, Outcome, SweepState
from sweeper.policy.compensation import Undo, conclusion_of, undo_plan
from tests.support.values import proposal, sweep_state

NOTHING = sweep_state()
PUSH_INTENDED = sweep_state(pushes=("a" * 40,))
PROPOSED = sweep_state(pushes=("a" * 40,), proposal=proposal())
CHECKED = sweep_state(pushes=("a" * 40,), proposal=proposal(), checked_sha="b" * 40)
ALL_BACK = (Undo.COMMENT, Undo.CLOSE, Undo.DELETE_BRANCH)

WHEN_PROPOSED = {
    Outcome.MERGED: (Undo.DELETE_BRANCH,),
    Outcome.LEFT_TO_HUMAN: (Undo.COMMENT,),
    Outcome.ESCALATED: (Undo.COMMENT, Undo.LABEL, Undo.CLOSE, Undo.DELETE_BRANCH),
}


def plan_of(outcome: Outcome, state: SweepState, *, keeps_proposal: bool = False) -> tuple[Undo, ...]:
    """What is undone when a sweep ends so."""
    return undo_plan(Ending(outcome=outcome, reason="so it is", keeps_proposal=keeps_proposal), state)


@pytest.mark.parametrize("outcome", Outcome)
def test_a_proposal_is_taken_back_unless_it_was_merged_or_is_a_humans_now(outcome: Outcome) -> None:
    assert plan_of(outcome, PROPOSED) == WHEN_PROPOSED.get(outcome, ALL_BACK)


def test_a_proposal_that_helps_whoever_takes_over_stays_as_a_draft_that_can_be_found() -> None:
    plan = plan_of(Outcome.ESCALATED, PROPOSED, keeps_proposal=True)
    assert plan == (Undo.COMMENT, Undo.LABEL, Undo.DRAFT)


@pytest.mark.parametrize("outcome", sorted(set(Outcome) - {Outcome.LEFT_TO_HUMAN}))
def test_a_push_that_may_have_happened_is_taken_back(outcome: Outcome) -> None:
    assert plan_of(outcome, PUSH_INTENDED) == (Undo.DELETE_BRANCH,)


def test_a_branch_that_is_left_to_a_human_stays() -> None:
    assert plan_of(Outcome.LEFT_TO_HUMAN, PUSH_INTENDED) == ()


@pytest.mark.parametrize("outcome", Outcome)
def test_without_writes_there_is_nothing_to_take_back(outcome: Outcome) -> None:
    assert plan_of(outcome, NOTHING) == ()


def test_people_are_told_why_before_their_proposal_closes() -> None:
    plan = plan_of(Outcome.EXPIRED, PROPOSED)
    assert plan.index(Undo.COMMENT) < plan.index(Undo.CLOSE) < plan.index(Undo.DELETE_BRANCH)


@pytest.mark.parametrize("outcome", Outcome)
def test_what_was_written_first_is_undone_last(outcome: Outcome) -> None:
    assert plan_of(outcome, CHECKED)[-1] is Undo.CONCLUDE_CHECK


@pytest.mark.parametrize("outcome", Outcome)
def test_a_check_run_is_green_only_for_what_was_merged(outcome: Outcome) -> None:
    expected = {Outcome.MERGED: "success", Outcome.ESCALATED: "action_required"}
    assert conclusion_of(outcome) == expected.get(outcome, "neutral")
