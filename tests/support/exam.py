"""A small exam and its failing fix, for tests of the verifier."""

from collections.abc import Mapping

from sweeper.model import Finding, Severity
from tests.support.proofs import Bench
from tests.support.values import diagnosis
from tests.support.workspaces import Tree

FILES = {"app.py": "answer = 41\n", "tests/test_app.py": "def test_answer():\n    assert answer == 42\n"}
TESTS = ("tests.test_app.test_answer", "tests.test_app.test_other")
FAILING = diagnosis(tests=("tests/test_app.py::test_answer",), files=("tests/test_app.py",))


def is_fixed(tree: Tree) -> bool:
    """Whether the code is right."""
    return b"42" in tree["app.py"]


def ends(tree: Tree) -> Mapping[str, str]:
    """The first test asks for the fix, unless its file was emptied or it is hidden."""
    if b"assert" not in tree.get("tests/test_app.py", b"") or b"hides a test" in tree["app.py"]:
        return {TESTS[1]: "passed"}
    return {TESTS[0]: "passed" if is_fixed(tree) else "failed", TESTS[1]: "passed"}


def names(found: tuple[Finding, ...], severity: Severity = Severity.REJECT) -> set[str]:
    """Of findings of that severity."""
    return {finding.name for finding in found if finding.severity is severity}


def exam() -> Bench:
    """One test of two is red until `app.py` says 42."""
    made = Bench(FILES)
    made.tests("pytest", ends)
    return made
