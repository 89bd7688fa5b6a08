"""Counting tests by what their tool printed, where it writes no report for us.

A printed count is weaker than a report: the code under test can print one too. It decides nothing by itself; it shows
when tests are fewer than before, or none. Forms: the last lines of unittest, jest, vitest, cargo test and `go test
-json` or `-v`, as these tools print them.
"""

import re
from collections.abc import Callable

from sweeper.model import Tally

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_TAIL_LINES = 4000
_UNITTEST = re.compile(r"^Ran (\d+) tests? in [\d.]+s$", re.MULTILINE)
_UNITTEST_END = re.compile(r"^(?:OK|FAILED|NO TESTS RAN)(?: \((?P<counts>[^)]*)\))?$", re.MULTILINE)
_JEST = re.compile(r"^\s*Tests:?\s+(?P<counts>(?:\d+ \w+[,| ]*)+)", re.MULTILINE)
_CARGO = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", re.MULTILINE)
_GO_JSON = re.compile(r'"Action":"(pass|fail|skip)"[^\n]*"Test":"')
_GO_VERBOSE = re.compile(r"^\s*--- (PASS|FAIL|SKIP): ", re.MULTILINE)


def printed_tally(output: bytes) -> Tally | None:
    """The counts a test tool printed; None if none of those known did."""
    lines = output.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")[-_TAIL_LINES:]
    text = _ANSI.sub("", "\n".join(lines))
    return next((tally for read in _READERS if (tally := read(text)) is not None), None)


def _unittest(text: str) -> Tally | None:
    ran = _UNITTEST.findall(text)
    if not ran:
        return None
    counts = [_counts(end["counts"] or "", r"(\w[\w ]*)=(\d+)") for end in _UNITTEST_END.finditer(text)]
    failed = sum(count.get("failures", 0) + count.get("errors", 0) for count in counts)
    skipped = sum(count.get("skipped", 0) for count in counts)
    total = sum(int(count) for count in ran)
    return Tally(passed=max(total - failed - skipped, 0), failed=failed, skipped=skipped, source="printed by unittest")


def _counts(text: str, form: str) -> dict[str, int]:
    return {name: int(count) for name, count in re.findall(form, text)}


def _jest(text: str) -> Tally | None:
    found = [
        {name: int(count) for count, name in re.findall(r"(\d+) (\w+)", m["counts"])} for m in _JEST.finditer(text)
    ]
    if not found:
        return None
    skipped = sum(count.get("skipped", 0) + count.get("todo", 0) + count.get("pending", 0) for count in found)
    passed, failed = (sum(count.get(name, 0) for count in found) for name in ("passed", "failed"))
    return Tally(passed=passed, failed=failed, skipped=skipped, source="printed by jest or vitest")


def _cargo(text: str) -> Tally | None:
    found = [tuple(int(count) for count in counts) for counts in _CARGO.findall(text)]
    if not found:
        return None
    passed, failed, skipped = (sum(column) for column in zip(*found, strict=True))
    return Tally(passed=passed, failed=failed, skipped=skipped, source="printed by cargo")


def _go(text: str) -> Tally | None:
    ends = [end.lower() for end in _GO_JSON.findall(text) or _GO_VERBOSE.findall(text)]
    if not ends:
        return None
    return Tally(
        passed=ends.count("pass"), failed=ends.count("fail"), skipped=ends.count("skip"), source="printed by go test"
    )


_READERS: tuple[Callable[[str], Tally | None], ...] = (_unittest, _cargo, _go, _jest)
