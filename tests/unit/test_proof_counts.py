"""Reports, printed counts, and what a green run is worth."""

import pytest

from sweeper.model import CheckResult, Tally
from sweeper.policy.proof import judging
from sweeper.policy.proof.collecting import listing
from sweeper.policy.proof.reports import dotted, read_report
from sweeper.policy.proof.tallies import printed_tally
from tests.support.proofs import junit


def test_a_report_is_counted_by_test_and_its_worst_end() -> None:
    cases = b"""<testsuites><testsuite>
      <testcase classname="tests.test_a" name="test_one"/>
      <testcase classname="tests.test_a" name="test_two"><failure/></testcase>
      <testcase classname="tests.test_a" name="test_one"><error message="teardown"/></testcase>
      <testcase classname="tests.test_a" name="test_three"><skipped/></testcase>
    </testsuite></testsuites>"""
    report = read_report(cases)
    assert report is not None
    assert (report.passed, report.failed, report.skipped) == (0, 2, 1)
    assert report.failing == ("tests.test_a.test_one", "tests.test_a.test_two")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not xml",
        b"<html/>",
        b"\xff\xfe<\x00t\x00",
        b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><testsuites>&b;</testsuites>',
        b"<testsuites><testsuite>",
    ],
)
def test_what_is_no_plain_report_is_none(data: bytes) -> None:
    assert read_report(data) is None


def test_test_ids_of_ci_and_of_a_report_are_comparable() -> None:
    assert dotted("tests/unit/test_a.py::TestC::test_x[1]") == "tests.unit.test_a.TestC.test_x[1]"
    assert dotted("TestTotal") == "TestTotal"


@pytest.mark.parametrize(
    ("output", "passed", "failed", "skipped"),
    [
        ("..F\nRan 3 tests in 0.002s\n\nFAILED (failures=1, skipped=1)\n", 1, 1, 1),
        ("Ran 1 test in 0.000s\n\nOK\n", 1, 0, 0),
        ("Ran 0 tests in 0.000s\n\nOK\n", 0, 0, 0),
        (
            "test result: ok. 3 passed; 0 failed; 1 ignored\ntest result: FAILED. 1 passed; 2 failed; 0 ignored",
            4,
            2,
            1,
        ),
        ("Tests:       1 failed, 2 skipped, 3 passed, 6 total\n", 3, 1, 2),
        ("\x1b[2m      Tests \x1b[22m 1 failed | 2 passed (3)\n", 2, 1, 0),
        ('{"Action":"pass","Package":"p","Test":"TestA"}\n{"Action":"fail","Package":"p","Test":"TestB"}\n', 1, 1, 0),
        ("--- PASS: TestA (0.00s)\n    --- SKIP: TestA/sub (0.00s)\n", 1, 0, 1),
    ],
)
def test_tools_print_how_many_tests_they_ran(output: str, passed: int, failed: int, skipped: int) -> None:
    tally = printed_tally(output.encode())
    assert tally is not None
    assert (tally.passed, tally.failed, tally.skipped) == (passed, failed, skipped)


@pytest.mark.parametrize("output", ["", "All good\n", "0 failed\n", "FAILED\n", "5 tests\n"])
def test_other_words_are_no_count(output: str) -> None:
    assert printed_tally(output.encode()) is None


@pytest.mark.parametrize(
    ("output", "count"),
    [
        ("t.py::test_a\nt.py::test_b\n\n2 tests collected in 0.01s\n", 2),
        ("<Function test_a>\n==== 1 test collected in 0.00s ====\n", 1),
        ("3/5 tests collected (2 deselected) in 0.01s\n", 3),
        ("tests/test_a.py: 3\ntests/test_b.py: 1\n", 4),
        ("no tests collected in 0.00s\n", 0),
        ("anything else\n", None),
    ],
)
def test_collected_tests_are_counted_at_any_verbosity(output: str, count: int | None) -> None:
    assert listing(output.encode()).count == count


def result(exit_code: int = 0, **tally: object) -> CheckResult:
    counted = Tally.model_validate({"source": "report file", **tally}) if tally else None
    return CheckResult(check="test", command="pytest", exit_code=exit_code, seconds=1.0, tally=counted)


def names(before: Tally | None, after: CheckResult) -> list[str]:
    return [finding.name for finding in judging.count_findings(before, after)]


TEN = Tally(passed=9, failed=1, source="report file")


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (TEN, result(passed=10, collected=10), []),
        (TEN, result(passed=12, collected=12), []),
        (TEN, result(passed=9), ["fewer_tests"]),
        (TEN, result(passed=9, skipped=1), ["fewer_tests"]),
        (TEN, result(passed=0), ["no_tests_ran"]),
        (TEN, result(), ["counts_gone"]),
        (None, result(passed=0), ["no_tests_ran"]),
        (TEN, result(passed=10, source="printed by unittest"), ["counts_gone"]),
        (None, result(), []),
        (None, result(passed=3, failed=1), ["report_disagrees"]),
        (TEN, result(passed=10, collected=14), ["report_disagrees"]),
        (Tally(source="printed by unittest"), result(passed=0, source="printed by unittest"), []),
    ],
)
def test_a_green_run_is_worth_what_its_counts_say(before: Tally | None, after: CheckResult, found: list[str]) -> None:
    assert names(before, after) == found


def test_limits_are_no_failures_of_the_code() -> None:
    for exit_code in (137, 152, 153):
        assert judging.limit_of(result(exit_code)) is not None
    assert judging.limit_of(result(1)) is None


def test_a_command_is_redder_when_it_turns_red_or_fails_more() -> None:
    green, red, redder = result(0), result(1, failed=1), result(1, failed=2)
    assert judging.is_redder(green, red)
    assert judging.is_redder(red, redder)
    assert not judging.is_redder(redder, red)
    assert not judging.is_redder(red, green)


def test_the_reports_of_these_tests_are_like_pytests() -> None:
    report = read_report(junit({"tests.test_a.test_x": "passed", "tests.test_a.test_y": "failed"}))
    assert report is not None
    assert (report.passed, report.failing) == (1, ("tests.test_a.test_y",))
