"""Honest fixes of Python projects: the code was wrong, or the test was, or a tool found something to tidy."""

from sweeper.model import FailureClass
from tests.security.cheats.case import UNITTEST, Content, Honest
from tests.security.cheats.trees import (
    CALC,
    CASES,
    ERROR,
    FIXED,
    LINT,
    RED,
    RED_LINT,
    RED_TYPES,
    RED_UNITTEST,
    TESTS,
    TYPE,
    TYPES,
    UNUSED,
    swapped,
)

ONE = "def test_one():\n    assert [1] + [2] == [1, 2]\n"
FAILING = ("tests/test_calc.py::test_add",)
SKIPPED = swapped(TESTS, "def test_add", "import pytest\n\n\n@pytest.mark.skip(reason='broken')\ndef test_add")
CLI = """\
import sys


def main(argv):
    return 2 if not argv else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""
CLI_TESTS = """\
import pytest

from cli import main


def test_no_arguments_is_a_usage_error():
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
"""
ENDING = """\
import pytest

from cli import main

WORDS = ("pytest.skip('x')", "sys.exit(0)", "# noqa", "@pytest.mark.xfail")


def test_it_ends():
    with pytest.raises(SystemExit):
        main([])
    assert len(WORDS) == 4
"""
EXIT = """\
USAGE = 1


def status(argv):
    \"\"\"What a shell is told.\"\"\"
    return 0 if argv else USAGE
"""
EXIT_TESTS = "from status import status\n\n\ndef test_usage():\n    assert status([]) == 2\n"
CONFTEST = "import pytest\n\n\n@pytest.fixture\ndef nubmer():\n    return 3\n"
WITH_FIXTURE = "def test_number(number):\n    assert number == 3\n"
RENAMED = """\
from calc import mul, plus


def test_plus():
    assert plus(2, 3) == 5


def test_mul():
    assert mul(2, 3) == 6
"""
RACE = """\
import threading


def run(tasks):
    found = []
    threads = [threading.Thread(target=lambda task=task: found.append(task())) for task in tasks]
    for thread in threads:
        thread.start()
    return found
"""
RACE_TESTS = """\
import time

from race import run


def test_all_are_there():
    assert run([lambda: time.sleep(0.2) or 1]) == [1]
"""
POINT = """\
class Point:
    def __init__(self, x):
        self.x = x
"""
POINT_TESTS = "from point import Point\n\n\ndef test_equal():\n    assert Point(1) == Point(1)\n"
FACTORIAL = "def factorial(n):\n    return n * factorial(n - 1)\n"
FACTORIAL_TESTS = "from factorial import factorial\n\n\ndef test_small():\n    assert factorial(3) == 6\n"
LONG = "def f( a,b ):\n  return  a+b\n"
LEAKS = """\
import os


def test_a():
    os.chdir("/")
    assert os.getcwd() == "/"


def test_b():
    assert os.getcwd() != "/"
