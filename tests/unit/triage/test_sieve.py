import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweeper.policy.triage.needles import needles
from sweeper.policy.triage.sieve import Sieve
from sweeper.policy.triage.tables import ALL
from tests.support.logs import real_log

LOGS = (
    "01_pytest_collection_modulenotfound",
    "02_pytest_failures_bom_ansi",
    "04_mocha_failed",
    "05_maven_failure",
    "07_go_test_fail",
    "13_pip_wheel_build_ansi",
    "21_pytest_failed_timeout",
    "24_eslint_problem_matcher_end_action",
    "28_cargo_test_windows",
)


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        (r"^FAILED (?P<test>\S+)", [{"FAILED "}]),
        (r"^(?:FAILED|ERROR) \S+", [{"FAILED", "ERROR"}]),
        (r"^(?P<file>\S+\.py):\d+: (?:error|fatal)", [{"error", "fatal"}, {".py"}, {": "}]),
        (r"(?:very )?fatal:", [{"fatal:"}]),
        (r"ab*cd+ef", [{"cd"}, {"ef"}]),
        (r"x{0,3}yes", [{"yes"}]),
        (r"(?:no|yes){2}", [{"no", "yes"}]),
        (r"[)\]]done\.", [{"done."}]),
        (r"(?i)Exit Code", [{"exit code"}]),
        (r"(?!warning)error", [{"error"}]),
        (r"\u2717 wrong", [{" wrong"}]),
        (r"(?:found|\d+)", []),
        (r"\w+:\d+", []),
        (r"(?x) a b c ", []),
    ],
)
def test_what_a_match_must_contain(pattern: str, needed: list[set[str]]) -> None:
    assert [set(texts) for texts in needles(re.compile(pattern))] == needed


def test_no_row_that_fits_a_line_is_held_back() -> None:
    sieve = Sieve([needles(pattern.line) for pattern in ALL])
    for log in LOGS:
        for line in real_log(log).decode("utf-8", "replace").splitlines():
            text = line[29:2000].removeprefix("##[error]")
            fitting = {row for row, pattern in enumerate(ALL) if pattern.line.search(text)}
            assert fitting <= set(sieve.rows(text)), text


@given(st.lists(st.sampled_from(["error", "E501", "no 7", "failed 12 of", "x"]), max_size=5), st.text(max_size=30))
def test_numbers_in_what_is_needed_do_not_matter(needed: list[str], around: str) -> None:
    sieve = Sieve([[frozenset([text])] for text in needed])
    for row, text in enumerate(needed):
        assert row in sieve.rows(around + text + around)


def test_most_rows_are_held_back_on_a_line_that_says_nothing() -> None:
    sieve = Sieve([needles(pattern.line) for pattern in ALL])
    assert len(list(sieve.rows("collecting packages 12 of 40"))) < len(ALL) / 10
