import pytest

from sweeper.model import Outcome
from sweeper.policy.compensation import Undo, undo_plan
from tests.support.values import proposal, sweep_state

NOTHING = sweep_state()
PUSH_INTENDED = sweep_state(pushes=("a" * 40,))
PROPOSED = sweep_state(pushes=("a" * 40,), proposal=proposal())
ALL_BACK = (Undo.COMMENT, Undo.CLOSE, Undo.DELETE_BRANCH)

WHEN_PROPOSED = {
    Outcome.MERGED: (Undo.DELETE_BRANCH,),
    Outcome.LEFT_TO_HUMAN: (Undo.COMMENT,),
}


@pytest.mark.parametrize("outcome", Outcome)
def test_a_proposal_is_taken_back_unless_it_was_merged_or_is_a_humans_now(outcome: Outcome) -> None:
    assert undo_plan(outcome, PROPOSED) == WHEN_PROPOSED.get(outcome, ALL_BACK)


@pytest.mark.parametrize("outcome", sorted(set(Outcome) - {Outcome.LEFT_TO_HUMAN}))
def test_a_push_that_may_have_happened_is_taken_back(outcome: Outcome) -> None:
    assert undo_plan(outcome, PUSH_INTENDED) == (Undo.DELETE_BRANCH,)


def test_a_branch_that_is_left_to_a_human_stays() -> None:
    assert undo_plan(Outcome.LEFT_TO_HUMAN, PUSH_INTENDED) == ()


@pytest.mark.parametrize("outcome", Outcome)
def test_without_writes_there_is_nothing_to_take_back(outcome: Outcome) -> None:
    assert undo_plan(outcome, NOTHING) == ()


def test_people_are_told_why_before_their_proposal_closes() -> None:
    plan = undo_plan(Outcome.EXPIRED, PROPOSED)
    assert plan.index(Undo.COMMENT) < plan.index(Undo.CLOSE) < plan.index(Undo.DELETE_BRANCH)
