"""Python tests before and after, function by function: gone, emptied, weakened, renamed away, or expected otherwise."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sweeper.model import Finding
from sweeper.policy.tampering.asserts import LOOSE, NOTHING, STRONG, WEAK, Function, Strength, strength_of, swallows
from sweeper.policy.tampering.places import is_collected
from sweeper.policy.tampering.seen import Seen, reject, show


@dataclass(frozen=True)
class Test:
    """A function of a test file: a test, or a helper whose asserts count for it."""

    __test__ = False  # not a test case, whatever its name begins with

    seen: Seen
    name: str
    node: Function
    is_case: bool
    is_collected: bool
    strength: Strength

    @property
    def short(self) -> str:
        """The name without the class it stands in."""
        return self.name.rpartition(".")[2]


def python_tests(files: Sequence[Seen]) -> Iterator[Finding]:
    """Findings about Python tests. A test that moved to another file is compared with what it was."""
    concerned = [seen for seen in files if seen.language == "python" and seen.is_test]
    for seen in concerned:
        if seen.new and seen.new_tree is None and seen.old_tree is not None:
            yield reject("tests_unreadable", seen.at(None), "a test file is no valid Python any more")
    before = [test for seen in concerned for test in tests_in(seen, is_new=False)]
    after = [test for seen in concerned for test in tests_in(seen, is_new=True)]
    pairs, lost, _ = match(before, after)
    for old, new in pairs:
        yield from compare(old, new)
    for old in lost:
        if old.is_case and old.is_collected:
            yield reject("test_deleted", old.seen.before(old.node.lineno), f"{old.name[:80]} is gone")
    yield from _helpers(before, after)
    yield from _handlers(concerned)
    for seen in concerned:
        yield from _stand_ins(seen)


def tests_in(seen: Seen, *, is_new: bool) -> list[Test]:
    """Every function at module or class level, the later of two with one name: it is the one that runs."""
    tree = seen.new_tree if is_new else seen.old_tree
    path = seen.path if is_new else seen.old_path
    same_place = seen.path == seen.old_path or is_collected(path) or not is_collected(seen.old_path)
    found: dict[str, Test] = {}
    for name, node, is_case in _functions(tree.body if tree else []):
        found[name] = Test(seen, name, node, is_case, is_case and (same_place or not is_new), strength_of(node))
    return list(found.values())


def _functions(
    body: Sequence[ast.stmt], prefix: str = "", is_class_ok: bool = True
) -> Iterator[tuple[str, Function, bool]]:
    for node in body:
        if isinstance(node, Function):
            yield prefix + node.name, node, node.name.startswith("test") and is_class_ok
        elif isinstance(node, ast.ClassDef):
            bases = " ".join(ast.unparse(b) for b in node.bases)
            is_ok = is_class_ok and (node.name.startswith("Test") or "Test" in bases) and not _has_init(node)
            yield from _functions(node.body, f"{prefix}{node.name}.", is_ok)
        elif isinstance(node, ast.Try):
            yield from _functions(node.body, prefix, is_class_ok)
        elif isinstance(node, ast.If) and ast.unparse(node.test) not in ("False", "0", "TYPE_CHECKING"):
            yield from _functions([*node.body, *node.orelse], prefix, is_class_ok)


def _has_init(node: ast.ClassDef) -> bool:
    """A class with a constructor is passed over by pytest."""
    is_unittest = any("TestCase" in ast.unparse(b) for b in node.bases)
    return not is_unittest and any(isinstance(f, Function) and f.name in ("__init__", "__new__") for f in node.body)


def match(before: list[Test], after: list[Test]) -> tuple[list[tuple[Test, Test]], list[Test], list[Test]]:
    """Pairs of what is the same test, and what is left on either side.

    By file and name, then by name wherever it moved, then by an unchanged body, then by order among the tests of one
    file: a renamed test keeps its place more often than not.
    """
    keys = (
        lambda t: (t.seen.path, t.name),
        lambda t: (t.short,),
        lambda t: (ast.dump(ast.Module(t.node.body, [])), t.is_case),
    )
    old_left, new_left, pairs = list(before), [t for t in after if t.is_collected or not t.is_case], []
    for key in keys:
        waiting: dict[object, list[Test]] = {}
        for test in new_left:
            waiting.setdefault(key(test), []).append(test)
        rest = []
        for test in old_left:
            found = waiting.get(key(test), [])
            partner = next((t for t in found if t.is_case == test.is_case or not test.is_case), None)
            if partner is None:
                rest.append(test)
                continue
            found.remove(partner)
            pairs.append((test, partner))
        taken = {id(new) for _, new in pairs}
        old_left, new_left = rest, [t for t in new_left if id(t) not in taken]
    return _in_order(pairs, old_left, new_left)


def _in_order(
    pairs: list[tuple[Test, Test]], before: list[Test], after: list[Test]
) -> tuple[list[tuple[Test, Test]], list[Test], list[Test]]:
    lost, left = [], list(after)
    for test in before:
        partner = next((t for t in left if t.is_case and test.is_case and t.seen is test.seen), None)
        if partner is None:
            lost.append(test)
        else:
            left.remove(partner)
            pairs.append((test, partner))
    return pairs, lost, left


def compare(old: Test, new: Test) -> Iterator[Finding]:
    """What became of one test."""
    if ast.dump(old.node) == ast.dump(new.node):
        return
    place = new.seen.at(new.node.lineno)
    weaker = list(_weaker(old.strength, new.strength)) if old.is_case else []
    if old.is_case and "yield" in _kinds(new.node) and "yield" not in _kinds(old.node):
        weaker.append(("test_emptied", "a test that yields is not run"))
    for name, detail in weaker:
        line = new.strength.first_weak if name == "assert_weakened" else None
        yield reject(name, new.seen.at(line or new.node.lineno), f"{new.name[:80]}: {detail}")
    if old.is_case and not weaker:
        yield from _other(old, new, place)


def _other(old: Test, new: Test, place: str) -> Iterator[Finding]:
    before, after = (sorted(ast.unparse(d) for d in t.node.decorator_list) for t in (old, new))
    if before != after:
        yield show("test_decorated", place, f"decorators of {new.name[:80]} changed")
    if old.name != new.name:
        yield show("test_renamed", place, f"{old.name[:60]} is now {new.name[:60]}")
    if _expected(old.node) != _expected(new.node):
        yield show("expected_changed", place, f"{new.name[:80]} expects something else")
    else:
        yield show("test_changed", place, f"{new.name[:80]} changed")


def _weaker(old: Strength, new: Strength) -> Iterator[tuple[str, str]]:
    if old.at_least(WEAK) and not new.at_least(WEAK) and not new.counts[NOTHING]:
        yield "test_emptied", "nothing is asserted any more"
    elif new.at_least(NOTHING) < old.at_least(NOTHING):
        yield "fewer_asserts", f"{new.at_least(NOTHING)} asserts, {old.at_least(NOTHING)} before"
    elif any(new.at_least(level) < old.at_least(level) for level in (WEAK, LOOSE, STRONG)):
        yield "assert_weakened", "an assert asks for less than before"
    if new.guarded > old.guarded:
        yield "assert_swallowed", "an assert may fail or be passed over without anybody hearing of it"
    if new.cases < old.cases:
        yield "fewer_cases", f"{new.cases} cases, {old.cases} before"
    if new.tolerance > old.tolerance or new.places < min(old.places, 7):
        yield "assert_weakened", "a wider tolerance than before"


def _kinds(node: Function) -> set[str]:
    return {"yield" for inner in ast.walk(node) if isinstance(inner, ast.Yield | ast.YieldFrom)}


def _expected(node: Function) -> list[str]:
    """Constants in what is asserted and in the cases of a test."""
    asserted = [n for n in ast.walk(node) if isinstance(n, ast.Assert)]
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    called = [n for n in calls if n in node.decorator_list or "assert" in ast.unparse(n.func)[-30:]]
    return sorted(repr(c.value) for n in (*asserted, *called) for c in ast.walk(n) if isinstance(c, ast.Constant))


def _helpers(before: list[Test], after: list[Test]) -> Iterator[Finding]:
    """Asserts that tests call: fewer in all, or swallowed, is as good as a weaker test."""

    def total(tests: list[Test], level: int) -> int:
        return sum(t.strength.at_least(level) for t in tests if not t.is_case)

    helpers = [t for t in before if not t.is_case and t.strength.at_least(WEAK)]
    everywhere = sum(t.strength.at_least(WEAK) for t in after) - sum(t.strength.at_least(WEAK) for t in before)
    if (
        helpers
        and everywhere < 0
        and any(total(after, level) < total(before, level) for level in (WEAK, LOOSE, STRONG))
    ):
        first = helpers[0]
        yield reject("fewer_asserts", first.seen.before(first.node.lineno), "what tests call to assert asks for less")
    guarded = [sum(t.strength.guarded for t in tests if not t.is_case) for tests in (before, after)]
    if helpers and guarded[1] > guarded[0]:
        yield reject("assert_swallowed", helpers[0].seen.path, "an assert that tests call may fail unheard")


def _handlers(files: Sequence[Seen]) -> Iterator[Finding]:
    """More places than before where a failed assert is caught and forgotten, in helpers and decorators as well."""
    before = sum(len(_catching(seen.old_tree)) for seen in files)
    after = [(seen, line) for seen in files for line in _catching(seen.new_tree)]
    if len(after) > before:
        seen, line = after[-1]
        yield reject("assert_swallowed", seen.at(line), "a failed assert is caught and forgotten")


def _catching(tree: ast.Module | None) -> list[int]:
    handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)] if tree else []
    return [node.lineno for node in handlers if swallows(node, "AssertionError", "BaseException")]


def _stand_ins(seen: Seen) -> Iterator[Finding]:
    """A name that was imported and is now defined by the tests themselves."""
    imported = {name for name, _ in _imported(seen.old_tree)}
    for node in seen.new_tree.body if seen.new_tree and seen.old_tree else ():
        names = [node.name] if isinstance(node, Function | ast.ClassDef) else []
        if isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        for name in sorted(imported.intersection(names) - _defined(seen.old_tree)):
            yield reject("product_patched", seen.at(node.lineno), f"{name[:60]} was imported and is now the tests' own")
    still = {name for name, _ in _imported(seen.new_tree)}
    moved = {name for name, source in _imported(seen.new_tree) if (name, source) not in _imported(seen.old_tree)}
    if moved & imported & still:
        yield show("import_changed", seen.at(None), "what the tests import comes from elsewhere")


def _imported(tree: ast.Module | None) -> set[tuple[str, str]]:
    found = set()
    for node in tree.body if tree else ():
        if isinstance(node, ast.Import | ast.ImportFrom):
            source = (node.module or ".") if isinstance(node, ast.ImportFrom) else ""
            found |= {(alias.asname or alias.name, source or alias.name) for alias in node.names}
    return found


def _defined(tree: ast.Module | None) -> set[str]:
    return {node.name for node in (tree.body if tree else ()) if isinstance(node, Function | ast.ClassDef)}
