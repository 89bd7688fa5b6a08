import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweeper.policy.triage import excerpt
from tests.support.logs import real_log

STAMP = b"2026-07-30T10:55:18.2467887Z "
NOISE = STAMP + b"collecting something that matters little\n"
CUT = re.compile(rb"\n\[\.\.\. (\d+) bytes cut \.\.\.\]\n")
END = STAMP + b"##[error]Process completed with exit code 1.\n"


def test_a_log_that_fits_stays_as_it_is() -> None:
    assert excerpt(NOISE) == NOISE


def test_head_error_and_tail_are_in_it_and_the_cuts_add_up() -> None:
    error = STAMP + b"FAILED tests/a.py::test_b - AssertionError: no\n"
    log = b"first\n" + NOISE * 2000 + error + END + (STAMP + b"cleaning\n") * 2000 + b"last\n"
    shown = excerpt(log, 2000)
    assert shown.startswith(b"first\n")
    assert error in shown
    assert shown.endswith(b"last\n")
    cut = sum(map(int, CUT.findall(shown)))
    assert cut + len(CUT.sub(b"", shown)) == len(log)
    assert len(shown) <= 2000


def test_the_first_and_the_last_words_on_a_long_failure_are_both_in_it() -> None:
    first, last = b"FAILED tests/a.py::first - KeyError\n", b"FAILED tests/z.py::last - KeyError\n"
    shown = excerpt(NOISE * 900 + STAMP + first + NOISE * 900 + STAMP + last + END + NOISE * 900, 2000)
    assert first in shown
    assert last in shown


def test_an_error_far_inside_a_long_line_is_in_it() -> None:
    line = b"x" * 200_000 + b"\rFAILED tests/a.py::test_b - AssertionError: this one\n"
    assert b"AssertionError: this one" in excerpt(NOISE * 500 + STAMP + line + NOISE * 500 + END, 1500)


def test_without_an_error_the_tail_gets_the_room() -> None:
    shown = excerpt(b"".join(b"%d words\n" % n for n in range(5000)), 1000)
    assert shown.startswith(b"0 words\n")
    assert len(CUT.split(shown)[-1]) > 600


@pytest.mark.parametrize("limit", [0, 10, 200, 300, 1024, 4096])
@pytest.mark.parametrize("log", ["04_mocha_failed", "13_pip_wheel_build_ansi", "09_operation_canceled"])
def test_it_is_never_longer_than_asked_for(log: str, limit: int) -> None:
    assert len(excerpt(real_log(log), limit)) <= limit


@given(st.text("é✗\n FAILED a.py::b - x", min_size=400, max_size=2000), st.integers(250, 900))
def test_no_character_is_cut_in_two(text: str, limit: int) -> None:
    shown = excerpt(text.encode(), limit)
    assert len(shown) <= limit
    shown.decode()
