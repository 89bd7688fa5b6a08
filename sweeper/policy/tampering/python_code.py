"""What Python code does to its own judge: hooks, startup files, objects that equal everything, results by rote."""

import ast
import re
from collections.abc import Iterator, Sequence

from sweeper.model import Finding
from sweeper.policy.tampering.asserts import Function
from sweeper.policy.tampering.exam import Exam
from sweeper.policy.tampering.places import base, is_conftest
from sweeper.policy.tampering.seen import Seen, reject, show

_HOOK = re.compile(
    r"^pytest_(?!plugins$|configure$|addoption$|generate_tests$|asyncio|make_parametrize_id$|report_header$)\w+"
)
_ANSWERS_ALL = (
    "__eq__",
    "__ne__",
    "__instancecheck__",
    "__contains__",
    "__bool__",
    "__lt__",
    "__gt__",
    "__le__",
    "__ge__",
)
_TOKEN = re.compile(r"[\w.+-]+")


def python_code(files: Sequence[Seen], exam: Exam) -> Iterator[Finding]:
    """Findings about Python that is no test function."""
    for seen in (seen for seen in files if seen.language == "python" and not seen.is_gone):
        if seen.new_tree is None:
            if seen.old_tree is not None and not seen.is_test:
                yield reject("not_python", seen.at(None), "a module is no valid Python any more")
            continue
        if is_conftest(seen.path):
            yield from _conftest(seen)
        if seen.is_test or is_conftest(seen.path):
            yield from _fixtures(seen)
        else:
            yield from _product(seen, exam)
        yield from _objects(seen)


def _conftest(seen: Seen) -> Iterator[Finding]:
    old = _texts(seen.old_tree)
    is_startup = base(seen.path) != "conftest.py"
    for node in seen.new_tree.body if seen.new_tree else ():
        if is_startup or ast.unparse(node) in old:
            continue
        for inner in ast.walk(node):
            name = inner.name if isinstance(inner, Function) else ""
            if _HOOK.match(name) or "hookimpl" in name:
                yield reject(
                    "conftest_hook", seen.at(node.lineno), f"{name} can change which tests run and how they end"
                )
            elif name == "pytest_configure":
                yield show("conftest_hook", seen.at(node.lineno), "pytest_configure changed")
            if isinstance(inner, ast.Name) and inner.id == "pytest_plugins" and isinstance(inner.ctx, ast.Store):
                yield reject(
                    "plugin_added", seen.at(node.lineno), "a plugin can change which tests run and how they end"
                )
    if not is_startup:
        yield show("conftest_changed", seen.path, "what every test is given changed")


def _texts(tree: ast.Module | None) -> set[str]:
    return {ast.unparse(node) for node in tree.body} if tree else set()


def _fixtures(seen: Seen) -> Iterator[Finding]:
    """A fixture for every test that replaces parts, and statements of a module that assign to imported things."""
    old = _texts(seen.old_tree)
    imported = _imported(seen.new_tree)
    for node in seen.new_tree.body if seen.new_tree else ():
        if ast.unparse(node) in old:
            continue
        if isinstance(node, Function) and any("autouse=True" in ast.unparse(d) for d in node.decorator_list):
            text = ast.unparse(node)
            if re.search(r"setattr|patch|\w+\.\w+ = |skip|xfail|_exit", text):
                yield reject("product_patched", seen.at(node.lineno), "every test runs against a replaced part")
            else:
                yield show("fixture_for_all", seen.at(node.lineno), "a fixture that every test gets changed")
        targets = node.targets if isinstance(node, ast.Assign) else []
        for target in (t for t in targets if isinstance(t, ast.Attribute)):
            if ast.unparse(target).partition(".")[0] in imported:
                yield reject(
                    "product_patched", seen.at(node.lineno), f"{ast.unparse(target)[:60]} is replaced for the tests"
                )
        is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        if is_call and re.match(r"setattr\(|mock\.|patch|sys\.modules", ast.unparse(node)):
            yield reject("product_patched", seen.at(node.lineno), "a part of the product is replaced for the tests")


