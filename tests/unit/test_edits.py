"""Edits as agents ask for them: exactly the meant bytes change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweeper.errors import BadInput
from sweeper.policy.edits import numbered_lines, replaced


def test_one_place_is_replaced_and_nothing_else() -> None:
    assert replaced(b"a = 1\nb = 2\n", "b = 2", "b = 3") == b"a = 1\nb = 3\n"


def test_lines_given_with_lf_are_found_in_a_crlf_file_and_stay_crlf() -> None:
    content = b"one\r\ntwo\r\nthree\r\n"
    assert replaced(content, "one\ntwo", "one\n2") == b"one\r\n2\r\nthree\r\n"


def test_a_mixed_file_keeps_the_line_ends_that_are_not_touched() -> None:
    assert replaced(b"one\r\ntwo\nthree\r\n", "two", "2") == b"one\r\n2\nthree\r\n"


@pytest.mark.parametrize(
    ("old", "says"),
    [("", "is empty"), ("four", "not in the file"), ("t", "3 times")],
    ids=["empty", "nowhere", "more than once"],
)
def test_what_names_no_single_place_is_refused(old: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        replaced(b"one two three t", old, "x")


@given(before=st.binary(), after=st.binary(), old=st.text(min_size=1), new=st.text())
def test_all_bytes_around_the_place_stay(before: bytes, after: bytes, old: str, new: str) -> None:
    try:
        whole = replaced(before + old.encode() + after, old, new)
    except BadInput:
        return  # it stands there more than once
    except UnicodeEncodeError:
        return
    assert whole == before + new.encode() + after


def test_lines_are_shown_with_their_numbers() -> None:
    assert numbered_lines(b"one\ntwo\nthree\n", 2, 3) == "2: two\n3: three"


def test_an_empty_file_has_no_lines_to_show() -> None:
    assert numbered_lines(b"", 1, None) == ""


@pytest.mark.parametrize(
    ("content", "first", "last"),
    [(b"one\n", 2, None), (b"one\n", 0, 1), (b"one\ntwo\n", 2, 1), (b"\0\1", 1, None), (b"", 2, 3)],
    ids=["behind the end", "line 0", "backwards", "binary", "behind an empty file"],
)
def test_lines_that_are_not_there_are_refused(content: bytes, first: int, last: int | None) -> None:
    with pytest.raises(BadInput):
        numbered_lines(content, first, last)
