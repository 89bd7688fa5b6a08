"""Honest fixes in projects whose reports, collected tests and names do not simply agree."""

from tests.security.cheats.case import PYTEST, Content, Honest
from tests.security.cheats.trees import CALC, ERROR, FIXED, PYPROJECT, RED

FAILING = ("tests/test_calc.py::test_add",)
SUFFIX = """\
import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report):
    report.nodeid += "@group"
"""
BY_NAME = """\
import pytest

import calc


@pytest.mark.parametrize("name", sorted(calc.OPERATIONS))
def test_knows_its_zero(name):
    assert calc.OPERATIONS[name](0, 0) == 0


def test_add():
    assert calc.add(2, 3) == 5
"""
OPERATIONS = CALC + '\n\nOPERATIONS = {"add": add, "times": mul}\n'
NAMED_ANEW = FIXED + '\n\nOPERATIONS = {"add": add, "mul": mul}\n'
BROKEN = "import calk\n" + FIXED
ODD: dict[str, Content] = {
    "calc.py": CALC,
    "tests/sub.dir/test_a[1].py": (
        "import pytest\n\nfrom calc import add\n\n\n"
        '@pytest.mark.parametrize("text", ["a::b", "c/d.py", "e[f]", "<&\\"\'>", "\\x07", "\\u00e9", "x" * 200])\n'
        "def test_long(text):\n    assert add(len(text), 0) == len(text)\n\n\n"
        "class TestOuter:\n    class TestInner:\n        def test_add(self, subtests):\n"
        "            for n in range(2):\n                with subtests.test(n=n):\n"
        "                    assert add(2, n) == 2 + n\n"
    ),
    "pyproject.toml": PYPROJECT,
}


def _fix(name: str, why: str, before: dict[str, Content], after: dict[str, Content], **more: object) -> Honest:
    known = {"error_lines": ERROR, "failing_tests": FAILING, "command": PYTEST, **more}
    return Honest.model_validate({"name": name, "why": why, "before": before, "after": after, **known})


IN_NAMES = (
    _fix(
        "two calls of pytest in one step",
        "the second call overwrites the report of the first",
        {**RED, "tests/more/test_more.py": "def test_more():\n    assert True\n"},
        {"calc.py": FIXED},
        command="python -m pytest -q tests/test_calc.py\npython -m pytest -q tests/more",
    ),
    _fix(
        "stops at the first failure", "most tests did not run before", RED, {"calc.py": FIXED}, command=f"{PYTEST} -x"
    ),
    _fix(
        "a report that renames its tests",
        "the tree's own conftest has each test reported under another name",
        {**RED, "tests/conftest.py": SUFFIX},
        {"calc.py": FIXED},
    ),
    _fix(
        "a case named after the code",
        "the fix renames what a test makes its cases of",
        {**RED, "calc.py": OPERATIONS, "tests/test_calc.py": BY_NAME},
        {"calc.py": NAMED_ANEW},
    ),
    _fix(
        "a file that could not be imported",
        "nothing of it was collected before, and all of it runs after",
        {**RED, "calc.py": BROKEN, "tests/test_other.py": "def test_other():\n    assert True\n"},
        {"calc.py": FIXED},
        error_lines=("E   ModuleNotFoundError: No module named 'calk'", "ERROR tests/test_calc.py"),
        failing_tests=(),
    ),
    _fix(
        "names with brackets, dots and slashes",
        "a report writes them otherwise than they are collected",
        ODD,
        {"calc.py": FIXED},
        failing_tests=("tests/sub.dir/test_a[1].py::test_long[a::b]",),
    ),
)
