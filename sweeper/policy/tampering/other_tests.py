"""Tests of other languages before and after: how many, under which names, and what they assert, told by their words."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sweeper.model import Finding
from sweeper.policy.tampering.places import is_collected, is_snapshot
from sweeper.policy.tampering.seen import LONGEST_LINE, Seen, reject, show


@dataclass(frozen=True)
class Words:
    """How a language spells tests: their names, any assert, an exact one, and one that nearly anything passes."""

    case: re.Pattern[str]
    any_assert: re.Pattern[str]
    exact: re.Pattern[str]
    weak: re.Pattern[str]


_NEVER = r"(?!)"
LANGUAGES = {
    "js": Words(
        re.compile(r"(?<![\w.])(?:it|test|specify)(?:\.(?:each|concurrent)\b[^(]{0,80})?\(\s*(['\"`][^'\"`]{1,200})"),
        re.compile(r"\bexpect\(|\bassert\b|\.should\b|\bt\.(is|deepEqual|true|false|throws|like)\("),
        re.compile(r"\.(toBe|toEqual|toStrictEqual|toHaveBeenCalledWith|deepEqual|strictEqual|toThrow\w*|equal|eql)\("),
        re.compile(
            r"\.(toBeDefined|toBeTruthy|toBeFalsy|toContain|toBeInstanceOf)\(|\.not\.(toBeNull|toBeUndefined|toBe)\(|expect\.any"
            r"|expect\(\s*(true|1)\s*\)|assert(\.ok)?\(\s*true|\.resolves\.not\.toThrow|catch\s*(\(\w*\))?\s*\{\s*\}|\|\|\s*true"
        ),
    ),
    "go": Words(
        re.compile(r"^func ((?:Test|Fuzz|Example|Benchmark)\w*)\("),
        re.compile(r"\b[tb]\.(Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(assert|require|is)\.\w+\("),
        re.compile(r"!=|\b(assert|require)\.(Equal|EqualValues|EqualError|Exactly|JSONEq|ErrorIs)\("),
        re.compile(
            r"\b(assert|require)\.(NotNil|NotEmpty|Contains|True\(t,\s*true)|\bif false\b|&& false|\brecover\(\)"
        ),
    ),
    "rust": Words(
        re.compile(r"^\s*(#\[(?:\w+::)?test\b)"),
        re.compile(r"\b(debug_)?assert(_eq|_ne|_matches)?!|\bpanic!"),
        re.compile(r"\bassert_(eq|ne|matches)!"),
        re.compile(
            r"\bassert!\(\s*true|\|\|\s*true|\bassert!\(.*(is_ok|is_some|contains)\(|catch_unwind|#\[\s*should_panic"
        ),
    ),
    "java": Words(
        re.compile(r"^\s*(@(?:Test|ParameterizedTest|RepeatedTest)\b)"),
        re.compile(r"\b(assert\w*|verify|fail)\("),
        re.compile(r"\b(assertEquals|assertSame|assertArrayEquals|assertThrows|isEqualTo|isSameAs)\b"),
        re.compile(
            r"\bassertNotNull\(|\bassertTrue\(\s*true|isNotNull\(\)|catch\s*\(\s*(Throwable|Exception|AssertionError)"
        ),
    ),
    "ruby": Words(
        re.compile(r"^\s*(?:it|test|specify|def test_\w+)\b(.{0,200})"),
        re.compile(r"\bexpect\b|\bassert\w*|\.should\b"),
        re.compile(r"\b(eq|eql|assert_equal)\b"),
        re.compile(r"\bbe_truthy|assert true|not_to be_nil|rescue\b"),
    ),
    "c": Words(
        re.compile(r"^\s*(?:TEST|TEST_F|TEST_P|TEST_CASE|BOOST_AUTO_TEST_CASE)\s*\((.{0,200})"),
        re.compile(r"\b(ASSERT|EXPECT|CHECK|REQUIRE)(_\w+)?\s*\(|\bassert\("),
        re.compile(r"\b(ASSERT|EXPECT)_(EQ|STREQ|DOUBLE_EQ)\b"),
        re.compile(r"_TRUE\(\s*true|\b(ASSERT|EXPECT)_NEAR|REQUIRE\(\s*true"),
    ),
}


def other_tests(files: Sequence[Seen]) -> Iterator[Finding]:
    """Findings about tests that are no Python, and about expected output that tools write themselves."""
    for language, words in LANGUAGES.items():
        concerned = [seen for seen in files if seen.language == language and (seen.is_test or language == "rust")]
        if concerned:
            yield from _compare(concerned, words)
    for seen in files:
        if is_snapshot(seen.path):
            found = reject if seen.is_gone else show
            yield found("snapshot_changed", seen.at(None), "output that a test expects was written anew")
        elif seen.is_test and seen.language in ("text", "config") and not seen.is_new:
            yield show("test_data_changed", seen.at(None), "data that tests read changed")


def _compare(files: Sequence[Seen], words: Words) -> Iterator[Finding]:
    old = Counter(case for seen in files for case, _ in _cases(code(seen.old), words))
    kept = [seen for seen in files if is_collected(seen.path) or not is_collected(seen.old_path)]
    new = Counter(case for seen in kept for case, _ in _cases(code(seen.new), words))
    if new.total() < old.total():
        for seen in files:
            for case, number in _cases(code(seen.old), words):
                if new[case] < old[case]:
                    yield reject("test_deleted", seen.before(number), f"{case[:80]} is gone or not collected")
    elif old - new:
        yield show("test_renamed", files[0].at(None), "tests have other names than before")
    before, after = (
        [_counts(code(text), words) for text in texts] for texts in ([s.old for s in files], [s.new for s in kept])
    )
    totals = [[sum(column) for column in zip(*rows, strict=True)] or [0, 0, 0] for rows in (before, after)]
    first = next((seen for seen in files if seen.removed), files[0])
    place = first.before(first.removed[0][0] if first.removed else None)
    if totals[1][0] < totals[0][0]:
        yield reject("fewer_asserts", place, f"{totals[1][0]} asserts, {totals[0][0]} before")
    if totals[1][1] < totals[0][1] and totals[1][0] >= totals[0][0]:
        yield reject("assert_weakened", place, "an exact assert became one that asks for less")
    elif totals[1][2] > totals[0][2] and totals[1][0] <= totals[0][0]:
        yield reject("assert_weakened", place, "an assert that nearly anything passes")
    elif any(seen.removed and not seen.is_new for seen in files if seen.is_test):
        yield show("test_changed", place, "tests changed")


def _cases(lines: list[str], words: Words) -> Iterator[tuple[str, int]]:
    for number, line in enumerate(lines, start=1):
        found = words.case.search(line)
        if found:
            yield found[1].strip(), number


def _counts(lines: list[str], words: Words) -> tuple[int, int, int]:
    return (
        sum(bool(words.any_assert.search(line)) for line in lines),
        sum(bool(words.exact.search(line)) for line in lines),
        sum(bool(words.weak.search(line)) for line in lines),
    )


def code(text: str) -> list[str]:
    """Lines without comments, as far as that can be told without a parser: a test that is commented out is gone."""
    lines, is_inside = [], False
    for line in text.split("\n"):
        kept = ""
        rest = line[:LONGEST_LINE]
        while rest:
            if is_inside:
                _, end, rest = rest.partition("*/")
                is_inside = not end
                continue
            before, start, rest = rest.partition("/*")
            if "//" in before and "://" not in before:
                kept, rest = kept + before.partition("//")[0], ""
                break
            kept += before
            is_inside = bool(start)
        lines.append("" if kept.lstrip().startswith("//") else kept)
    return lines
