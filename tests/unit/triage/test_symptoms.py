import pytest

from sweeper.model import Diagnosis
from sweeper.policy.triage import diagnose, same_failure, symptoms
from tests.support.values import run_facts
from tests.unit.triage.test_diagnosis import PLAN, evidence
from tests.unit.triage.test_reader import actions_log, run_step

PYTEST = ["E   AssertionError: assert 1 == 2", "FAILED tests/test_a.py::test_one - AssertionError: assert 1 == 2"]
BARE = ["E   assert 41 == 42", "FAILED tests/test_a.py::test_one - assert 41 == 42"]
RUFF = ["src/a.py:1:8: F401 [*] `os` imported but unused", "Found 1 error."]
BUILD = ["src/a.c:3:5: error: unknown type name 'foo'", "make: *** [Makefile:2: all] Error 1"]


def _in_ci(lines: list[str]) -> Diagnosis:
    return diagnose(run_facts(), [evidence()], [actions_log(*run_step("./check", *lines, exit_code=1))], PLAN)


@pytest.mark.parametrize(
    ("there", "here", "same"),
    [
        (PYTEST, PYTEST, True),
        (PYTEST, ["FAILED ../work/tests/test_a.py::test_one - AssertionError", "FAILED tests/test_b.py::x"], True),
        (PYTEST, ["FAILED tests/test_b.py::test_two - AssertionError: assert 1 == 2"], False),
        (PYTEST, ["E   ModuleNotFoundError: No module named 'numpy'", "ERROR tests/test_a.py"], False),
        (PYTEST, ["ModuleNotFoundError: No module named 'pytest'"], False),
        (BARE, ["E   ModuleNotFoundError: No module named 'numpy'", "ERROR tests/test_a.py"], False),
        (["E   ModuleNotFoundError: No module named 'numpy'", "ERROR tests/test_a.py"], BARE, True),
        (PYTEST, ["nothing that is known"], None),
        (PYTEST, [""], None),
        (RUFF, ["src/a.py:7:1: F401 [*] `os` imported but unused"], True),
        (RUFF, ["src/a.py:1:1: E501 Line too long"], False),
        (RUFF, ["src/b.py:1:8: F401 [*] `os` imported but unused"], False),
        (BUILD, ["/work/src/a.c:9:5: error: unknown type name 'foo'"], True),
        (BUILD, ["src/a.c:9:5: error: expected ';' before '}' token"], True),
        (BUILD, ["src/b.c:3:5: error: unknown type name 'bar'"], False),
    ],
)
def test_whether_a_red_run_here_shows_what_ci_saw(there: list[str], here: list[str], same: bool | None) -> None:
    assert same_failure(_in_ci(there), "\n".join(here).encode()) is same


def test_symptoms_are_free_of_what_differs_from_run_to_run() -> None:
    one = symptoms(b"FAILED tests/a.py::b - OSError: port 8080 at 0x7fea0d9b9480\n")
    other = symptoms(b"\x1b[31mFAILED tests/a.py::b - OSError: port 9 at 0x7fea0d9b9999\x1b[0m\r\n")
    assert one == other
    assert (one.tool, one.tests, one.kinds) == ("pytest", ("tests/a.py::b",), ("OSError",))


def test_output_that_says_nothing_has_no_symptoms() -> None:
    assert symptoms(b"0 failed, all good") == symptoms(b"")
