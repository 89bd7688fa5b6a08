"""Reading a test report that foreign code wrote: JUnit XML as pytest writes it (`junit_family=xunit2`).

Format: pytest's manual, "Creating JUnitXML format files". A test may have several entries (a failing teardown is one
of its own); the worst counts. Anything that is no plain report of bounded size is no report.
"""

from collections.abc import Iterator
from enum import IntEnum
from xml.etree import ElementTree

from sweeper.model import Strict, Tally

MAX_BYTES = 32 << 20
SOURCE = "report file"
_REFUSED = ("<!DOCTYPE", "<!ENTITY")


class _End(IntEnum):
    PASSED = 0
    SKIPPED = 1
    FAILED = 2


class Report(Strict):
    """Tests of one run. `failing` in the dotted form of `dotted`, sorted."""

    passed: int
    failed: int
    skipped: int
    failing: tuple[str, ...] = ()

    def tally(self, collected: int | None = None) -> Tally:
        """The counts alone, as they enter the history."""
        return Tally(collected=collected, passed=self.passed, failed=self.failed, skipped=self.skipped, source=SOURCE)


def read_report(data: bytes) -> Report | None:
    """The report in `data`; None if it is none. Never raises: what cannot be read proves nothing."""
    try:
        text = data.decode("utf-8")
        if len(data) > MAX_BYTES or any(word in text.upper() for word in _REFUSED):
            return None
        root = ElementTree.fromstring(text)  # noqa: S314  no entity can be declared without a DOCTYPE
    except (UnicodeDecodeError, ElementTree.ParseError, ValueError):
        return None
    if root.tag not in ("testsuites", "testsuite"):
        return None
    ends: dict[str, _End] = {}
    for test, end in _tests(root):
        ends[test] = max(end, ends.get(test, _End.PASSED))
    counts = {end: sum(1 for found in ends.values() if found is end) for end in _End}
    return Report(
        passed=counts[_End.PASSED],
        failed=counts[_End.FAILED],
        skipped=counts[_End.SKIPPED],
        failing=tuple(sorted(test for test, end in ends.items() if end is _End.FAILED)),
    )


def _tests(root: ElementTree.Element) -> Iterator[tuple[str, _End]]:
    for case in root.iter("testcase"):
        inside = {child.tag for child in case}
        end = _End.FAILED if inside & {"failure", "error"} else _End.SKIPPED if "skipped" in inside else _End.PASSED
        yield f"{case.get('classname', '')}.{case.get('name', '')}".strip("."), end


def dotted(test: str) -> str:
    """A pytest node id as its report names it: `tests/test_a.py::TestC::test_x` is `tests.test_a.TestC.test_x`."""
    file, _, inside = test.partition("::")
    if not inside:
        return test
    return ".".join([file.removesuffix(".py").replace("/", "."), *inside.split("::")])
