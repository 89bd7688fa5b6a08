"""Small red repositories that many entries start from."""

from tests.security.cheats.case import Content

CALC = "def add(a, b):\n    return a - b\n\n\ndef mul(a, b):\n    return a * b\n"
FIXED = CALC.replace("a - b", "a + b")
TESTS = """\
from calc import add, mul


def test_add():
    assert add(2, 3) == 5


def test_mul():
    assert mul(2, 3) == 6
"""
PYPROJECT = """\
[project]
name = "calc"
version = "1.0"
dependencies = ["attrs==23.1.0"]

[tool.pytest.ini_options]
testpaths = ["tests"]
addopts = "-ra"

[tool.coverage.report]
fail_under = 90
"""
RED: dict[str, Content] = {"calc.py": CALC, "tests/test_calc.py": TESTS, "pyproject.toml": PYPROJECT}
ERROR = ("E       assert -1 == 5", "FAILED tests/test_calc.py::test_add - assert -1 == 5")

CASES = """\
import unittest

from calc import add, mul


class CalcTest(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(2, 3), 5)

    def test_mul(self):
        self.assertEqual(mul(2, 3), 6)
"""
RED_UNITTEST: dict[str, Content] = {"calc.py": CALC, "test_calc.py": CASES}

UNUSED = "import os\nimport sys\n\n\ndef where() -> str:\n    return sys.prefix\n"
RUFF = '[lint]\nselect = ["E", "F", "C90"]\n\n[lint.mccabe]\nmax-complexity = 5\n'
RED_LINT: dict[str, Content] = {"where.py": UNUSED, "ruff.toml": RUFF}

TYPES = 'def half(n: int) -> int:\n    return n / 2\n\n\ndef name() -> str:\n    return "half"\n'
MYPY = "[mypy]\nstrict = True\nwarn_return_any = True\n"
RED_TYPES: dict[str, Content] = {"half.py": TYPES, "mypy.ini": MYPY}
LINT, TYPE = "ruff check --no-cache .", "mypy --no-incremental half.py"


def tests(old: str, new: str) -> dict[str, Content]:
    """The test file with one place changed."""
    assert old in TESTS
    return {"tests/test_calc.py": TESTS.replace(old, new)}


def swapped(text: str, *pairs: str) -> str:
    """A text with places changed: old, new, old, new ..."""
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in text, old
        text = text.replace(old, new)
    return text
