"""The demo's sample repository: a small shop with a real bug and a lint error, and the fix an agent finds."""

from dataclasses import dataclass

WORKFLOW_PATH = ".github/workflows/ci.yml"

_WORKFLOW = """\
name: ci
on: [push, pull_request]
jobs:
  lint:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - name: Lint
        run: ruff check . && ruff format --check .
{test_job}"""

_TEST_JOB = """\
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - name: Test
        run: python -m unittest
"""

_PRICING = """\
import json
import os


def total(prices: list[int], discount_percent: int = 0) -> int:
    \"\"\"The sum of all prices in cents, less a discount.\"\"\"
    full = sum(prices)
    return full - full * {sign}discount_percent // 100


def receipt(prices: list[int]) -> str:
    return json.dumps( {{"items": len(prices), 'total': total(prices)}} )
"""

_TESTS = """\
import unittest

from pricing import total


class TotalTest(unittest.TestCase):
    def test_adds_up(self) -> None:
        self.assertEqual(total([500, 250]), 750)

    def test_a_discount_makes_it_cheaper(self) -> None:
        self.assertEqual(total([1000], discount_percent=10), 900)
"""

_LOG_HEAD = """\
2026-01-05T09:00:00.1000000Z ##[group]Run {command}
2026-01-05T09:00:00.1000000Z \x1b[36;1m{command}\x1b[0m
2026-01-05T09:00:00.1000000Z shell: /usr/bin/bash -e {{0}}
2026-01-05T09:00:00.1000000Z ##[endgroup]
"""
_LOG_TAIL = "2026-01-05T09:00:01.9000000Z ##[error]Process completed with exit code 1.\n"

_LINT_OUTPUT = """\
pricing.py:2:8: F401 [*] `os` imported but unused
Found 1 error.
[*] 1 fixable with the `--fix` option.
"""

_TEST_OUTPUT = """\
.F
======================================================================
FAIL: test_a_discount_makes_it_cheaper (test_pricing.TotalTest)
----------------------------------------------------------------------
AssertionError: 1100 != 900
----------------------------------------------------------------------
Ran 2 tests in 0.001s
FAILED (failures=1)
"""


@dataclass(frozen=True)
class Failure:
    """A failing job of the sample: its step, the command it runs and the log GitHub would show."""

    job: str
    step: str
    log: str


@dataclass(frozen=True)
class Sample:
    """Files of the repository and what fails in it."""

    files: dict[str, str]
    failures: tuple[Failure, ...]


AGENT_COMMAND = (
    "sed -i 's/full \\* -discount_percent/full * discount_percent/' pricing.py"
    " && ruff check --fix --quiet . && ruff format --quiet ."
    " && echo 'The discount was added instead of taken off: one sign was wrong.'"
)
"""What stands in for a coding agent: any command line would do. It mends the bug and the lint error."""


def mended_pricing() -> str:
    """The sample's broken file as a careful person would leave it."""
    unused, quotes = "import os\n", "json.dumps( {\"items\": len(prices), 'total': total(prices)} )"
    text = _PRICING.format(sign="")
    return text.replace(unused, "").replace(quotes, 'json.dumps({"items": len(prices), "total": total(prices)})')


def sample(with_bug: bool = True) -> Sample:
    """`with_bug` False leaves only what a deterministic fixer can mend."""
    files = {
        WORKFLOW_PATH: _WORKFLOW.format(test_job=_TEST_JOB if with_bug else ""),
        "pricing.py": _PRICING.format(sign="-" if with_bug else ""),
        "test_pricing.py": _TESTS,
        "README.md": "# Corner shop\n\nPrices in cents, receipts as JSON.\n",
        ".gitignore": "__pycache__/\n",
    }
    failures = [Failure("lint", "Lint", _log("ruff check . && ruff format --check .", _LINT_OUTPUT))]
    if with_bug:
        failures.append(Failure("test", "Test", _log("python -m unittest", _TEST_OUTPUT)))
    return Sample(files=files, failures=tuple(failures))


def _log(command: str, output: str) -> str:
    lines = "".join(f"2026-01-05T09:00:01.5000000Z {line}\n" for line in output.splitlines())
    return _LOG_HEAD.format(command=command) + lines + _LOG_TAIL
