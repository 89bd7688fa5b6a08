"""The environment of a job's steps: workflow, job and step, the nearest wins, and what steps add while they run."""

from collections.abc import Mapping

from sweeper.errors import Unverifiable
from sweeper.policy.planning.evaluation import CLOSE, OPEN, Context, Mark, Scope, evaluate, fill
from sweeper.policy.planning.matrix import only_expression
from sweeper.policy.planning.syntax import Chain, Index, Literal, Name, shortened, write
from sweeper.policy.planning.values import Value, text
from sweeper.policy.planning.workflow_file import WHOLE

MOST_NAMES = 250
_FILE = "GITHUB_ENV"


class Environment:
    """What steps find in their environment. Raises Unverifiable for a value that cannot be known, naming it."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._shared: dict[str, str] = {}
        self._scripts = ""

    def holds(self, env: Mapping[str, str]) -> None:
        """The `env` of the workflow, then that of the job: for all steps."""
        try:
            self._shared |= written_out(env, self._scope.having(env=_context(self._shared, "")))
        except Unverifiable as problem:
            raise Unverifiable(f"it {problem}") from problem

    def passed(self, command: str) -> None:
        """A script ran; what it puts into GITHUB_ENV holds for those after it."""
        if _FILE in command:
            self._scripts += command

    def of_step(self, own: Mapping[str, str], scope: Scope) -> dict[str, str]:
        """The whole environment of a step. What an earlier script may have changed is asked for when it runs."""
        shared = {name: self._changed(name, value) for name, value in self._shared.items()}
        return {**shared, **written_out(own, scope)}

    def context(self, own: Mapping[str, str], scope: Scope) -> Context:
        """`env` in expressions: names nobody has given yet may be given by a script.

        Nothing is raised for a value that cannot be known: the step may never run, or nobody may ask for it.
        """
        shared = _context(self._shared, self._scripts)
        inner = scope.having(env=shared)
        return Context(
            {**shared.known, **{name.lower(): _own(value, inner) for name, value in own.items()}}, Mark.LATER
        )

    def _changed(self, name: str, value: str) -> str:
        if name not in self._scripts or OPEN in value:
            return value
        later = Index(Name("env"), Literal(name))
        return f"{OPEN} {write(Chain('||', (later, Literal(value))))} {CLOSE}"


def written_out(env: Mapping[str, str], scope: Scope) -> dict[str, str]:
    """Names and values of one `env:`."""
    found: dict[str, str] = {}
    if len(env) > MOST_NAMES:
        raise Unverifiable(f"has more than {MOST_NAMES} names in its environment")
    for name, value in env.items():
        try:
            found |= _whole(value, scope) if name == WHOLE else {name: fill(value, scope)}
        except Unverifiable as problem:
            what = "all of its environment at once" if name == WHOLE else f"{shortened(name, 60)} in its environment"
            raise Unverifiable(f"sets {what}, but {problem}") from problem
    return found


def _whole(value: str, scope: Scope) -> dict[str, str]:
    """`env: ${{ fromJSON(...) }}`."""
    expression = only_expression(value)
    mapping = None if expression is None else evaluate(expression, scope)
    if not isinstance(mapping, dict):
        raise Unverifiable("that is no mapping")
    return {name: text(item) for name, item in mapping.items()}


def _own(value: str, scope: Scope) -> str | Mark:
    try:
        filled = fill(value, scope)
    except Unverifiable:
        return Mark.NEVER
    return Mark.LATER if OPEN in filled else filled


def _context(env: Mapping[str, str], scripts: str) -> Context:
    known: dict[str, Value | Context | Mark] = {}
    for name, value in env.items():
        known[name.lower()] = Mark.LATER if name in scripts or OPEN in value else value
    return Context(known, rest=Mark.LATER)
