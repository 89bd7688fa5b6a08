"""Which step of the workflow file is which of the job's own record at GitHub.

The record lists every step of the file in its order, skipped ones too, and between them what the runner adds ("Set up
job", "Post ..."). Names are the only link.
"""

import re
from collections.abc import Sequence

from sweeper.errors import Unverifiable
from sweeper.model import JobFacts, StepFacts
from sweeper.policy.planning.evaluation import CLOSE, OPEN, Context, Mark, Scope, fill
from sweeper.policy.planning.workflow_file import WorkflowStep

_EXPRESSION = re.compile(re.escape(OPEN) + r"[^}]*" + re.escape(CLOSE))


def shown(step: WorkflowStep, scope: Scope) -> str:
    """The step's name with its expressions worked out, but for those that name what other steps did."""
    unsettled = Context(rest=Mark.LATER)
    try:
        return fill(step.title, scope.having(env=unsettled, steps=unsettled))
    except Unverifiable:
        return step.title


def matched(names: Sequence[str], facts: JobFacts) -> tuple[StepFacts | None, ...]:
    """For each step of the file its record, in order; None where there is none by that name."""
    found: list[StepFacts | None] = []
    at = 0
    for name in names:
        place = next((n for n in range(at, len(facts.steps)) if is_named(facts.steps[n].name, name)), None)
        found.append(None if place is None else facts.steps[place])
        at = at if place is None else place + 1
    return tuple(found)


def failing_index(names: Sequence[str], facts: JobFacts, records: Sequence[StepFacts | None]) -> int | None:
    """Which step failed; None if that is none of the file's. Raises Unverifiable if it may be one or another."""
    failing = facts.failing_step()
    if failing is None:
        return None
    alike = [n for n, name in enumerate(names) if is_named(failing.name, name)]
    if len(alike) > 1 and None in records:
        raise Unverifiable(f"there are {len(alike)} steps called {failing.name[:80]!r}, and it may be any that failed")
    by_place = next((n for n, record in enumerate(records) if record is failing), None)
    return by_place if by_place is not None and len(alike) > 1 else next(iter(alike), None)


def is_named(recorded: str, name: str) -> bool:
    """Whether a recorded name is this one, which may have expressions that only the run could work out."""
    recorded, name = one_line(recorded), one_line(name)
    if OPEN not in name or recorded == name:
        return recorded == name
    fixed = _EXPRESSION.split(name)
    if not "".join(fixed).removeprefix("Run ").strip():
        return False
    return _runs_through(recorded, fixed)


def one_line(name: str) -> str:
    """Names are compared by their words; those of a file may have line ends."""
    return " ".join(name.split())


def _runs_through(recorded: str, fixed: Sequence[str]) -> bool:
    """The fixed parts follow one another: the first at the start, the last at the end."""
    first, *between, last = fixed
    if not recorded.startswith(first) or not recorded.endswith(last) or len(recorded) < len(first) + len(last):
        return False
    at, end = len(first), len(recorded) - len(last)
    for part in between:
        at = recorded.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True
