"""What a green run is worth: do its exit code, its counted tests and the run without the change agree?"""

from collections.abc import Sequence

from sweeper.model import CheckResult, Finding, Part, Severity, Tally
from sweeper.policy.proof.reports import SOURCE

NO_TESTS_RAN = "no_tests_ran"
FEWER_TESTS = "fewer_tests"
COUNTS_GONE = "counts_gone"
REPORT_DISAGREES = "report_disagrees"

LIMIT_EXITS = {137: "memory or kill", 152: "processor time", 153: "file size"}
"""128 + SIGKILL, SIGXCPU, SIGXFSZ (signal(7)): ended by a limit of the machine, which says nothing of the code."""

MOST_FINDINGS, MOST_RESTORED, MOST_UNCHECKED = 30, 30, 10
GREEN_RUNS = 2


def executed(tally: Tally) -> int:
    """Tests that were really run: a skipped one shows nothing."""
    return tally.passed + tally.failed


def count_findings(before: Tally | None, result: CheckResult, *, by_number: bool = True) -> tuple[Finding, ...]:
    """What is wrong with a green run's counts; `before` is the same check's without the change.

    Known counts that are gone, or are printed where there was a report, none that ran, fewer than before, a report of
    failures beside exit code 0, and (`by_number`: their names are not known) a report that holds fewer tests than were
    collected are each reason enough to believe nothing.
    """
    tally = result.tally
    if before is not None and (tally is None or (before.source == SOURCE != tally.source)):
        return (
            _reject(COUNTS_GONE, result, f"{executed(before)} tests were counted without the change, none with it"),
        )
    if tally is None:
        return ()
    found = []
    if executed(tally) == 0 and (before is None or executed(before) > 0):
        found.append(_reject(NO_TESTS_RAN, result, "the command is green and no test of it ran"))
    elif before is not None and executed(tally) < executed(before):
        detail = f"{executed(before)} tests ran without the change, {executed(tally)} with it"
        found.append(_reject(FEWER_TESTS, result, detail))
    if tally.source == SOURCE:
        found += _disagreements(tally, result, by_number=by_number)
    return tuple(found)


def _disagreements(tally: Tally, result: CheckResult, *, by_number: bool) -> list[Finding]:
    found = []
    if tally.failed and result.is_green:
        found.append(_reject(REPORT_DISAGREES, result, f"exit code 0, but the report tells of {tally.failed} failures"))
    if by_number and tally.collected is not None and tally.ran < tally.collected:
        detail = f"{tally.collected} tests are collected, the report holds {tally.ran}"
        found.append(_reject(REPORT_DISAGREES, result, detail))
    return found


def _reject(name: str, result: CheckResult, detail: str) -> Finding:
    return Finding(name=name, place=f"check {result.check!r}", severity=Severity.REJECT, detail=detail)


def is_redder(before: CheckResult, after: CheckResult) -> bool:
    """Whether a command ends worse with a change: red where it was green, or with more failing tests."""
    if before.is_green:
        return not after.is_green
    if after.is_green or before.tally is None or after.tally is None:
        return False
    return after.tally.failed > before.tally.failed


def limit_of(result: CheckResult) -> str | None:
    """The limit that ended a run, known from the sandbox or from its exit code."""
    return result.limit or LIMIT_EXITS.get(result.exit_code or 0)


def counted_in(results: Sequence[CheckResult], check: str, part: Part = Part.CHECK, step: str = "") -> Tally | None:
    """The best count of a command in earlier results: the one that ran most tests."""
    found = [r.tally for r in results if (r.check, r.part, r.step) == (check, part, step) and r.tally is not None]
    return max(found, key=executed, default=None)


def unknown_counts(results: Sequence[CheckResult]) -> tuple[str, ...]:
    """A sentence for each check whose tests could not be counted, or only by what was printed."""
    told = {}
    for result in results:
        if result.part is not Part.CHECK:
            continue
        if result.tally is None:
            told[result.check] = f"How many tests check {result.check!r} ran is not known; its exit code alone decided."
        elif result.tally.source != SOURCE:
            sentence = f"Tests of check {result.check!r} were counted as {result.tally.source}, no report"
            told[result.check] = f"{sentence}: compared by number, not by name."
        elif result.tally.names is None:
            told[result.check] = f"Tests of check {result.check!r} were compared by number, not by name."
    return tuple(told.values())
