"""Working out expressions as far as their contexts are known.

A part of a context is known now, known when the steps run (LATER), or never (NEVER: secrets, what other jobs made).
What is left for later keeps its expression, with everything known filled in.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from sweeper.errors import Unverifiable
from sweeper.policy.planning.functions import call, joined
from sweeper.policy.planning.syntax import Call, Chain, Index, Literal, Name, Node, Not, parse, shortened, write
from sweeper.policy.planning.values import MOST_TEXT, Value, are_equal, is_less, is_true, number, text

OPEN, CLOSE = "${{", "}}"
_SO_FAR = {"success": True, "always": True, "failure": False, "cancelled": False}
"""Up to the step that failed, all had gone well."""


class Mark(Enum):
    """Why a part of a context has no value."""

    LATER = "later"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Context:
    """A context by its keys in lower case; `rest` stands for all others, None: they are null."""

    known: Mapping[str, "Value | Context | Mark"] = field(default_factory=dict)
    rest: Mark | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """The contexts an expression may name. `files` LATER: `hashFiles` is answered when the steps run."""

    contexts: Mapping[str, Context]
    files: Mark = Mark.LATER

    def having(self, **contexts: Context) -> "Scope":
        """The same with these contexts in place of its own."""
        return Scope({**self.contexts, **contexts}, self.files)


@dataclass(frozen=True, slots=True)
class _Later:
    node: Node


_Result = Literal | _Later | Context | Mark


def evaluate(expression: str, scope: Scope) -> Value:
    """The value of what stands between `${{` and `}}`. Raises Unverifiable, naming it, if it is not known now."""
    result = _fold(parse(expression), scope)
    if isinstance(result, Literal):
        return result.value
    if isinstance(result, _Later):
        raise Unverifiable(f"the expression '{shortened(expression)}' is not known before the job runs")
    raise Unverifiable(f"the expression '{shortened(expression)}' cannot be known here")


def fill(source: str, scope: Scope) -> str:
    """The text with its expressions worked out; what is for later stays as one, so that filling it again is as good.

    Raises Unverifiable naming an expression that can never be known, and for texts over MOST_TEXT. What is filled in
    is quoted: it is never taken for an expression, whatever it looks like.
    """
    return _each(source, lambda expression: _filled(expression, scope))


def settle(source: str, scope: Scope) -> str:
    """The text itself, with nothing left for later. Raises Unverifiable as `fill`, and for what is not known yet."""
    return _each(source, lambda expression: text(evaluate(expression, scope)))


def _each(source: str, worked_out: Callable[[str], str]) -> str:
    if OPEN not in source:
        return source
    parts, length = [], 0
    for piece, is_expression in split(source):
        parts.append(worked_out(piece) if is_expression else piece)
        length += len(parts[-1])
        if length > MOST_TEXT:
            raise Unverifiable(f"a text with expressions has more than {MOST_TEXT // 1024} KiB")
    return joined(parts)


def _filled(expression: str, scope: Scope) -> str:
    result = _fold(parse(expression), scope)
    if isinstance(result, Literal):
        known = text(result.value)
        return f"{OPEN} {write(Literal(known))} {CLOSE}" if _may_open(known) else known
    if isinstance(result, _Later):
        return f"{OPEN} {write(result.node)} {CLOSE}"
    raise Unverifiable(f"the expression '{shortened(expression)}' cannot be known here")


def _may_open(known: str) -> bool:
    """Whether it could begin an expression, also together with what stands beside it."""
    return OPEN in known or known.startswith("{") or known.endswith(("$", "${"))


def literally(known: str) -> str:
    """The text that `settle` makes exactly this of: what looks like an expression is quoted."""
    return known.replace(OPEN, f"{OPEN} '{OPEN}' {CLOSE}")


def split(source: str) -> list[tuple[str, bool]]:
    """A text as pieces, the insides of `${{ }}` marked True; quotes are heeded. Raises Unverifiable if one is open."""
    pieces, at = [], 0
    while (start := source.find(OPEN, at)) >= 0:
        end = _end_of(source, start + len(OPEN))
        pieces += [(source[at:start], False), (source[start + len(OPEN) : end].strip(), True)]
        at = end + len(CLOSE)
    return [*pieces, (source[at:], False)]


def _end_of(source: str, at: int) -> int:
    while True:
        end, quote = source.find(CLOSE, at), source.find("'", at)
        if end < 0:
            raise Unverifiable(f"an expression that begins with {shortened(source[at:], 40)!r} has no end")
        if not 0 <= quote < end:
            return end
        at = source.find("'", quote + 1) + 1
        if not at:
            raise Unverifiable(f"an expression with {shortened(source[quote:], 40)!r} has no end")


def _fold(node: Node, scope: Scope) -> _Result:
    match node:
        case Literal():
            return node
        case Name(name):
            return scope.contexts.get(name, Mark.NEVER)
        case Index(base, key):
            return _fold_index(base, key, scope)
        case Call(function, arguments):
            return _fold_call(function, arguments, scope)
        case Not(operand):
            result = _fold(operand, scope)
            if isinstance(result, Literal):
                return Literal(not is_true(result.value))
            return _Later(Not(result.node)) if isinstance(result, _Later) else Mark.NEVER
        case Chain("&&" | "||", operands):
            return _fold_choice(node.operator, operands, scope)
        case Chain(operator, (left, right)):
            return _fold_comparison(operator, _fold(left, scope), _fold(right, scope))
    return Mark.NEVER


def _fold_index(base: Node, key: Node | None, scope: Scope) -> _Result:
    place, wanted = _fold(base, scope), None if key is None else _fold(key, scope)
    if isinstance(place, Mark) or not isinstance(wanted, Literal):
        return Mark.NEVER
    if isinstance(place, _Later):
        return _Later(Index(place.node, wanted))
    found = _of_context(place, wanted) if isinstance(place, Context) else _of_value(place.value, wanted.value)
    if found is Mark.LATER:
        return _Later(Index(base, wanted))
    return found if isinstance(found, Context | Mark) else Literal(found)


def _of_context(context: Context, key: Literal) -> "Value | Context | Mark":
    return context.known.get(text(key.value).lower(), context.rest)


def _of_value(value: Value, key: Value) -> Value:
    if isinstance(value, dict):
        wanted = text(key).lower()
        return next((item for name, item in value.items() if name.lower() == wanted), None)
    at = number(key)
    if isinstance(value, list) and 0 <= at < len(value):
        return value[int(at)]
    return None


def _fold_call(function: str, arguments: tuple[Node, ...], scope: Scope) -> _Result:
    if function in _SO_FAR and not arguments:
        return Literal(_SO_FAR[function])
    results = [_fold(argument, scope) for argument in arguments]
    known = [result.value for result in results if isinstance(result, Literal)]
    if any(isinstance(result, Context | Mark) for result in results):
        return Mark.NEVER
    if function == "hashfiles":
        return _Later(Call(function, _nodes(results))) if scope.files is Mark.LATER else Mark.NEVER
    if len(known) < len(results):
        return _Later(Call(function, _nodes(results)))
    return Literal(call(function, known))


def _nodes(results: list[_Result]) -> tuple[Node, ...]:
    return tuple(
        result.node if isinstance(result, _Later) else result
        for result in results
        if isinstance(result, _Later | Literal)
    )


def _fold_choice(operator: str, operands: tuple[Node, ...], scope: Scope) -> _Result:
    """`&&` and `||` give one of their operands, and look no further than they must."""
    waiting: list[Node] = []
    for n, operand in enumerate(operands, start=1):
        result = _fold(operand, scope)
        if isinstance(result, Context | Mark):
            return Mark.NEVER
        decides = isinstance(result, Literal) and is_true(result.value) == (operator == "||")
        if isinstance(result, _Later) or waiting or n == len(operands) or decides:
            if not waiting and isinstance(result, Literal):
                return result
            waiting.append(result.node if isinstance(result, _Later) else result)
        if decides:
            break
    return _Later(waiting[0] if len(waiting) == 1 else Chain(operator, tuple(waiting)))


def _fold_comparison(operator: str, left: _Result, right: _Result) -> _Result:
    if isinstance(left, Context | Mark) or isinstance(right, Context | Mark):
        return Mark.NEVER
    if isinstance(left, _Later) or isinstance(right, _Later):
        return _Later(Chain(operator, _nodes([left, right])))
    return Literal(_compare(operator, left.value, right.value))


def _compare(operator: str, left: Value, right: Value) -> bool:
    match operator:
        case "==":
            return are_equal(left, right)
        case "!=":
            return not are_equal(left, right)
        case "<":
            return is_less(left, right)
        case ">":
            return is_less(right, left)
        case "<=":
            return is_less(left, right) or are_equal(left, right)
    return is_less(right, left) or are_equal(left, right)
