"""How much a Python test function asks for: its asserts, by strength, and only those that are reached."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

NOTHING, WEAK, LOOSE, STRONG = range(4)
_STRENGTH = {
    "assertTrue": WEAK,
    "assertFalse": WEAK,
    "assertIsNotNone": WEAK,
    "assertIsInstance": WEAK,
    "assertIn": WEAK,
    "assertNotEqual": WEAK,
    "assertNotIn": LOOSE,
    "assertGreater": LOOSE,
    "assertGreaterEqual": LOOSE,
    "assertLess": LOOSE,
    "assertLessEqual": LOOSE,
    "assertRegex": LOOSE,
    "assertAlmostEqual": LOOSE,
    "assertWarns": LOOSE,
    "assertLogs": LOOSE,
}
_CONTEXTS = (
    "raises",
    "warns",
    "deprecated_call",
    "assertRaises",
    "assertRaisesRegex",
    "assertWarns",
    "assertWarnsRegex",
)
_BROAD = ("Exception", "BaseException", "(Exception,)")
_TOLERANCES = ("abs", "rel", "delta", "atol", "rtol")
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Strength:
    """Asserts by strength, those that a handler may swallow or a condition may skip, and tolerances allowed."""

    counts: Counter[int] = field(default_factory=Counter)
    guarded: int = 0
    cases: int = 1
    tolerance: float = 0.0
    places: int = 1_000
    first_weak: int | None = None

    def at_least(self, strength: int) -> int:
        """How many asserts are at least that strong."""
        return sum(count for level, count in self.counts.items() if level >= strength)


def strength_of(function: Function) -> Strength:
    """What a run of this function checks."""
    found = Strength()
    for decorator in function.decorator_list:
        if ast.unparse(decorator).partition("(")[0].endswith("parametrize") and isinstance(decorator, ast.Call):
            found.cases *= max(_cases(decorator), 0)
    _walk(function.body, found, is_guarded=False)
    return found


def _cases(call: ast.Call) -> int:
    values = (
        call.args[1] if len(call.args) > 1 else next((k.value for k in call.keywords if k.arg == "argvalues"), None)
    )
    return len(values.elts) if isinstance(values, ast.List | ast.Tuple | ast.Set) else 1


def _walk(body: Sequence[ast.stmt], found: Strength, *, is_guarded: bool) -> None:
    for statement in body:
        if _ends(statement):
            return
        if isinstance(statement, Function | ast.ClassDef | ast.Lambda):
            continue  # what is only defined is not run
        _judge(statement, found, is_guarded=is_guarded)
        for inner, guards in _blocks(statement):
            _walk(inner, found, is_guarded=is_guarded or guards)


def _ends(statement: ast.stmt) -> bool:
    """Nothing behind it in its block is reached."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        name = ast.unparse(statement.value.func)
        return name in ("pytest.skip", "pytest.exit", "sys.exit", "os._exit", "self.skipTest", "exit", "quit")
    return isinstance(statement, ast.Return | ast.Raise | ast.Continue | ast.Break)


def _blocks(statement: ast.stmt) -> Iterator[tuple[list[ast.stmt], bool]]:
    """Inner blocks, and whether a failure in them may be lost or they may not run at all."""
    if isinstance(statement, ast.With | ast.AsyncWith):
        yield statement.body, any("suppress(" in ast.unparse(item.context_expr) for item in statement.items)
    elif isinstance(statement, ast.Try | ast.TryStar):
        yield statement.body, any(swallows(handler, "AssertionError", "Exception") for handler in statement.handlers)
        yield from ((block, False) for block in (statement.orelse, statement.finalbody))
        yield from ((handler.body, True) for handler in statement.handlers)
    elif isinstance(statement, ast.If):
        if not _is_constant(statement.test, truth=False):
            yield statement.body, not _is_constant(statement.test, truth=True)
        yield statement.orelse, True
    elif isinstance(statement, ast.For | ast.AsyncFor | ast.While):
        is_never = isinstance(statement, ast.For | ast.AsyncFor) and _is_empty(statement.iter)
        if not is_never and not (isinstance(statement, ast.While) and _is_constant(statement.test, truth=False)):
            yield statement.body, False
        yield statement.orelse, False
    elif isinstance(statement, ast.Match):
        yield from ((case.body, True) for case in statement.cases)


def swallows(handler: ast.ExceptHandler, *names: str) -> bool:
    """Whether a failed assert ends here unheard: caught by one of these names, or by none, and not raised."""
    caught = "BaseException" if handler.type is None else ast.unparse(handler.type)
    return any(name in caught for name in names) and not any(isinstance(node, ast.Raise) for node in ast.walk(handler))


