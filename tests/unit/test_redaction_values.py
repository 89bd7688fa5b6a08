"""Values that an operator lists are gone, in every form in which programs write them."""

import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweeper.errors import BadInput
from sweeper.policy.redaction import MIN_VALUE, Redactor, redact

VALUE = 'pass wörd/"+1\\'
KEY = "-----BEGIN THING-----\nfirst line of it\r\nsecond line of it\n-----END THING-----\n"
TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40)
VALUES = st.lists(TEXTS.filter(lambda text: len(text.strip()) >= MIN_VALUE), min_size=1, max_size=3)


@pytest.mark.parametrize(
    "written",
    [
        VALUE,
        quote(VALUE),
        quote(VALUE, safe=""),
        quote(VALUE, safe="").lower(),
        quote_plus(VALUE),
        json.dumps(VALUE)[1:-1],
        json.dumps(VALUE, ensure_ascii=False)[1:-1],
    ],
)
def test_a_listed_value_is_gone_in_every_way_to_write_it(written: str) -> None:
    assert Redactor([VALUE]).text(f"before {written} after") == "before [redacted] after"


@pytest.mark.parametrize("user", ["", "x:", "bo:", "bot:"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_listed_value_is_gone_from_base64_wherever_it_stands(user: str, encode: type[bytes]) -> None:
    encoded = encode(f"{user}correct horse battery~~~~?{user}".encode())
    left = Redactor(["correct horse battery~~~~?"]).redact(encoded)
    assert b"[redacted]" in left
    assert len(left.replace(b"[redacted]", b"")) <= len(encode(user.encode() * 2)) + 4


def test_each_line_of_a_listed_value_is_gone() -> None:
    shown = Redactor([KEY]).text(f"{KEY}\nlog: second line of it\nfirst line of it")
    assert "line of it" not in shown
    assert Redactor([KEY]).text("a } b") == "a } b"


def test_a_long_value_goes_before_one_that_is_its_beginning() -> None:
    assert Redactor(["abcdef", "abcdefghi"]).text("abcdefghi abcdef") == "[redacted] [redacted]"


def test_shapes_are_still_known_beside_listed_values() -> None:
    assert redact(b"hunter22 ghp_" + b"a1" * 18, [b"hunter22"]) == b"[redacted] [redacted]"


@pytest.mark.parametrize("short", ["", "  ", "abcde", "  ab  \n"])
def test_a_value_that_stands_in_ordinary_words_is_refused_and_not_repeated(short: str) -> None:
    with pytest.raises(BadInput, match="Value 2 of those to redact has less than 6 characters") as refused:
        Redactor(["long enough", short])
    assert not short.strip() or short.strip() not in str(refused.value)


@pytest.mark.parametrize("odd", ["[redacted]", "redacted", "d]redacted[r", "x[redac", "[redacted][redacted]"])
def test_a_value_that_looks_like_our_mark_changes_nothing_twice(odd: str) -> None:
    redactor = Redactor([odd])
    once = redactor.text(f"{odd}{odd} ted]x[redacted]x[redac")
    assert redactor.text(once) == once


@given(VALUES, st.lists(TEXTS, max_size=4))
def test_whatever_is_listed_is_gone_and_stays_gone(values: list[str], around: list[str]) -> None:
    redactor = Redactor(values)
    once = redactor.text("\n".join([*around, *values, *around]))
    assert redactor.text(once) == once
    for value in values:
        assert value.strip() not in once.replace("[redacted]", "\0")
