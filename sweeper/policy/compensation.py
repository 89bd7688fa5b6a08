"""What is undone, by outcome. The writes a sweep intended are the list; this says which of them do not stay.

| outcome                       | pull request                       | branch                | check run       |
|-------------------------------|------------------------------------|-----------------------|-----------------|
| merged                        | merged                             | deleted               | success         |
| left to a human               | kept, with a sentence              | kept                  | neutral         |
| escalated from a review       | kept as a draft, with a sentence   | kept                  | action required |
| escalated otherwise           | labelled, closed with a sentence   | deleted if still ours | action required |
| any other                     | closed with a sentence             | deleted if still ours | neutral         |
"""

from enum import StrEnum
from typing import Literal

from sweeper.model import Ending, Outcome, SweepState

NEEDS_HUMAN = "sweeper:needs-human"
"""The label to filter for what was escalated."""


class Undo(StrEnum):
    """One step back. Each is safe to repeat and touches only what is still ours."""

    COMMENT = "comment"
    LABEL = "label"
    DRAFT = "draft"
    CLOSE = "close"
    DELETE_BRANCH = "delete_branch"
    CONCLUDE_CHECK = "conclude_check"


def undo_plan(ending: Ending, state: SweepState) -> tuple[Undo, ...]:
    """In the order to run: what was written last goes first, and a proposal never ends without saying why.

    A push counts from the moment it was intended: a sweep cancelled in the middle of one cannot know how it ended.
    """
    plan = list(_of_proposal(ending)) if state.proposal else []
    if state.pushes and not _keeps_branch(ending, state):
        plan.append(Undo.DELETE_BRANCH)
    if state.checked_sha:
        plan.append(Undo.CONCLUDE_CHECK)
    return tuple(plan)


def _of_proposal(ending: Ending) -> tuple[Undo, ...]:
    match ending.outcome:
        case Outcome.MERGED:
            return ()
        case Outcome.LEFT_TO_HUMAN:
            return (Undo.COMMENT,)
        case Outcome.ESCALATED if ending.keeps_proposal:
            return (Undo.COMMENT, Undo.LABEL, Undo.DRAFT)
        case Outcome.ESCALATED:
            return (Undo.COMMENT, Undo.LABEL, Undo.CLOSE)
    return (Undo.COMMENT, Undo.CLOSE)


def _keeps_branch(ending: Ending, state: SweepState) -> bool:
    """What people still look at, or have pushed to, stays."""
    return ending.outcome is Outcome.LEFT_TO_HUMAN or (state.proposal is not None and ending.keeps_proposal)


def conclusion_of(outcome: Outcome) -> Literal["success", "neutral", "action_required"]:
    """What the check run says in the end."""
    if outcome is Outcome.MERGED:
        return "success"
    return "action_required" if outcome is Outcome.ESCALATED else "neutral"
