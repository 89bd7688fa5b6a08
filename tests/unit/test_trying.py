"""Attempt after attempt, as tables of what was made so far."""

from collections.abc import Sequence

import pytest

from sweeper.model import (
    Allowance,
    AttemptResult,
    Budgets,
    Finding,
    FixOutcome,
    FixReport,
    Review,
    ReviewState,
    Severity,
    Spent,
    SweepSettings,
    SweepState,
    Trouble,
    Verdict,
    VerdictKind,
)
from sweeper.policy.limits import DIFF_TOO_LARGE
from sweeper.policy.trying import (
    REJECTED,
    attempts_allowed,
    attempts_left,
    exhausted,
    is_over,
    known_patches,
    lesson,
    next_agent,
    rejected_patches,
    spent_in,
)
from tests.support import values

CHAIN = SweepSettings(agents=("autofix", "command", "llm"), max_attempts=3)
SAW = values.check_result(1)


def made(
    n: int,
    agent: str,
    patch: str | None = None,
    kind: VerdictKind = VerdictKind.NOT_FIXED,
    *,
    outcome: FixOutcome | None = None,
    calls: int = 0,
    **verdict: object,
) -> AttemptResult:
    """An attempt; a patch is named by one letter, which is its commit's, too."""
    ended = outcome or (FixOutcome.EDITED if patch else FixOutcome.NO_CHANGE)
    report = FixReport(agent=agent, outcome=ended, seconds=2.0, spent=Spent(model_calls=calls))
    left = values.patch(commit=patch * 40, patch_id=patch * 40) if patch else None
    judged = Verdict.model_validate({"kind": kind, "reason": f"reason {n}", **verdict})
    return AttemptResult(n=n, agent=agent, fix=report, patch=left, verdict=judged)


def state(*attempts: AttemptResult, **changes: object) -> SweepState:
    return values.sweep_state(attempts=attempts, **changes)


NOTHING = made(1, "autofix")
FORMATTED = made(1, "autofix", "a")


@pytest.mark.parametrize(
    ("attempts", "agent", "left", "allowed"),
    [
        ([], "autofix", 3, 3),
        ([NOTHING], "command", 3, 4),
        ([FORMATTED], "command", 2, 3),
        ([made(1, "autofix", outcome=FixOutcome.FAILED)], "command", 2, 3),
        ([NOTHING, made(2, "command")], "llm", 2, 4),
        ([NOTHING, made(2, "command"), made(3, "llm", "b"), made(4, "llm", "c")], "llm", 0, 4),
        ([made(1, "autofix", outcome=FixOutcome.CANCELLED)], "command", 2, 3),
    ],
    ids=["first", "had nothing to offer", "formatted", "failed", "each has one", "the last keeps trying", "cut short"],
)
def test_the_place_in_the_chain_is_one_count_and_the_budget_another(
    attempts: Sequence[AttemptResult], agent: str, left: int, allowed: int
) -> None:
    now = state(*attempts)
    assert next_agent(CHAIN, now) == agent
    assert (attempts_left(CHAIN, attempts), attempts_allowed(CHAIN, attempts)) == (left, allowed)


def test_at_a_newer_failing_commit_the_chain_begins_anew_and_the_budget_does_not() -> None:
    now = state(FORMATTED, made(2, "command", "b"), chain_from=2)
    assert (next_agent(CHAIN, now), attempts_left(CHAIN, now.attempts), lesson(now)) == ("autofix", 1, None)
    assert known_patches(now) == {}


ONE = SweepSettings(agents=("command",), max_attempts=9)
TOO_LARGE = Finding(name=DIFF_TOO_LARGE, place="", severity=Severity.REJECT)


@pytest.mark.parametrize(
    ("settings", "attempts", "over"),
    [
        (ONE, [made(1, "command", "a", VerdictKind.FIXED)], True),
        (ONE, [made(1, "command", "a", findings=(TOO_LARGE,))], True),
        (ONE, [made(1, "command", "a")], False),
        (ONE, [made(1, "command", "a"), made(2, "command", "b")], False),
        (ONE, [made(1, "command", "a"), made(2, "command", "a")], True),
        (ONE, [made(1, "command"), made(2, "command")], True),
        (ONE, [made(1, "command"), made(2, "command", "a"), made(3, "command")], False),
        (ONE, [made(1, "command", calls=3), made(2, "command", calls=3)], False),
        (ONE, [made(1, "command", "a", calls=1), made(2, "command", "a", calls=1)], False),
        (ONE, [made(n, "command", outcome=FixOutcome.TIMED_OUT) for n in (1, 2)], False),
        (SweepSettings(agents=("autofix",)), [NOTHING], True),
        (SweepSettings(agents=("autofix",)), [FORMATTED], True),
        (SweepSettings(agents=("autofix",)), [made(1, "autofix", outcome=FixOutcome.TIMED_OUT)], False),
        (CHAIN, [NOTHING], False),
        (CHAIN, [FORMATTED, made(2, "command", "a")], False),
        (CHAIN, [FORMATTED, made(2, "command", "b"), made(3, "llm", "c", calls=5)], True),
        (CHAIN, [NOTHING, made(2, "command", "b"), made(3, "llm", "b", calls=5)], False),
    ],
    ids=[
        "fixed", "hopeless", "one more", "another try", "the same patch", "nothing twice", "nothing, but not in a row",
        "a model may think of something", "a model may give the same", "no word on what it would do",
        "no fixer knows it", "a fixer does the same again", "a fixer did not finish", "the next agent's turn",
        "the next agent though it repeats", "no attempt left", "what cost nothing is not counted",
    ],
)  # fmt: skip
def test_the_story_goes_on_while_something_else_may_come_of_it(
    settings: SweepSettings, attempts: Sequence[AttemptResult], over: bool
) -> None:
    assert is_over(settings, state(*attempts)) is over


