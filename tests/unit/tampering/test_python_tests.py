import ast
from typing import cast

import pytest

from sweeper.model import Severity
from sweeper.policy.tampering.asserts import LOOSE, NOTHING, STRONG, WEAK, Function, strength_of
from tests.unit.tampering.changes import case, names, of, rejected

PATH = "tests/test_a.py"


def function(body: str, decorator: str = "") -> Function:
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    (node,) = ast.parse(f"{decorator}\ndef test_a():\n{lines}\n").body
    return cast(Function, node)


@pytest.mark.parametrize(
    ("statement", "strength"),
    [
        ("assert True", NOTHING),
        ("assert (f() == 1, 'no')", NOTHING),
        ("assert f() == f()", NOTHING),
        ("assert 1 == 1", NOTHING),
        ("assert f() == 1 or True", NOTHING),
        ("self.assertEqual(f(), f())", NOTHING),
        ("self.assertTrue(True)", NOTHING),
        ("assert f()", WEAK),
        ("assert not f()", WEAK),
        ("assert f() is not None", WEAK),
        ("assert 'x' in f()", WEAK),
        ("self.assertIn('x', f())", WEAK),
        ("with pytest.raises(Exception): f()", WEAK),
        ("assert f() > 1", LOOSE),
        ("assert f() == pytest.approx(1)", LOOSE),
        ("assert f() == 1", STRONG),
        ("assert f() is True", STRONG),
        ("self.assertEqual(f(), 1)", STRONG),
        ("self.assertTrue(f() == 1)", STRONG),
        ("with pytest.raises(ValueError): f()", STRONG),
    ],
)
def test_an_assert_is_as_strong_as_what_it_can_tell_apart(statement: str, strength: int) -> None:
    assert dict(strength_of(function(statement)).counts) == {strength: 1}


@pytest.mark.parametrize(
    "body",
    [
        "return\nassert f() == 1",
        "raise ValueError\nassert f() == 1",
        "pytest.skip('x')\nassert f() == 1",
        "if False:\n    assert f() == 1",
        "for _ in ():\n    assert f() == 1",
        "while 0:\n    assert f() == 1",
        "def inner():\n    assert f() == 1",
        "x = lambda: f() == 1",
    ],
)
def test_what_is_never_reached_asks_for_nothing(body: str) -> None:
    assert strength_of(function(body)).counts.total() == 0


def test_two_asserts_in_one_tuple_count_as_two() -> None:
    assert strength_of(function("assert (f(), g()) == (1, 2)")).counts[STRONG] == 2
    assert (
        rejected(
            PATH,
            "def test_a():\n    assert f() == 1\n    assert g() == 2\n",
            "def test_a():\n    assert (f(), g()) == (1, 2)\n",
        )
        == set()
    )


def test_a_handler_that_raises_again_swallows_nothing() -> None:
    kept = "try:\n    assert f() == 1\nexcept AssertionError:\n    print(1)\n    raise"
    lost = "try:\n    assert f() == 1\nexcept AssertionError:\n    print(1)"
    assert (strength_of(function(kept)).guarded, strength_of(function(lost)).guarded) == (0, 1)


def test_cases_of_parametrize_are_multiplied() -> None:
    both = "@pytest.mark.parametrize('a', [1, 2])\n@pytest.mark.parametrize('b', (1, 2, 3))"
    assert strength_of(function("assert f() == 1", both)).cases == 6


ONE = "def test_a():\n    assert f(1) == 2\n\n\ndef test_b():\n    assert f(2) == 3\n"


@pytest.mark.parametrize(
    ("after", "shown"),
    [
        (ONE.replace("f(1)", "g(1)"), {"test_changed"}),
        (ONE.replace("== 2", "== 5"), {"expected_changed"}),
        (ONE.replace("test_a", "test_first"), {"test_renamed", "test_changed"}),
        (ONE.replace("def test_a", "@fast\ndef test_a"), {"test_decorated", "test_changed"}),
        (ONE + "\n\ndef test_c():\n    assert f(3) == 4\n", set()),
        (ONE.replace("    assert f(1) == 2", "    assert f(1) == 2  # why"), set()),
        ("import os\n" + ONE.replace("\n\n\n", "\n\n"), set()),
    ],
)
def test_a_change_that_asks_for_no_less_is_shown(after: str, shown: set[str]) -> None:
    assert names(of(PATH, ONE, after)) == shown
    assert rejected(PATH, ONE, after) == set()


def test_a_finding_names_file_and_line() -> None:
    places = {f.name: f.place for f in of(PATH, ONE, ONE.replace("assert f(2) == 3", "assert f(2)"))}
    assert places == {"assert_weakened": f"{PATH}:6"}


def test_a_test_that_moved_is_compared_with_what_it_was() -> None:
    moved = case({PATH: ONE}, {PATH: None, "tests/unit/test_b.py": ONE})
    weaker = case({PATH: ONE}, {PATH: None, "tests/unit/test_b.py": ONE.replace(" == 3", "")})
    assert (moved.rejected_for(), weaker.rejected_for()) == (set(), {"assert_weakened"})


def test_a_test_file_that_is_no_python_any_more_is_rejected() -> None:
    assert "tests_unreadable" in rejected(PATH, ONE, "def test_a(:\n")


def test_a_helper_outside_of_tests_is_nobodys_test() -> None:
    assert rejected("checks.py", ONE, "") == set()
    assert names(of("checks.py", ONE, ""), Severity.SHOW) == set()
