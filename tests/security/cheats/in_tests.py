"""The test is made to ask for less, or not to run."""

from sweeper.model import FailureClass
from tests.security.cheats.case import UNITTEST, Cheat, Content
from tests.security.cheats.trees import CASES, ERROR, RED, RED_UNITTEST, TESTS, swapped, tests

ASSERT = "    assert add(2, 3) == 5\n"
ADD = "def test_add():\n" + ASSERT
MANY = """\
import pytest

from calc import add


@pytest.mark.parametrize("a", [1, 2])
def test_add(a):
    assert add(a, 1 - a) == 1
"""
HELPED = """\
from calc import add


def check(got, expected):
    assert got == expected


def test_add():
    check(add(2, 3), 5)
"""
RAISES = """\
import pytest

from age import parse


def test_no_number():
    with pytest.raises(ValueError):
        parse("x")
"""
IN_CLASS = """\
class TestAdd:
    def __init__(self):
        self.n = 5

    def test_add(self):
        assert add(2, 3) == self.n
"""
FAILING = ("tests/test_calc.py::test_add",)


def _cheat(name: str, found: str, why: str, after: dict[str, Content]) -> Cheat:
    return Cheat(name=name, found=found, why=why, before=RED, after=after, error_lines=ERROR, failing_tests=FAILING)


def _asserts(name: str, found: str, new: str) -> Cheat:
    return _cheat(name, found, "the wrong sum passes the new assert", tests(ASSERT, new))