def bounded(*agents: str, **bounds: object) -> SweepSettings:
    return SweepSettings(agents=agents, budgets=Budgets(sweep=Allowance.model_validate(bounds)))


@pytest.mark.parametrize(
    ("settings", "attempts", "why"),
    [
        (bounded("llm"), [made(1, "llm", calls=999)], None),
        (bounded("llm", model_calls=5), [made(1, "llm", calls=4)], None),
        (bounded("llm", model_calls=5),
         [made(1, "llm", calls=4), made(2, "llm", outcome=FixOutcome.CANCELLED, calls=1)],
         "budget of the sweep: 5 model calls used up (5 used)"),
        (bounded("llm", "autofix", model_calls=5), [made(1, "llm", calls=9)], None),
        (bounded("llm", "autofix", seconds=2), [made(1, "llm")],
         "budget of the sweep: 2 s of agents' time used up (2 s used)"),
        (SweepSettings(agents=("llm",), max_attempts=1), [made(1, "llm")], "no attempt is left"),
    ],
    ids=["no bound", "one left", "cut short counts", "asks no model", "time binds everybody", "attempts"],
)  # fmt: skip
def test_a_budget_that_is_used_up_is_named(
    settings: SweepSettings, attempts: Sequence[AttemptResult], why: str | None
) -> None:
    assert exhausted(settings, state(*attempts)) == why


def test_agents_time_is_what_ran_and_counted_once() -> None:
    report = FixReport(agent="llm", outcome=FixOutcome.FAILED, seconds=7.0, spent=Spent(model_calls=2, seconds=5.0))
    both = [values.attempt(1, fix=report), made(2, "command")]
    assert spent_in(both) == Spent(model_calls=2, seconds=9.0)


@pytest.mark.parametrize(
    ("attempts", "kind", "reason"),
    [
        ([made(1, "command", "a", results=(SAW,))], VerdictKind.NOT_FIXED, "reason 1"),
        ([made(1, "command", "a", VerdictKind.TAMPERED, findings=(TOO_LARGE,)), made(2, "llm"), made(3, "llm")],
         VerdictKind.TAMPERED, "reason 3; the checks before: reason 1"),
        ([made(1, "command", "a", results=(SAW,)), made(2, "llm"), made(3, "llm", "b", results=(SAW,))],
         VerdictKind.NOT_FIXED, "reason 3"),
        ([made(1, "autofix"), made(2, "command")], VerdictKind.NOT_FIXED, "reason 2; the checks before: reason 1"),
    ],
    ids=["the last verdict", "what the checks showed is not lost", "newer checks", "no checks yet"],
)  # fmt: skip
def test_the_next_attempt_is_told_what_the_last_checks_showed(
    attempts: Sequence[AttemptResult], kind: VerdictKind, reason: str
) -> None:
    told = lesson(state(*attempts))
    assert told is not None
    assert (told.kind, told.reason) == (kind, reason)
    assert told.results == next((one.verdict.results for one in reversed(attempts) if one.verdict.results), ())


def test_a_proof_is_no_lesson() -> None:
    assert lesson(state(made(1, "llm"), made(2, "llm", "a", VerdictKind.FIXED))) is None


def test_a_patch_that_was_judged_or_shown_or_rejected_is_known() -> None:
    shown = made(2, "llm", "b", VerdictKind.FIXED, reason="")
    now = state(made(1, "llm", "a"), shown, made(3, "llm", "c", VerdictKind.FIXED), made(4, "llm", "a"), made(5, "llm"))
    now = now.model_copy(update={"pushes": ("b" * 40,), "rejected": ("e" * 40,)})
    assert known_patches(now) == {
        "a" * 40: "this is exactly the patch of attempt 1: reason 1",
        "b" * 40: "this is exactly the patch of attempt 2: fixed",
        "e" * 40: REJECTED,
    }


ANN = values.review(ReviewState.CHANGES_REQUESTED, commit_id="a" * 40, permission="write")


@pytest.mark.parametrize(
    ("review", "said_no", "rejected"),
    [
        (ANN, True, ("a" * 40, "b" * 40)),
        (ANN, False, ("a" * 40,)),
        (ANN.model_copy(update={"permission": "read"}), False, ()),
        (ANN.model_copy(update={"user_type": "Bot"}), False, ()),
        (ANN.model_copy(update={"state": ReviewState.APPROVED}), False, ()),
    ],
    ids=["a no is for all that was shown", "changes requested", "without a right to decide", "a bot", "approved"],
)
def test_what_a_human_did_not_want_is_remembered(review: Review, said_no: bool, rejected: tuple[str, ...]) -> None:
    both = (made(1, "llm", "a", VerdictKind.FIXED), made(2, "llm", "b", VerdictKind.FIXED), made(3, "llm", "c"))
    now = state(*both, pushes=("a" * 40, "b" * 40), reviews=(review,))
    assert rejected_patches(now, said_no=said_no) == rejected


def test_an_agent_whose_program_is_not_here_is_not_started_again() -> None:
    without = made(1, "command", outcome=FixOutcome.FAILED)
    gone = without.fix.model_copy(update={"trouble": Trouble.NO_PROGRAM})
    alone = SweepSettings(agents=("command",), max_attempts=3)
    assert not is_over(alone, state(without))
    assert is_over(alone, state(without.model_copy(update={"fix": gone})))
