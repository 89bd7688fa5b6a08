"""What a diagnosis leads to, before anything is made: a fix, one more run of the same jobs, or a human.

| action      | course                                                                       |
|-------------|------------------------------------------------------------------------------|
| fix         | a fix is made, if there is a check to prove it by; else unverifiable          |
| rerun_once  | the failed jobs run again, once by the attempt counter, and are watched       |
| wait        | the same after one poll interval: what is down may be up again by then        |
| tell_human  | the sweep ends with what it found, said on the failing commit                 |

Somebody else's open pull request that fixes it goes before all of them.
"""

from enum import StrEnum

from sweeper.model import Action, CheckPlan, Diagnosis, FailureClass, Outcome, Strict


class Way(StrEnum):
    """Which way a sweep goes on."""

    MAKE = "make"
    RERUN = "rerun"
    RERUN_LATER = "rerun_later"
    END = "end"


class Course(Strict):
    """The way and why. `outcome`: how the sweep ends if that is all there is to do."""

    way: Way
    outcome: Outcome = Outcome.ESCALATED
    reason: str = ""


_BY_CLASS = {
    FailureClass.FLAKY: Outcome.FLAKY,
    FailureClass.INFRASTRUCTURE: Outcome.INFRASTRUCTURE,
    FailureClass.OUTSIDE_CODE: Outcome.OUTSIDE_CODE,
}
_WAYS = {Action.RERUN_ONCE: Way.RERUN, Action.WAIT: Way.RERUN_LATER}


def course(diagnosis: Diagnosis, plan: CheckPlan) -> Course:
    """How to go on with what is known now."""
    if (other := diagnosis.background.other_fix) is not None:
        reason = f"pull request {other.number} ({other.url}) seems to be the fix: {other.why}"
        return Course(way=Way.END, outcome=Outcome.ALREADY_FIXED_ELSEWHERE, reason=reason)
    may_be_code = diagnosis.action is Action.FIX or diagnosis.failure_class is FailureClass.UNKNOWN
    if may_be_code and plan.unverifiable is not None:
        return Course(way=Way.END, outcome=Outcome.UNVERIFIABLE, reason=plan.unverifiable)
    if diagnosis.action is Action.FIX:
        return Course(way=Way.MAKE)
    outcome = _BY_CLASS.get(diagnosis.failure_class, Outcome.ESCALATED)
    return Course(way=_WAYS.get(diagnosis.action, Way.END), outcome=outcome, reason=_reasons(diagnosis))


def flaky_here(run_attempt: int) -> Course:
    """The same tree was red and green when it was to be shown: as if the diagnosis had said so."""
    way = Way.RERUN if run_attempt == 1 else Way.END
    return Course(way=way, outcome=Outcome.FLAKY, reason="flaky: the same tree passes and fails here")


def _reasons(diagnosis: Diagnosis) -> str:
    return f"{diagnosis.failure_class}: " + ("; ".join(diagnosis.reasons[:3]) or "no reason was found")
