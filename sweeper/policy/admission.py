"""Whether a failing run gets a sweep: first from the webhook alone, then from the run as it is read right now.

Rules: never feed on our own branches; never work on a fork's code; leave merge queues alone, their branches are
read-only and vanish (GitHub, "Managing a merge queue"). A commit that is no longer the head of its branch is left to
the head's own run once that says something; while that run is still under way the older failure is the newest there is,
so that a busy branch does not starve its fixes.
"""

from typing import TYPE_CHECKING, Literal

from sweeper.ids import is_our_branch
from sweeper.model import HeadCi, Outcome, RunFacts, Strict

if TYPE_CHECKING:  # workflows import this module; they have no need to load the webhook edge
    from sweeper.events import RunFailed

MERGE_QUEUE_PREFIX = "gh-readonly-queue/"


class EventAdmission(Strict):
    """What a failing run's webhook leads to, with the reason unless it is plainly to start."""

    action: Literal["start", "ring", "ignore"]
    reason: str = ""


class Admission(Strict):
    """The answer to a run as it is now.

    `go` False with an outcome: the sweep ends so. `go` False without one: the run has not ended, so nothing can be
    said yet and the run is to be read again.
    """

    go: bool
    outcome: Outcome | None = None
    reason: str = ""


def admit_event(event: "RunFailed") -> EventAdmission:
    """What to do about a failing run, from its webhook alone.

    A fork's run is started all the same, so that the refusal is on record; only a name in our own namespace never
    starts anything, whoever made the branch.
    """
    if event.head_branch is None:
        return EventAdmission(action="ignore", reason="no_branch: the run is for no branch that could be fixed")
    if is_our_branch(event.head_branch):
        if event.is_fork:
            return EventAdmission(action="ignore", reason="fork: the branch has a name of ours, but is not ours")
        return EventAdmission(action="ring", reason="own_branch: the proposal's own CI failed")
    if event.head_branch.startswith(MERGE_QUEUE_PREFIX):
        return EventAdmission(action="ignore", reason="merge_queue: its branches are read-only and vanish")
    return EventAdmission(action="start")


def admit_run(facts: RunFacts) -> Admission:
    """Whether to begin with a run, from what the API says of it and its branch right now."""
    return _refuse_place(facts) or _refuse_state(facts) or _refuse_moved(facts) or Admission(go=True)


def admit_fix(facts: RunFacts) -> Admission:
    """Whether a fix that was made is still wanted: a head that moved meanwhile and is not green may need it as well."""
    if facts.has_moved and facts.head_ci is HeadCi.GREEN:
        return _refuse_moved(facts) or Admission(go=True)
    return _refuse_place(facts) or _refuse_state(facts) or Admission(go=True)


def _refuse_place(facts: RunFacts) -> Admission | None:
    """Whose code it is: true for good, whatever happens to the run."""
    if facts.is_fork:
        return _no(Outcome.LEFT_TO_HUMAN, f"fork: the code comes from {facts.head_repository or 'a deleted fork'}")
    if is_our_branch(facts.head_branch):
        return _no(Outcome.JOINED, f"own_branch: {facts.head_branch} belongs to a sweep already")
    if facts.head_branch and facts.head_branch.startswith(MERGE_QUEUE_PREFIX):
        return _no(Outcome.LEFT_TO_HUMAN, "merge_queue: its branches are read-only and vanish")
    return None


def _refuse_state(facts: RunFacts) -> Admission | None:
    """What has happened since: a later attempt of the same commit, a deleted branch."""
    if facts.status != "completed":
        return Admission(go=False, reason=f"still_running: the run is {facts.status}")
    if facts.conclusion == "success":
        return _no(Outcome.FLAKY, "green later: the same commit passed without a change")
    if not facts.has_failed:
        return _no(Outcome.CLOSED, f"not_failing: the run's conclusion is {facts.conclusion or 'not known'} now")
    if facts.head_branch is None or facts.branch_head is None:
        return _no(Outcome.CLOSED, f"branch_gone: {facts.head_branch or 'the branch'} does not exist any more")
    return None


_ON_THE_HEAD = {
    HeadCi.GREEN: ", where the workflow passes",
    HeadCi.RED: ", whose own run fails",
    HeadCi.NONE: "",
}


def _refuse_moved(facts: RunFacts) -> Admission | None:
    if not facts.has_moved or facts.head_ci is HeadCi.PENDING:
        return None
    head = (facts.branch_head or "")[:12]
    return _no(Outcome.SUPERSEDED, f"head_moved: {facts.head_branch} is at {head} now{_ON_THE_HEAD[facts.head_ci]}")


def _no(outcome: Outcome, reason: str) -> Admission:
    return Admission(go=False, outcome=outcome, reason=reason)
