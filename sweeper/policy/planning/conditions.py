"""`if:` of a step, and scripts that only say something.

Source: GitHub's "Workflow syntax", `jobs.<job_id>.steps[*].if`: an expression with or without `${{ }}`.
"""

import re

from sweeper.errors import Unverifiable
from sweeper.policy.planning.evaluation import OPEN, Scope, evaluate
from sweeper.policy.planning.matrix import only_expression
from sweeper.policy.planning.syntax import shortened
from sweeper.policy.planning.values import is_true

_ECHO = re.compile(r"\s*(?:echo\b[^|&;<>`(\\]*|#.*)?", re.DOTALL)
_COMMAND = "::"


def holds(condition: str, scope: Scope) -> bool:
    """Whether a step with that condition runs in a job that has gone well so far. Raises Unverifiable naming it."""
    source = condition.strip()
    if not source:
        return True
    alone = only_expression(source)
    if alone is None and OPEN in source:
        raise Unverifiable(f"has the condition '{shortened(source)}', which is no single expression")
    try:
        return is_true(evaluate(alone or source, scope))
    except Unverifiable as problem:
        raise Unverifiable(f"has the condition '{shortened(source)}', but {problem}") from problem


def may_hold(condition: str, scope: Scope) -> bool:
    """The same where what is not known may well be so."""
    try:
        return holds(condition, scope)
    except Unverifiable:
        return True


def only_speaks(script: str) -> bool:
    """Whether it does nothing but `echo` to the log: nothing is written, started, or said to the runner."""
    return _COMMAND not in script and all(_ECHO.fullmatch(line) for line in script.splitlines())
