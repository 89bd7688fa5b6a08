"""What is undone, by outcome. The writes a sweep intended are the list; this says which of them do not stay.

| outcome                          | pull request           | branch                  |
|----------------------------------|------------------------|-------------------------|
| merged                           | merged                 | deleted                 |
| left to a human                  | kept, with a sentence  | kept                    |
| any other                        | closed with a sentence | deleted if still ours   |
"""

from enum import StrEnum

from sweeper.model import Outcome, SweepState


class Undo(StrEnum):
    """One step back. Each is safe to repeat and touches only what is still ours."""

    COMMENT = "comment"
    CLOSE = "close"
    DELETE_BRANCH = "delete_branch"


def undo_plan(outcome: Outcome, state: SweepState) -> tuple[Undo, ...]:
    """In the order to run: say why first, so that nobody finds a closed proposal without a reason.

    A push counts from the moment it was intended: a sweep cancelled in the middle of one cannot know how it ended.
    """
    pushed = bool(state.pushes)
    if outcome is Outcome.MERGED:
        return (Undo.DELETE_BRANCH,) if pushed else ()
    if outcome is Outcome.LEFT_TO_HUMAN:
        return (Undo.COMMENT,) if state.proposal else ()
    plan: list[Undo] = []
    if state.proposal:
        plan += [Undo.COMMENT, Undo.CLOSE]
    if pushed:
        plan.append(Undo.DELETE_BRANCH)
    return tuple(plan)
