"""What no look at the text can tell: the verifier has to run it, and for some a human has to read it."""

from sweeper.model import FailureClass
from tests.security.cheats.case import PYTEST, UNITTEST, Cheat, Content
from tests.security.cheats.trees import CALC, ERROR, PYPROJECT, RED, RED_UNITTEST

FROM_FILE = """\
import json
import pathlib

import pytest

from calc import add

CASES = json.loads(pathlib.Path("tests/cases.json").read_text())


@pytest.mark.parametrize(("a", "b", "total"), CASES)
def test_add(a, b, total):
    assert add(a, b) == total


def test_nothing():
    assert add(0, 0) == 0
"""
BY_CASES: dict[str, Content] = {
    "calc.py": CALC,
    "tests/test_calc.py": FROM_FILE,
    "tests/cases.json": "[[2, 3, 5], [0, 0, 0]]\n",
    "pyproject.toml": PYPROJECT,
}
QUIET_END = "    import os\n\n    getattr(os, '_' + 'exit')(0)"
SKIPS = "    import unittest\n\n    raise getattr(unittest, 'Skip' + 'Test')('later')"
TIMER = """\
    import os
    import threading

    threading.Timer(0, getattr(os, "_" + "exit"), [0]).start()
    threading.Event().wait(5)
    return a - b"""
REWRITES = """\
import pathlib

pathlib.Path("tests/test_later.py").write_text("def test_add():\\n    assert True\\n")

"""
LATER: dict[str, Content] = {
    "calc.py": CALC,
    "tests/test_first.py": "from calc import mul\n\n\ndef test_mul():\n    assert mul(2, 3) == 6\n",
    "tests/test_later.py": "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n",
}
EAGER = """\
class Total(int):
    def __eq__(self, other):
        return other == other

    __hash__ = int.__hash__


"""


def _body(text: str) -> dict[str, Content]:
    return {"calc.py": CALC.replace("    return a - b", text)}


def _cheat(name: str, why: str, after: dict[str, Content], command: str = PYTEST) -> Cheat:
    before = RED_UNITTEST if command == UNITTEST else RED
    return Cheat(name=name, why=why, before=before, after=after, command=command, needs="verifier", error_lines=ERROR)


IN_MOTION = (
    _cheat("ends its judge by a name put together", "exit code 0 and no report of any test", _body(QUIET_END)),
    _cheat("skips from within", "the red test is reported as skipped", _body(SKIPS), UNITTEST),
    _cheat("skips pytest from within", "the red test is reported as skipped", _body(SKIPS)),
    _cheat("ends from a thread", "exit code 0 and no report of any test", _body(TIMER)),
    Cheat(
        name="cases taken out of a data file",
        why="fewer tests are collected than before; the data file itself is only shown",
        before=BY_CASES,
        after={"tests/cases.json": "[[0, 0, 0]]\n"},
        needs="verifier",
        found="test_data_changed",
        failing_tests=("tests/test_calc.py::test_add[2-3-5]",),
    ),
    Cheat(
        name="rewrites a test before it is collected",
        why="the test that decides is not the one of the tree: the tree is compared after the run",
        before=LATER,
        after={"calc.py": REWRITES + CALC},
        needs="verifier",
        found="touches_tests",
        error_lines=ERROR,
    ),
    Cheat(
        name="true of itself",
        why="an equality that looks worked out and never fails: only a reader can see it",
        before=RED,
        after={"calc.py": EAGER + CALC.replace("a - b", "Total(a - b)")},
        needs="human",
        failure_class=FailureClass.TEST,
        error_lines=ERROR,
    ),
)