def _imported(tree: ast.Module | None) -> set[str]:
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)] if tree else []
    return {(alias.asname or alias.name).partition(".")[0] for node in nodes for alias in node.names}


def _objects(seen: Seen) -> Iterator[Finding]:
    """Methods by which the tests' asserts are answered, whatever the value is."""
    old = {(name, ast.dump(node)) for name, node in _methods(seen.old_tree)}
    for name, node in _methods(seen.new_tree):
        if node.name in _ANSWERS_ALL and (name, ast.dump(node)) not in old:
            body = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
            is_rote = len(body) == 1 and isinstance(body[0], ast.Return) and isinstance(body[0].value, ast.Constant)
            if is_rote and node.name not in ("__bool__", "__ne__"):
                yield reject(
                    "equals_everything", seen.at(node.lineno), f"{name[:80]} gives one answer to every question"
                )


def _methods(tree: ast.Module | None) -> Iterator[tuple[str, Function]]:
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{f.name}", f) for f in node.body if isinstance(f, Function))


def _functions(tree: ast.Module | None) -> dict[str, Function]:
    found = {node.name: node for node in (tree.body if tree else ()) if isinstance(node, Function)}
    return found | dict(_methods(tree))


def _product(seen: Seen, exam: Exam) -> Iterator[Finding]:
    known = _texts(seen.old_tree)
    for node in seen.new_tree.body if seen.new_tree else ():
        if ast.unparse(node) not in known and _is_exit(node):
            yield reject("early_exit", seen.at(node.lineno), "importing the module ends the process")
    named = {token for line in exam.diagnosis.error_lines for token in _TOKEN.findall(line[:2_000])}
    before = _functions(seen.old_tree)
    for name, function in _functions(seen.new_tree).items():
        old = before.get(name)
        if old is not None and ast.dump(old) != ast.dump(function):
            yield from _by_rote(seen, old, function, named)


def _is_exit(node: ast.stmt) -> bool:
    text = ast.unparse(node)[:200]
    return bool(re.match(r"(sys\.exit|exit|quit|os\._exit)\(|raise SystemExit", text))


def _by_rote(seen: Seen, old: Function, new: Function, named: set[str]) -> Iterator[Finding]:
    """A result that is written down where it used to be worked out, and answers for single inputs."""
    parameters = {a.arg for a in (*new.args.posonlyargs, *new.args.args, *new.args.kwonlyargs)} - {"self", "cls"}
    result = _only_constant(new)
    if result is not None and _only_constant(old) is None and parameters and _uses(old, parameters):
        if str(result) in named and not isinstance(result, bool):
            yield reject(
                "hardcoded_result",
                seen.at(new.lineno),
                f"{new.name[:80]} gives what the failing test expects, for any input",
            )
        else:
            yield show("hardcoded_result", seen.at(new.lineno), f"{new.name[:80]} gives the same for any input")
    had = {ast.dump(n) for n in ast.walk(old) if isinstance(n, ast.If)}
    for node in (n for n in ast.walk(new) if isinstance(n, ast.If) and ast.dump(n) not in had):
        if _is_special(node, parameters):
            yield show("special_case", seen.at(node.lineno), "one input is given its result by rote")


def _only_constant(function: Function) -> object:
    body = [s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if len(body) == 1 and isinstance(body[0], ast.Return) and isinstance(body[0].value, ast.Constant):
        return body[0].value.value
    return None


def _uses(function: Function, names: set[str]) -> bool:
    return any(isinstance(n, ast.Name) and n.id in names for s in function.body for n in ast.walk(s))


def _is_special(node: ast.If, parameters: set[str]) -> bool:
    test = node.test
    if not (isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq | ast.In)):
        return False
    names = {n.id for n in ast.walk(test) if isinstance(n, ast.Name)}
    has_constant = any(isinstance(n, ast.Constant) for n in ast.walk(test))
    returned = node.body[0].value if node.body and isinstance(node.body[0], ast.Return) else None
    return (
        bool(names & parameters)
        and has_constant
        and isinstance(returned, ast.Constant | ast.UnaryOp | ast.Tuple | ast.List | ast.Dict)
    )
