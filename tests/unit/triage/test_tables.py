"""Each row of the tables knows its tool's words, and no row takes good news for bad."""

import re
from collections import defaultdict

import pytest

from sweeper.model import FailureClass
from sweeper.policy.triage.clues import recogniser
from sweeper.policy.triage.pattern import PLAIN, Pattern
from sweeper.policy.triage.tables import ALL, COMMANDS
from tests.support.regex_shape import faults
from tests.unit.triage.table_samples import HARMLESS, SAMPLES

GROUPS = {"file", "line", "test", "code", "message"}


def name_of(row: Pattern) -> str:
    return f"{row.tool}: {row.line.pattern[:60]}"


def rows_by_tool() -> dict[str, list[Pattern]]:
    rows: dict[str, list[Pattern]] = defaultdict(list)
    for row in ALL:
        rows[row.tool].append(row)
    return rows


def test_each_row_knows_a_line_that_its_tool_really_writes() -> None:
    unsampled = [row for row in ALL if not any(row.line.search(line) for line in SAMPLES.get(row.tool, ()))]
    assert [name_of(row) for row in unsampled] == []


def test_each_sample_is_known_by_a_row_of_its_tool() -> None:
    rows = rows_by_tool()
    unknown = [
        line
        for tool, lines in SAMPLES.items()
        for line in lines
        if not any(row.line.search(line) for row in rows[tool])
    ]
    assert unknown == []


def test_no_other_tools_row_gives_a_sample_another_class() -> None:
    rows = rows_by_tool()
    taken = []
    for tool, lines in SAMPLES.items():
        classes = {row.failure_class for row in rows[tool]}
        for line in lines:
            clue = recogniser().clue(line, 0)
            if clue is None or clue.failure_class not in classes:
                taken.append((line, clue and clue.tool))
    assert taken == []


@pytest.mark.parametrize("line", HARMLESS)
def test_good_news_is_no_error(line: str) -> None:
    assert [name_of(row) for row in ALL if row.strength >= PLAIN and row.line.search(line)] == []


def test_no_row_takes_more_than_linear_time() -> None:
    assert {name_of(row): found for row in ALL if (found := faults(row.line))} == {}


def test_no_command_row_repeats_without_end_inside_a_repeat() -> None:
    nested = [
        row.command.pattern for row in COMMANDS if "a repeat without end holds another one" in faults(row.command)
    ]
    assert nested == []


@pytest.mark.parametrize(
    "hostile", [r"^(?:a+)+$", r"\s+x", r".*foo", r"^.*a.*b$", r"(?:x\w*)*y", r"a.*b|c", r"^x{1,5000}y"]
)
def test_a_row_that_could_take_long_would_be_found(hostile: str) -> None:
    assert faults(re.compile(hostile))


@pytest.mark.parametrize("harmless", [r"^\s+x", r"foo .*", r"^(?P<a>.*?)b", r"x.{0,200}y", r"^[^:]+:\d+: (?P<m>.*)"])
def test_a_row_that_is_linear_is_let_be(harmless: str) -> None:
    assert faults(re.compile(harmless)) == []


def test_each_row_names_only_parts_that_a_clue_has() -> None:
    assert [name_of(row) for row in ALL if not set(row.line.groupindex) <= GROUPS] == []


def test_each_rows_reason_is_a_clause_that_a_quoted_line_completes() -> None:
    clause = re.compile(r"(?:[a-z]|GitHub|JSON|YAML).*[^.]$")
    assert [row.reason for row in ALL if not clause.match(row.reason)] == []


def test_a_row_that_knows_nothing_of_the_class_would_be_no_row() -> None:
    assert [name_of(row) for row in ALL if row.failure_class is FailureClass.UNKNOWN] == []


def test_no_two_rows_are_the_same() -> None:
    patterns = [row.line.pattern for row in ALL]
    assert sorted({pattern for pattern in patterns if patterns.count(pattern) > 1}) == []
