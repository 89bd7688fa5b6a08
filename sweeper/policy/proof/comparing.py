"""Comparing the tests of a green run by name: with what was collected, and with the same check without the change.

A number can be made up: a test that is taken away and another put in its place leave it as it was. So each test that
ran without the change has to run with it, and those that failed have to pass. What the untouched tree shows as well
(plug-ins that rename tests, several calls of pytest in one step) is not held against a change.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sweeper.model import Finding, Severity, Strict
from sweeper.policy.proof.collecting import Collection
from sweeper.policy.proof.judging import REPORT_DISAGREES
from sweeper.policy.proof.names import Names, forms
from sweeper.policy.proof.removed import Removed
from sweeper.policy.proof.reports import End

TEST_GONE = "test_gone"
FAILING_TEST_GONE = "failing_test_gone"
TESTS_REMOVED = "tests_removed_by_the_change"
SHOWN_NAMES = 3
NAME_CHARS = 160


class Expected(Strict):
    """What a check's names are held against. `before`: its runs on the untouched tree, the first the one that listed.

    `named`: the tests of CI's failure. `decides`: the files of the failing tests are as they were, so none may be gone.
    """

    check: str
    before: tuple[Names, ...] = ()
    named: tuple[str, ...] = ()
    removed: Removed = Removed()
    decides: bool = True


class Compared(NamedTuple):
    """Findings of both severities, and sentences on what could not be compared."""

    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_refused(self) -> bool:
        """Whether a green run is not believed."""
        return any(finding.severity is Severity.REJECT for finding in self.findings)


class _Lost(NamedTuple):
    test: str
    how: str


def compare(expected: Expected, after: Names) -> Compared:
    """What the names of a green run show. Without any `before` only collection and report are held together."""
    before = expected.before[0] if expected.before else None
    found = list(_disagreements(expected, before, after))
    notes = list(_notes(expected, before, after))
    if before is not None:
        unstable = _unstable(expected.before)
        if unstable:
            notes.append(
                f"{len(unstable)} tests of check {expected.check!r} have other names in each run, or came once."
            )
        lost = [one for one in _lost(before, after) if one.test not in unstable]
        found += _judged(expected, before, after, lost)
    return Compared(tuple(found), tuple(notes))


def is_in_parts(before: Names, after: Names) -> bool:
    """Whether the last of several calls overwrote the report of the others, without the change as with it.

    Then neither report holds all tests, and they may be of different calls: their numbers say nothing.
    """
    return before.sessions > 1 and (after.sessions > 1 or after.collection is Collection.NOT_ASKED)


def names_lost(check: str) -> tuple[Finding, ...]:
    """For a run whose tests cannot be told by name, where those of the untouched tree could."""
    return (_reject(REPORT_DISAGREES, Expected(check=check), "names of tests are known without the change only"),)


def _disagreements(expected: Expected, before: Names | None, after: Names) -> Iterator[Finding]:
    asked = before is not None and before.collection in (Collection.LISTED, Collection.COUNTED)
    if asked and after.collection is Collection.NONE:
        yield _reject(REPORT_DISAGREES, expected, "tests are collected without the change, none are told of with it")
    elif not _is_tolerated(before, after) and (missing := _not_in_report(before, after)):
        shown = _some(missing) if after.is_listed else f"{after.count} tests"
        detail = f"{shown} collected and not in the report, which holds {len(after.reported())}"
        yield _reject(REPORT_DISAGREES, expected, detail)


def _not_in_report(before: Names | None, after: Names) -> Sequence[str]:
    """Tests that are collected and did not end, by name where they are known so."""
    if after.is_listed:
        return [test for test in after.unmatched if before is None or test not in before.collected]
    short = (after.count or 0) - len(after.others)
    if before is not None and not before.stopped and not before.is_listed:
        short -= max((before.count or 0) - len(before.others), 0)
    return [""] * max(short, 0)


def _is_tolerated(before: Names | None, after: Names) -> bool:
    """Whether the untouched tree explains that collection and report differ.

    Where it stopped early, nobody knows how its report would call the rest; then the numbers have to agree.
    """
    if before is None:
        return False
    told_otherwise = before.stopped and 0 < len(after.unmatched) <= len(after.others)
    return before.renames or told_otherwise or is_in_parts(before, after)


def _lost(before: Names, after: Names) -> Iterator[_Lost]:
    reported = after.reported()
    for test, end in before.collected.items():
        if how := _how_lost(test, end, before, after, reported):
            yield _Lost(test, how)
    if is_in_parts(before, after):
        return
    for test, end in before.others.items():
        now = reported.get(test)
        if now is None and end is not End.SKIPPED and not (end is End.FAILED and _has_below(reported, test)):
            yield _Lost(test, "gone")
        elif now is End.SKIPPED and end is not End.SKIPPED:
            yield _Lost(test, "skipped")


def _how_lost(test: str, end: End | None, before: Names, after: Names, reported: dict[str, End]) -> str:
    """Empty: it is there, and ran if it ran before."""
    if after.is_listed and test not in after.collected:
        return "gone"
    if after.is_listed:
        now = after.collected[test]
    else:
        now = next((reported[form] for form in forms(test) if form in reported), None)
    if now is End.SKIPPED:
        return "skipped" if end in (End.PASSED, End.FAILED) else ""
    if now is not None or is_in_parts(before, after):
        return ""
    if end is None:  # so it was without the change, unless that run was stopped before this test
        return "not run" if before.stopped and after.is_listed and not _is_tolerated(before, after) else ""
    return "not run" if after.is_listed else "gone"


def _has_below(reported: dict[str, End], collector: str) -> bool:
    """A file that could not be collected has an entry of its own; mended, its tests take the place of that."""
    return any(test.startswith(f"{collector}.") and end is not End.SKIPPED for test, end in reported.items())


def _judged(expected: Expected, before: Names, after: Names, lost: Sequence[_Lost]) -> Iterator[Finding]:
    """Worst first."""
    failed = _failed(expected, before)
    functions = {_function(test) for test, end in after.reported().items() if end is not End.SKIPPED}
    hard: dict[str, list[str]] = {}
    soft: list[str] = []
    for test, how in lost:
        removed = expected.removed.explains(test)
        if test in failed and (expected.decides or not removed):
            hard.setdefault(FAILING_TEST_GONE, []).append(f"{test} ({how})")
        elif removed or (how == "gone" and _is_case(test) and _function(test) in functions):
            soft.append(test)
        else:
            hard.setdefault(TEST_GONE, []).append(f"{test} ({how})")
    for name, tests in sorted(hard.items()):
        yield _reject(name, expected, f"ran without the change and not with it: {_some(tests)}")
    if soft:
        detail = f"the change renames, removes or replaces {_some(soft)}"
        yield Finding(name=TESTS_REMOVED, place=_place(expected), severity=Severity.SHOW, detail=detail)


def _failed(expected: Expected, before: Names) -> set[str]:
    """Those that have to pass: what was red without the change, and what CI named and ran here."""
    ends: dict[str, End | None] = {**before.collected, **before.others}
    red = {test for test, end in ends.items() if end is End.FAILED}
    named = [name for _, names in _meant(expected.named, ends) for name in names]
    return red | {test for test in named if ends[test] is not End.SKIPPED}


def _notes(expected: Expected, before: Names | None, after: Names) -> Iterator[str]:
    check = f"check {expected.check!r}"
    if before is not None and is_in_parts(before, after):
        yield f"The step of {check} calls pytest several times; only tests of the last call are compared by their ends."
    elif before is not None and before.renames:
        yield f"In {check} reports call tests otherwise than they are collected; those are compared as reported."
    if after.collection is Collection.CUT:
        yield f"Collecting the tests of {check} alone took too long, so its report is not compared with it."
    ends: dict[str, End | None] = {**after.collected, **after.others}
    passed = {name for name, tests in _meant(expected.named, ends) if End.PASSED in map(ends.get, tests)}
    if ends and (unseen := [name for name in expected.named if "::" in name and name not in passed]):
        yield f"Named by CI and not seen to pass by that name in {check}: {_some(unseen)}."


def _meant(named: Sequence[str], ends: dict[str, End | None]) -> Iterator[tuple[str, list[str]]]:
    """Reports name tests from where the tool was started, CI from the top of the tree, or the other way round."""
    wanted = {name: forms(name) for name in named if "::" in name}
    found: dict[str, list[str]] = {name: [] for name in wanted}
    tail = min((len(form) for asked in wanted.values() for form in asked), default=0)
    tails = {form[-tail:] for asked in wanted.values() for form in asked}
    for test in ends if wanted else ():
        for own in forms(test):
            if len(own) >= tail and own[-tail:] not in tails:  # so it is for nearly all of many tests
                continue
            for name, asked in wanted.items():
                if any(own == one or own.endswith(f".{one}") or one.endswith(f".{own}") for one in asked):
                    found[name].append(test)
    yield from found.items()


def _unstable(runs: Sequence[Names]) -> set[str]:
    """Tests of the first run that another run of the same tree does not hold."""
    first, *others = runs
    told = [run.reported() for run in others]
    ends: dict[str, End | None] = {**first.collected, **first.others}
    return {
        test
        for test, end in ends.items()
        if end is not None and any(not any(form in run for form in forms(test)) for run in told)
    }


def _is_case(test: str) -> bool:
    """Whether it is one of several cases of a test."""
    return test.endswith("]") and "[" in (test.partition("::")[2] or test)


def _function(test: str) -> str:
    return forms(test)[0].partition("[")[0]


def _reject(name: str, expected: Expected, detail: str) -> Finding:
    return Finding(name=name, place=_place(expected), severity=Severity.REJECT, detail=detail)


def _place(expected: Expected) -> str:
    return f"check {expected.check!r}"


def _some(tests: Sequence[str]) -> str:
    more = f" and {len(tests) - SHOWN_NAMES} more" if len(tests) > SHOWN_NAMES else ""
    return ", ".join(test[:NAME_CHARS] for test in tests[:SHOWN_NAMES]) + more