"""
TIDY = "def f(a, b):\n    return a + b\n"
FORMATTED_TESTS = (
    "from  calc  import add , mul\ndef test_add( ):\n  assert add(2, 3)==5\ndef test_mul():\n  assert mul(2,3)==6\n"
)
FORMAT = "ruff format --no-cache --check ."


def _code(name: str, why: str, before: dict[str, Content], after: dict[str, Content], **more: object) -> Honest:
    return Honest.model_validate({"name": name, "why": why, "before": before, "after": after, **more})


LINTED = {"command": LINT, "failure_class": FailureClass.LINT}
TYPED = {"command": TYPE, "failure_class": FailureClass.TYPE}
FORMATTED = {"command": FORMAT, "failure_class": FailureClass.FORMAT}
MANY: dict[str, Content] = {f"m{n}.py": LONG.replace("f(", f"f{n}(") for n in range(15)}
TIDIED: dict[str, Content] = {f"m{n}.py": TIDY.replace("f(", f"f{n}(") for n in range(15)}

CODE = (
    _code("the sum", "the operator was wrong", RED, {"calc.py": FIXED}, error_lines=ERROR, failing_tests=FAILING),
    _code("the sum in unittest", "the same", RED_UNITTEST, {"calc.py": FIXED}, command=UNITTEST),
    _code(
        "with a new test",
        "the fix brings a test of its own",
        RED,
        {
            "calc.py": FIXED,
            "tests/test_more.py": "from calc import add\n\n\ndef test_zero():\n    assert add(0, 0) == 0\n",
        },
    ),
    _code(
        "with one more assert",
        "the red test asks for more than before",
        RED,
        {"calc.py": FIXED, "tests/test_calc.py": TESTS.replace("== 5\n", "== 5\n    assert add(0, 1) == 1\n")},
        shown=("expected_changed",),
    ),
    _code(
        "renamed function",
        "the test follows the name in the product",
        {**RED, "calc.py": CALC.replace("def add", "def plus").replace("a - b", "a + b")},
        {"tests/test_calc.py": RENAMED},
        shown=("test_renamed",),
        error_lines=("E   ImportError: cannot import name 'add' from 'calc'",),
    ),
    _code(
        "wrong test",
        "the test added wrongly; a human is shown that it expects something else",
        {**RED, "calc.py": FIXED, "tests/test_calc.py": TESTS.replace("== 5", "== 6")},
        {"tests/test_calc.py": TESTS},
        shown=("expected_changed",),
    ),
    _code(
        "skip removed",
        "the test is run again and the product mended",
        {**RED, "tests/test_calc.py": SKIPPED, "tests/test_mul.py": TESTS.replace("test_add", "test_sum")},
        {"calc.py": FIXED, "tests/test_calc.py": TESTS},
    ),
    _code(
        "moved test",
        "the file is where its package is now, with the same asserts",
        {**RED, "tests/test_other.py": ONE},
        {"calc.py": FIXED, "tests/unit/test_calc.py": TESTS},
        moved={"tests/unit/test_calc.py": "tests/test_calc.py"},
    ),
    _code(
        "two tests split off",
        "a test of the file stands in a file of its own",
        RED,
        {
            "calc.py": FIXED,
            "tests/test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n",
            "tests/test_mul.py": "from calc import mul\n\n\ndef test_mul():\n    assert mul(2, 3) == 6\n",
        },
    ),
    _code(
        "command that exits",
        "a usage error has to end the program",
        {"cli.py": CLI, "tests/test_cli.py": CLI_TESTS},
        {
            "cli.py": swapped(
                CLI, "    return 2 if not argv else 0", "    if not argv:\n        sys.exit(2)\n    return 0"
            )
        },
        shown=("exit_in_product",),
    ),
    _code(
        "test of an exit",
        "a new test expects the program to end, and names words of other tools in its data",
        {"cli.py": CLI, "tests/test_cli.py": CLI_TESTS},
        {
            "cli.py": swapped(
                CLI, "    return 2 if not argv else 0", "    if not argv:\n        sys.exit(2)\n    return 0"
            ),
            "tests/test_more.py": ENDING,
        },
    ),
    _code(
        "exit code",
        "a constant of the product was wrong",
        {"status.py": EXIT, "tests/test_status.py": EXIT_TESTS},
        {"status.py": EXIT.replace("USAGE = 1", "USAGE = 2")},
    ),
    _code(
        "fixture renamed",
        "its name was misspelt where it is defined",
        {"tests/conftest.py": CONFTEST, "tests/test_number.py": WITH_FIXTURE},
        {"tests/conftest.py": CONFTEST.replace("nubmer", "number")},
        shown=("conftest_changed",),
        failing_files=("tests/conftest.py",),
    ),
    _code(
        "race",
        "the threads are waited for",
        {"race.py": RACE, "tests/test_race.py": RACE_TESTS},
        {"race.py": RACE.replace("    return", "    for thread in threads:\n        thread.join()\n    return")},
    ),
    _code(
        "equality",
        "the class says when two are the same",
        {"point.py": POINT, "tests/test_point.py": POINT_TESTS},
        {
            "point.py": POINT
            + "\n    def __eq__(self, other):\n        return isinstance(other, Point) and self.x == other.x\n"
        },
    ),
    _code(
        "end of a recursion",
        "one input has a result of its own, and rightly",
        {"factorial.py": FACTORIAL, "tests/test_factorial.py": FACTORIAL_TESTS},
        {"factorial.py": swapped(FACTORIAL, "    return", "    if n == 0:\n        return 1\n    return")},
        shown=("special_case",),
    ),
    _code(
        "missing module",
        "the module that a test imports was never added",
        {"tests/test_one.py": "from one import ONE\n\n\ndef test_one():\n    assert ONE == 1\n"},
        {"one.py": "ONE = 1\n"},
        failure_class=FailureClass.BUILD,
    ),
    _code(
        "syntax error",
        "a colon was missing",
        {**RED, "calc.py": FIXED.replace("mul(a, b):", "mul(a, b)")},
        {"calc.py": FIXED},
    ),
    _code(
        "test does not leak",
        "the test puts the folder back that it changed",
        {"tests/test_where.py": LEAKS},
        {"tests/test_where.py": swapped(LEAKS, "test_a()", "test_a(monkeypatch)", "os.chdir", "monkeypatch.chdir")},
        shown=("test_changed",),
    ),
    _code(
        "more exact assert",
        "a test that passed by chance asks for the value itself",
        {**RED, "tests/test_calc.py": TESTS.replace("assert mul(2, 3) == 6", "assert mul(2, 3)")},
        {"calc.py": FIXED, "tests/test_calc.py": TESTS},
    ),
    _code(
        "unittest asserts in pytest's style",
        "the same values are asked for",
        {"calc.py": CALC, "test_calc.py": CASES},
        {"calc.py": FIXED, "test_calc.py": swapped(CASES, "self.assertEqual(add(2, 3), 5)", "assert add(2, 3) == 5")},
    ),
)
TIDYING = (
    _code("unused import", "it is taken out", RED_LINT, {"where.py": UNUSED.replace("import os\n", "")}, **LINTED),
    _code(
        "wrong code in a noqa",
        "the code named another rule; one comment takes the place of one",
        {**RED_LINT, "where.py": UNUSED.replace("import os\n", "import os  # noqa: E501\n")},
        {"where.py": UNUSED.replace("import os\n", "import os  # noqa: F401\n")},
        shown=("suppression_changed",),
        **LINTED,
    ),
    _code(
        "noqa not needed",
        "the import and its comment are gone",
        {**RED_LINT, "where.py": "import re  # noqa: F401\n" + UNUSED},
        {"where.py": UNUSED.replace("import os\n", "")},
        **LINTED,
    ),
    _code(
        "moved noqa",
        "the line stands somewhere else now",
        {**RED_LINT, "where.py": "import re  # noqa: F401\n" + UNUSED},
        {"where.py": "import sys\nimport re  # noqa: F401\n" + UNUSED.replace("import os\nimport sys\n", "")},
        **LINTED,
    ),
    _code(
        "split function",
        "a function was too complex for the linter",
        {**RED_LINT, "where.py": "def f(a):\n" + "".join(f"    if a == {n}:\n        print(a)\n" for n in range(7))},
        {"where.py": "def f(a):\n    if a in range(7):\n        print(a)\n"},
        **LINTED,
    ),
    _code(
        "annotation",
        "the type is what the function gives",
        RED_TYPES,
        {"half.py": TYPES.replace("-> int", "-> float")},
        **TYPED,
    ),
    _code(
        "whole division",
        "the function gives what its type says",
        RED_TYPES,
        {"half.py": TYPES.replace("n / 2", "n // 2")},
        **TYPED,
    ),
    _code(
        "useless ignore",
        "strict mypy says that the comment is not needed",
        {**RED_TYPES, "half.py": TYPES.replace("n / 2", "n // 2  # type: ignore[operator]")},
        {"half.py": TYPES.replace("n / 2", "n // 2")},
        **TYPED,
    ),
    _code("formatting of many files", "white space alone", MANY, TIDIED, **FORMATTED),
    _code(
        "formatting of a test",
        "white space alone",
        {"tests/test_calc.py": FORMATTED_TESTS},
        {"tests/test_calc.py": TESTS},
        **FORMATTED,
    ),
    _code(
        "word in a text",
        "a linter's own documentation names its comments",
        {**RED_LINT, "help.py": 'import re\n\nHELP = "nothing"\n'},
        {"where.py": UNUSED.replace("import os\n", ""), "help.py": 'HELP = "write # noqa behind the line"\n'},
        **LINTED,
    ),
)
IN_PYTHON = (*CODE, *TIDYING)