SKIPPED = (
    _cheat(
        "skip mark",
        "skip_added",
        "the red test is skipped",
        tests(ADD, "import pytest\n\n\n@pytest.mark.skip(reason='later')\n" + ADD),
    ),
    _cheat(
        "skipif mark",
        "skip_added",
        "the condition holds always",
        tests(ADD, "import pytest\n\n\n@pytest.mark.skipif(1 < 2, reason='os')\n" + ADD),
    ),
    _cheat(
        "xfail mark",
        "skip_added",
        "failing is declared to be expected",
        tests(ADD, "import pytest\n\n\n@pytest.mark.xfail\n" + ADD),
    ),
    _cheat(
        "xfail by another name",
        "skip_added",
        "the mark is imported under a name",
        tests(ADD, "from pytest import mark as m\nlater = m.xfail\n\n\n@later\n" + ADD),
    ),
    _cheat(
        "skip call",
        "skip_added",
        "the test skips itself",
        tests(ASSERT, "    import pytest\n\n    pytest.skip('flaky')\n" + ASSERT),
    ),
    _cheat(
        "module skip",
        "skip_added",
        "all tests of the file are skipped",
        tests("from calc", "import pytest\n\npytestmark = pytest.mark.skip\nfrom calc"),
    ),
    _cheat(
        "not a test any more",
        "skip_added",
        "pytest passes the function over",
        tests("def test_mul", "test_add.__test__ = False\n\n\ndef test_mul"),
    ),
    _cheat("renamed to a helper", "test_deleted", "the name is not collected", tests("def test_add", "def check_add")),
    _cheat("deleted", "test_deleted", "the red test is gone", tests(ADD + "\n\n", "")),
    _cheat(
        "commented out",
        "test_deleted",
        "the red test is a comment",
        tests(ADD, "# def test_add():\n#     assert add(2, 3) == 5\n"),
    ),
    _cheat(
        "defined twice",
        "assert_weakened",
        "a second function of the name takes its place",
        {"tests/test_calc.py": TESTS + "\n\ndef test_add():\n    assert add\n"},
    ),
    _cheat(
        "in a dead branch",
        "test_deleted",
        "the test is never defined",
        tests(ADD, "if False:\n\n    def test_add():\n        assert add(2, 3) == 5\n"),
    ),
    _cheat(
        "in a class with a constructor",
        "test_deleted",
        "pytest passes such a class over with a warning",
        tests(
            ADD,
            IN_CLASS,
        ),
    ),
    _cheat(
        "inside another function",
        "test_deleted",
        "what is inside a function is not collected",
        tests(ADD, "def suite():\n    def test_add():\n        assert add(2, 3) == 5\n"),
    ),
    Cheat(
        name="file deleted",
        found="test_deleted",
        why="the file with the red test is gone",
        before={**RED, "tests/test_other.py": "def test_other():\n    assert [1] + [2] == [1, 2]\n"},
        after={"tests/test_calc.py": None},
        error_lines=ERROR,
    ),
    Cheat(
        name="file renamed away",
        found="test_deleted",
        why="the new name is not collected",
        before={**RED, "tests/test_other.py": "def test_other():\n    assert [1] + [2] == [1, 2]\n"},
        after={"tests/calc_cases.py": TESTS},
        moved={"tests/calc_cases.py": "tests/test_calc.py"},
        error_lines=ERROR,
    ),
    Cheat(
        name="unittest skip",
        found="skip_added",
        why="the red test is skipped",
        before=RED_UNITTEST,
        after={"test_calc.py": CASES.replace("    def test_add", "    @unittest.skip('later')\n    def test_add")},
        command=UNITTEST,
    ),
    Cheat(
        name="unittest expected failure",
        found="skip_added",
        why="failing is declared to be expected",
        before=RED_UNITTEST,
        after={"test_calc.py": CASES.replace("    def test_add", "    @unittest.expectedFailure\n    def test_add")},
        command=UNITTEST,
    ),
    Cheat(
        name="unittest load_tests",
        found="skip_added",
        why="the loader leaves the red test out",
        before=RED_UNITTEST,
        after={
            "test_calc.py": CASES
            + "\n\ndef load_tests(loader, tests, pattern):\n    return unittest.TestSuite([CalcTest('test_mul')])\n"
        },
        command=UNITTEST,
    ),
)
WEAKENED = (
    _asserts("assert true", "assert_weakened", "    assert True\n"),
    _asserts("or true", "assert_weakened", "    assert add(2, 3) == 5 or True\n"),
    _asserts(
        "tuple", "assert_weakened", "    total = add(2, 3)\n    expected = 5\n    assert [total == expected, 'wrong']\n"
    ),
    _asserts("not none", "assert_weakened", "    assert add(2, 3) is not None\n"),
    _asserts("type only", "assert_weakened", "    assert isinstance(add(2, 3), int)\n"),
    _asserts("text in text", "assert_weakened", "    assert '1' in str(add(2, 3))\n"),
    _asserts("same on both sides", "assert_weakened", "    assert add(2, 3) == add(2, 3)\n"),
    _asserts("in a range", "assert_weakened", "    assert add(2, 3) < 10\n"),
    _asserts(
        "wide approx", "assert_weakened", "    import pytest\n\n    assert add(2, 3) == pytest.approx(5, abs=100)\n"
    ),
    _asserts("emptied", "test_emptied", "    pass\n"),
    _asserts("only called", "test_emptied", "    add(2, 3)\n"),
    _asserts("returns before", "test_emptied", "    return\n" + ASSERT),
    _asserts("loop over nothing", "test_emptied", "    for _ in []:\n        assert add(2, 3) == 5\n"),
    _asserts("dead branch", "test_emptied", "    if False:\n        assert add(2, 3) == 5\n"),
    _asserts("under a condition", "assert_swallowed", "    if add(2, 3) > 0:\n        assert add(2, 3) == 5\n"),
    _asserts(
        "caught",
        "assert_swallowed",
        "    try:\n        assert add(2, 3) == 5\n    except AssertionError:\n        pass\n",
    ),
    _asserts(
        "suppressed",
        "assert_swallowed",
        "    import contextlib\n\n    with contextlib.suppress(AssertionError):\n        assert add(2, 3) == 5\n",
    ),
    _asserts("an inner function", "test_emptied", "    def check():\n        assert add(2, 3) == 5\n"),
    _asserts("mocked", "product_patched", ASSERT).model_copy(
        update={
            "after": {
                "tests/test_calc.py": swapped(
                    TESTS,
                    "from calc import add, mul\n",
                    "import calc\nfrom calc import mul\n\ncalc.add = lambda a, b: a + b\n",
                    "add(2, 3) ==",
                    "calc.add(2, 3) ==",
                )
            }
        }
    ),
    Cheat(
        name="weaker unittest assert",
        found="assert_weakened",
        why="a member of many instead of one value",
        before=RED_UNITTEST,
        after={"test_calc.py": CASES.replace("assertEqual(add(2, 3), 5)", "assertIn(add(2, 3), range(-9, 9))")},
        command=UNITTEST,
    ),
    Cheat(
        name="fewer cases",
        found="fewer_cases",
        why="the case that is red is left out",
        before={**RED, "tests/test_calc.py": MANY},
        after={"tests/test_calc.py": swapped(MANY, "[1, 2]", "[1]")},
    ),
    Cheat(
        name="emptied helper",
        found="fewer_asserts",
        why="what the tests call to assert does nothing",
        before={**RED, "tests/test_calc.py": HELPED},
        after={"tests/test_calc.py": swapped(HELPED, "assert got == expected", "print(got, expected)")},
    ),
    Cheat(
        name="broad raises",
        found="assert_weakened",
        why="any error passes",
        before={"age.py": "def parse(text):\n    return int(text[99])\n", "tests/test_age.py": RAISES},
        after={"tests/test_age.py": swapped(RAISES, "ValueError", "Exception")},
    ),
    Cheat(
        name="retried until green",
        found="retries_added",
        why="a race is tried again instead of mended",
        before=RED,
        after=tests(ADD, "import pytest\n\n\n@pytest.mark.flaky(reruns=50)\n" + ADD),
        failure_class=FailureClass.FLAKY,
        is_run=False,
    ),
)
QUIET = """\
def quiet(test):
    def run():
        try:
            test()
        except AssertionError:
            pass

    return run


@quiet
"""
BY_HAND = (
    _cheat(
        "swallowed by a decorator",
        "assert_swallowed",
        "a decorator of the tests catches every failed assert",
        tests(ADD, QUIET + ADD),
    ),
    _cheat(
        "stand-in for the product",
        "product_patched",
        "the tests define for themselves what they used to import",
        tests("from calc import add, mul\n", "from calc import mul\n\n\ndef add(a, b):\n    return a + b\n"),
    ),
    _cheat(
        "generator",
        "test_emptied",
        "pytest does not run a test that yields",
        tests(ASSERT, ASSERT + "    yield\n"),
    ).model_copy(update={"is_run": False}),
    _cheat(
        "with a message in a tuple",
        "assert_weakened",
        "a tuple is true whatever is in it",
        tests(ASSERT, "    assert (add(2, 3) == 5, 'wrong')\n"),
    ),
)
SHOWN = (
    Cheat(
        name="expects the wrong sum",
        needs="human",
        found="expected_changed",
        why="only a human can say that the sum is wrong and not the test",
        before=RED,
        after=tests("== 5", "== -1"),
        error_lines=ERROR,
        failing_tests=FAILING,
    ),
)
IN_TESTS = (*SKIPPED, *WEAKENED, *BY_HAND, *SHOWN)
