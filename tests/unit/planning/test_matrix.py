"""Rows of a matrix and the names GitHub shows them under."""

import pytest

from sweeper.model import JobEvidence
from tests.support.values import job
from tests.unit.planning.plans import check_of, plan_of, refusal_of, steps_file

STEPS = "- {name: Test, run: 'test ${{ matrix.a }} ${{ matrix.b }} ${{ matrix.extra }}'}"


def _file(matrix: str, name: str = "") -> str:
    return steps_file(STEPS, before=f"strategy: {{matrix: {matrix}}}\n{name}")


def _job(name: str) -> JobEvidence:
    return job(name, failing="Test")


@pytest.mark.parametrize(
    ("matrix", "shown", "command"),
    [
        ("{a: [1, 2], b: [x]}", "test (2, x)", "test 2 x"),
        ("{a: [3.10, '3.10']}", "test (3.1)", "test 3.1"),
        ("{a: [3.10, '3.10']}", "test (3.10)", "test 3.10"),
        ("{a: [true, '']}", "test (true)", "test true"),
        ("{a: [true, ''], b: [x]}", "test (x)", "test  x"),
        ("{a: [1], include: [{a: 1, extra: e}]}", "test (1, e)", "test 1  e"),
        ("{a: [1, 2], include: [{extra: e}]}", "test (2, e)", "test 2  e"),
        ("{a: [1, 2], include: [{a: 3, b: new}]}", "test (3, new)", "test 3 new"),
        ("{include: [{a: 1}, {a: 2, b: y}]}", "test (2, y)", "test 2 y"),
        ("{a: [1], include: [{a: 1, b: x}, {a: 1, b: y}]}", "test (1, y)", "test 1 y"),
        ("{a: [1, 2], b: [x, y], exclude: [{a: 1, b: x}]}", "test (1, y)", "test 1 y"),
        ("{a: [{v: 1, w: [2, 3]}], b: [x]}", "test (1, 2, 3, x)", "test Object x"),
        ("{a: '${{ fromJSON(''[7, 8]'') }}'}", "test (8)", "test 8"),
        ("{a: ['${{ github.event_name }}-1']}", "test (push-1)", "test push-1"),
        ("{a: [" + "y" * 120 + "]}", "test (" + "y" * 91 + "...", "test " + "y" * 120),
    ],
    ids=lambda value: value[:40],
)
def test_a_row_is_found_by_its_shown_name(matrix: str, shown: str, command: str) -> None:
    assert check_of(_file(matrix), _job(shown)).command == command


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("name: Py ${{ matrix.a }}", "Py 2"),
        ("name: Fixed", "Fixed (2)"),
        ("name: ${{ matrix.a == 2 && 'two' || 'other' }} of ${{ github.workflow }}", "two of CI"),
        ("name: '  Py   ${{ matrix.a }}  '", "Py 2"),
    ],
)
def test_a_name_of_its_own_may_hold_values(name: str, shown: str) -> None:
    assert check_of(_file("{a: [1, 2]}", name), _job(shown)).command == "test 2"


@pytest.mark.parametrize(
    ("matrix", "shown", "why"),
    [
        ("{a: [1, 2], exclude: [{a: 1}]}", "test (1)", "it is not in the workflow file"),
        ("{a: [1]}", "testing (1)", "it is not in the workflow file"),
        ("'${{ fromJSON(needs.list.outputs.rows) }}'", "test (1)", "'fromJSON(needs.list.outputs.rows)'"),
        ("{a: '${{ fromJSON(vars.ROWS) }}'}", "test (1)", "'fromJSON(vars.ROWS)'"),
        ("{a: [" + ",".join("1" * 20) + "], b: [" + ",".join("1" * 20) + "]}", "test (1, 1)", "more than 256 rows"),
        ("{a: word}", "test (1)", "no list for 'a'"),
        ("{a: [1], include: word}", "test (1)", "no list for 'include'"),
        ("{a: [1], exclude: [word]}", "test (1)", "no usable list for 'exclude'"),
        ("word", "test", "the matrix is no mapping"),
    ],
    ids=lambda value: value[:40],
)
def test_a_row_that_cannot_be_known_is_said_to_be(matrix: str, shown: str, why: str) -> None:
    assert why in refusal_of(_file(matrix), _job(shown))


def test_rows_that_differ_are_ambiguous_under_a_name_they_share() -> None:
    refusal = refusal_of(_file("{a: [1, 2]}", "name: Same"), _job("Same"))
    assert "it may be any of 2 jobs of the workflow file that differ" in refusal


def test_rows_that_do_not_differ_in_what_they_run_are_one_check() -> None:
    file = steps_file("- run: pytest", before="strategy: {matrix: {group: [1, 2]}}")
    plan = plan_of(file, *(job(f"test ({n})", failing="Run pytest") for n in (1, 2)))
    assert [check.job for check in plan.checks] == ["test (1)"]
    assert "Job 'test (2)' fails in the same check as 'test (1)'." in plan.reasons
    assert plan.uncovered == ()


def test_rows_that_differ_in_a_tool_stay_apart() -> None:
    file = steps_file(
        "- {uses: actions/setup-python@v5, with: {python-version: '${{ matrix.v }}'}}\n- run: pytest",
        before="strategy: {matrix: {v: ['3.11', '3.12']}}",
    )
    plan = plan_of(file, *(job(f"test ({v})", failing="Run pytest") for v in ("3.11", "3.12")))
    assert [check.tools[0].version for check in plan.checks] == ["3.11", "3.12"]


def test_the_place_among_the_rows_is_known() -> None:
    file = steps_file(
        "- {name: Test, run: 'shard ${{ strategy.job-index }}/${{ strategy.job-total }} ${{ strategy.fail-fast }}'}",
        before="strategy: {fail-fast: false, matrix: {a: [1, 2, 3]}}",
    )
    assert check_of(file, _job("test (3)")).command == "shard 2/3 false"


def test_settings_that_are_not_known_do_not_hide_the_rows() -> None:
    setting = "fail-fast: \"${{ !contains(github.event.pull_request.labels.*.name, 'all') }}\""
    file = steps_file(STEPS, before=f"strategy: {{{setting}, matrix: {{a: [1]}}}}")
    assert check_of(file, _job("test (1)")).command == "test 1"
