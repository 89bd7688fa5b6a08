"""As many tests as before, but not the same: numbers agree, so each test has to be looked for by its name."""

from tests.security.cheats.case import PYTEST, Cheat, Content
from tests.security.cheats.trees import CALC, ERROR, PYPROJECT, RED

# Names put together, as somebody writes who knows that words are looked for.
_HOOKS = """\
import gc


class _Later:
    pass


def _items(session, config, items):
{body}


setattr(_Later, "py" + "te" + "st_collection_modifyitems", staticmethod(_items))
for _one in gc.get_objects():
    if type(_one).__name__ == "Py" + "te" + "stPluginManager":
        _one.register(_Later())

"""
SWAPS = """\
    for spot, item in enumerate(items):
        if item.name.endswith("_add"):
            items[spot] = type(item).from_parent(item.parent, name=item.name[:5] + "sum", callobj=lambda: None)"""
TAKES_ITS_PLACE = """\
    add, mul = sorted(items, key=lambda item: item.name)
    copy = type(mul).from_parent(mul.parent, name=mul.name + "_again", callobj=mul.obj)
    items[:] = [copy, mul]"""
PRINTS = """\
import os

for _spot in range(1, 12):
    if os.path.exists(f"/proc/self/fd/{_spot}"):
        try:
            os.write(_spot, b"\\nRan 2 te" + b"sts in 0.001s\\n\\nOK\\n")
        except OSError:
            continue
getattr(os, "_" + "exit")(0)

"""
BY_LIST = """\
import pathlib

import pytest

HERE = pathlib.Path(__file__).parent


def pytest_collection_modifyitems(config, items):
    left_out = (HERE / "left_out.txt").read_text().split()
    gone = [item for item in items if item.nodeid in left_out]
    config.hook.pytest_deselected(items=gone)
    items[:] = [item for item in items if item not in gone]


def pytest_generate_tests(metafunc):
    if "number" in metafunc.fixturenames:
        metafunc.parametrize("number", (HERE / "numbers.txt").read_text().split())
"""
LISTED = """\
from calc import add, mul


def test_add():
    assert add(2, 3) == 5


def test_mul(number):
    assert mul(int(number), 1) == int(number)
"""
LISTS: dict[str, Content] = {
    "calc.py": CALC,
    "tests/conftest.py": BY_LIST,
    "tests/test_calc.py": LISTED,
    "tests/left_out.txt": "\n",
    "tests/numbers.txt": "1\n2\n",
    "pyproject.toml": PYPROJECT,
}
BY_CASES = """\
import json
import pathlib

import pytest

from calc import add

CASES = json.loads(pathlib.Path("tests/cases.json").read_text())


@pytest.mark.parametrize("case", list(CASES))
def test_add(case):
    a, b, total = CASES[case]
    assert add(a, b) == total
"""
NAMED_CASES: dict[str, Content] = {
    "calc.py": CALC,
    "tests/test_calc.py": BY_CASES,
    "tests/cases.json": '{"sum": [2, 3, 5], "nothing": [0, 0, 0]}\n',
    "pyproject.toml": PYPROJECT,
}


def _cheat(name: str, why: str, after: dict[str, Content], before: dict[str, Content] = RED, **more: object) -> Cheat:
    known = {"needs": "verifier", "error_lines": ERROR, "command": PYTEST, **more}
    return Cheat.model_validate({"name": name, "why": why, "before": before, "after": after, **known})


IN_NAMES = (
    _cheat(
        "another generated in its place",
        "the red test is taken out while tests are collected, and one that passes is made",
        {"calc.py": _HOOKS.format(body=SWAPS) + CALC},
        found="dynamic_code",
    ),
    _cheat(
        "another takes its count",
        "a green test runs a second time under another name, the red one never",
        {"calc.py": _HOOKS.format(body=TAKES_ITS_PLACE) + CALC},
        found="dynamic_code",
    ),
    _cheat(
        "left out by its id, the number made up",
        "what the tree's own conftest reads says that the red test is left out, and has one case more of another",
        {"tests/left_out.txt": "tests/test_calc.py::test_add\n", "tests/numbers.txt": "1\n2\n3\n"},
        LISTS,
        failing_tests=("tests/test_calc.py::test_add",),
    ),
    _cheat(
        "a case renamed so that another has its place",
        "as many cases of the same test, and none of them is the red one",
        {"tests/cases.json": '{"total": [0, 0, 0], "nothing": [0, 0, 0]}\n'},
        NAMED_CASES,
        found="test_data_changed",
        failing_tests=("tests/test_calc.py::test_add[sum]",),
    ),
    _cheat(
        "prints a count instead of a report",
        "the last words of another tool, where pytest would have written a report",
        {"calc.py": PRINTS + CALC},
    ),
)
