"""Attempt after attempt: which agent is next, what it is told, what counts, and when to stop. Pure.

A fixer that asks no model does the same on the same tree, so doing it once more is of no use; a model may try
something else as long as the budget lasts. A change that was judged before is not judged again.
"""

from collections.abc import Sequence

from sweeper.model import (
    Allowance,
    AttemptResult,
    FixOutcome,
    ReviewState,
    Spent,
    SweepSettings,
    SweepState,
    Trouble,
    Verdict,
    VerdictKind,
)
from sweeper.policy.limits import DIFF_TOO_LARGE
from sweeper.policy.review import WRITERS
from sweeper.policy.spending import total, used_up

FREE = "autofix"
"""Asks nobody and takes moments: its attempt costs nothing unless it changes something."""
REJECTED = "a human rejected exactly this patch"
_DECIDED = frozenset({FixOutcome.EDITED, FixOutcome.NO_CHANGE})
SHOWN = 200
"""Characters of an earlier reason inside another sentence."""


def spent_in(attempts: Sequence[AttemptResult]) -> Spent:
    """By all of them, cut short ones included; the time is that of the agents."""
    return total(
        attempt.fix.spent.model_copy(update={"seconds": max(attempt.fix.seconds, attempt.fix.spent.seconds)})
        for attempt in attempts
    )


def attempts_left(settings: SweepSettings, attempts: Sequence[AttemptResult]) -> int:
    """How many more the budget has."""
    return max(0, settings.max_attempts - sum(not _is_free(attempt) for attempt in attempts))


def attempts_allowed(settings: SweepSettings, attempts: Sequence[AttemptResult]) -> int:
    """How many there may be in all, those included that cost nothing."""
    return settings.max_attempts + sum(_is_free(attempt) for attempt in attempts)


def _is_free(attempt: AttemptResult) -> bool:
    return attempt.agent == FREE and attempt.patch is None and attempt.fix.outcome is FixOutcome.NO_CHANGE


def chain(state: SweepState) -> tuple[AttemptResult, ...]:
    """The attempts at the failing commit as it is now."""
    return state.attempts[state.chain_from :]


def next_agent(settings: SweepSettings, state: SweepState) -> str:
    """Each agent of the chain has one attempt at a failing commit, whatever it cost; the last one keeps trying."""
    return settings.agent_for(len(chain(state)) + 1)


def bounds(settings: SweepSettings, agent: str) -> Allowance:
    """Of the sweep's budget, what binds this agent: one that asks no model is not held back by what models cost."""
    budget = settings.budgets.sweep
    return Allowance(seconds=budget.seconds) if agent == FREE else budget


def exhausted(settings: SweepSettings, state: SweepState) -> str | None:
    """Why the next attempt cannot be made, in words that name the budget; None: it can."""
    if not attempts_left(settings, state.attempts):
        return "no attempt is left"
    what = used_up(bounds(settings, next_agent(settings, state)), spent_in(state.attempts))
    return what and f"budget of the sweep: {what}"


def is_over(settings: SweepSettings, state: SweepState) -> bool:
    """Whether the last attempt ends the story: fixed, hopeless, the last there may be, or one that only repeats."""
    made, verdict = chain(state), state.attempts[-1].verdict
    is_hopeless = any(finding.name == DIFF_TOO_LARGE for finding in verdict.findings)
    if verdict.kind is VerdictKind.FIXED or is_hopeless or not attempts_left(settings, state.attempts):
        return True
    return len(made) >= len(settings.agents) and _repeats(made)


def _repeats(made: Sequence[AttemptResult]) -> bool:
    """Whether the same agent would go on doing just what it did."""
    last = made[-1]
    if last.fix.trouble is Trouble.NO_PROGRAM:
        return True
    before = made[-2] if len(made) > 1 else None
    if last.fix.spent.model_calls or last.fix.outcome not in _DECIDED:
        return False
    if last.agent == FREE:
        return True
    if before is None or before.agent != last.agent or before.fix.outcome not in _DECIDED:
        return False
    return (before.patch and before.patch.patch_id) == (last.patch and last.patch.patch_id)


def lesson(state: SweepState) -> Verdict | None:
    """What the next attempt is told: what the last checks showed, and why the tries since came to nothing."""
    told: Verdict | None = None
    for attempt in chain(state):
        verdict = attempt.verdict
        if verdict.kind is VerdictKind.FIXED:
            told = None
        elif told is None or verdict.results or verdict.findings:
            told = verdict
        else:
            shown = told.reason.rpartition("; the checks before: ")[2][:SHOWN]
            told = told.model_copy(update={"reason": f"{verdict.reason}; the checks before: {shown}"})
    return told


def known_patches(state: SweepState) -> dict[str, str]:
    """Patch id to why that patch is neither verified nor proposed once more. One that was proved and not shown to
    anybody may come again.
    """
    known: dict[str, str] = {}
    for attempt in chain(state):
        patch, verdict = attempt.patch, attempt.verdict
        if patch and (verdict.kind is not VerdictKind.FIXED or patch.commit in state.pushes):
            said = verdict.reason[:SHOWN] or str(verdict.kind).replace("_", " ")
            known.setdefault(patch.patch_id, f"this is exactly the patch of attempt {attempt.n}: {said}")
    return known | dict.fromkeys(state.rejected, REJECTED)


def without_results(attempts: Sequence[AttemptResult]) -> tuple[AttemptResult, ...]:
    """Which tries there were and what came of them, without every command of every proof."""
    bare = {"results": (), "unchecked": (), "restored": (), "sandbox_held": ()}
    return tuple(
        attempt.model_copy(update={"verdict": attempt.verdict.model_copy(update=bare)}) for attempt in attempts
    )


def rejected_patches(state: SweepState, *, said_no: bool) -> tuple[str, ...]:
    """Ids of patches that a human did not want: all that were shown if the answer was no, else those for which
    somebody who may decide requested changes.
    """
    refused = {
        review.commit_id
        for review in state.reviews
        if review.state is ReviewState.CHANGES_REQUESTED and review.user_type == "User" and review.permission in WRITERS
    }
    shown = state.pushes if said_no else tuple(commit for commit in state.pushes if commit in refused)
    found = (attempt.patch.patch_id for attempt in state.attempts if attempt.patch and attempt.patch.commit in shown)
    return tuple(dict.fromkeys(found))