def _is_empty(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.Tuple | ast.Dict) and ast.unparse(node) in ("[]", "()", "{}")


def _is_constant(node: ast.expr, *, truth: bool) -> bool:
    return isinstance(node, ast.Constant) and bool(node.value) is truth


def _judge(statement: ast.stmt, found: Strength, *, is_guarded: bool) -> None:
    for strength, weight, line in _asserts(statement):
        found.counts[strength] += weight
        found.guarded += is_guarded * weight
        if strength <= WEAK and found.first_weak is None:
            found.first_weak = line
    for node in _own(statement):
        if isinstance(node, ast.Call):
            _tolerances(node, found)


def _own(statement: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of a statement without the blocks inside it."""
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.expr | ast.withitem | ast.keyword):
            yield from ast.walk(child)


def _tolerances(call: ast.Call, found: Strength) -> None:
    for keyword in call.keywords:
        if isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, int | float):
            if keyword.arg in _TOLERANCES:
                found.tolerance += keyword.value.value
            elif keyword.arg in ("places", "ndigits"):
                found.places = min(found.places, int(keyword.value.value))
    if ast.unparse(call.func) == "round" and len(call.args) == 2 and isinstance(call.args[1], ast.Constant):
        found.places = min(found.places, call.args[1].value if isinstance(call.args[1].value, int) else 0)


def _asserts(statement: ast.stmt) -> Iterator[tuple[int, int, int]]:
    """(strength, weight, line) of each assert that stands in the statement itself."""
    if isinstance(statement, ast.Assert):
        for part in _parts(statement.test):
            yield expression_strength(part), _weight(part), statement.lineno
        return
    for node in _own(statement):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            if name in _CONTEXTS:
                first = ast.unparse(node.args[0]) if node.args else "Exception"
                yield (WEAK if first in _BROAD else STRONG), 1, node.lineno
            elif name.startswith(("assert", "fail")) and name != "assertion":
                yield _call_strength(name, node), 1, node.lineno


def _parts(test: ast.expr) -> list[ast.expr]:
    return (
        [p for v in test.values for p in _parts(v)]
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)
        else [test]
    )


def _weight(test: ast.expr) -> int:
    """`(a, b) == (1, 2)` is two asserts in one line."""
    sides = [test.left, *test.comparators] if isinstance(test, ast.Compare) else []
    return max([len(side.elts) for side in sides if isinstance(side, ast.Tuple) and side.elts], default=1)


def _call_strength(name: str, call: ast.Call) -> int:
    arguments = [ast.unparse(argument) for argument in call.args[:2]]
    if name == "assertTrue" and call.args:
        return expression_strength(call.args[0])
    if (len(arguments) == 2 and arguments[0] == arguments[1]) or (call.args and _all_constant(call.args[:2])):
        return NOTHING
    if any(argument.endswith(("mock.ANY", "ANY")) for argument in arguments):
        return NOTHING
    return _STRENGTH.get(name, STRONG)


def _all_constant(nodes: Sequence[ast.expr]) -> bool:
    return all(isinstance(node, ast.Constant) for node in nodes)


def expression_strength(test: ast.expr) -> int:
    """How much an asserted expression asks for."""
    if isinstance(test, ast.Constant | ast.Tuple | ast.List | ast.Dict | ast.Lambda | ast.JoinedStr):
        return NOTHING  # a tuple with a message in it is always true
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = expression_strength(test.operand)
        return NOTHING if isinstance(test.operand, ast.Constant) else inner
    if isinstance(test, ast.BoolOp):
        return min(NOTHING if _is_trivial(v) else min(expression_strength(v), LOOSE) for v in test.values)
    if isinstance(test, ast.Compare):
        return _compared(test)
    if isinstance(test, ast.IfExp):
        return min(expression_strength(test.body), expression_strength(test.orelse))
    if isinstance(test, ast.Call) and ast.unparse(test.func) == "bool" and _all_constant(test.args):
        return NOTHING
    return WEAK


def _is_trivial(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and bool(node.value)


def _compared(test: ast.Compare) -> int:
    left, right, operator = ast.unparse(test.left), ast.unparse(test.comparators[0]), test.ops[0]
    if left == right or _all_constant([test.left, test.comparators[0]]) or "mock.ANY" in (left, right):
        return NOTHING
    if isinstance(operator, ast.In | ast.IsNot | ast.NotEq):
        return WEAK
    if isinstance(operator, ast.Gt | ast.GtE | ast.Lt | ast.LtE | ast.NotIn):
        return LOOSE
    if "approx(" in left + right or "round(" in left + right:
        return LOOSE
    return STRONG
