"""Reading a test report that foreign code wrote: JUnit XML as pytest writes it (`junit_family=xunit2`).

Format: pytest's manual, "Creating JUnitXML format files". A test may have several entries (a failing teardown is one
of its own); the worst counts. Anything that is no plain report of bounded size is no report.
"""

import re
from enum import IntEnum
from io import BytesIO
from xml.etree import ElementTree

from sweeper.model import Strict, Tally

MAX_BYTES = 32 << 20
MOST_TESTS = 250_000
SOURCE = "report file"
_SUITES = ("testsuites", "testsuite")
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\x7e\x80-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REFUSED = ("<!DOCTYPE", "<!ENTITY")


class End(IntEnum):
    """How a test ended; the larger is the worse."""

    PASSED = 0
    SKIPPED = 1
    FAILED = 2


class Report(Strict):
    """How each test of one run ended, by its dotted name (see `dotted`)."""

    ends: dict[str, End]

    @property
    def passed(self) -> int:
        """How many passed."""
        return self._count(End.PASSED)

    @property
    def failed(self) -> int:
        """How many failed, or could not be set up or torn down."""
        return self._count(End.FAILED)

    @property
    def skipped(self) -> int:
        """How many were skipped, or failed as expected."""
        return self._count(End.SKIPPED)

    @property
    def failing(self) -> tuple[str, ...]:
        """Names of those that failed, sorted."""
        return tuple(sorted(test for test, end in self.ends.items() if end is End.FAILED))

    def tally(self, collected: int | None = None) -> Tally:
        """The counts alone, as they enter the history."""
        return Tally(collected=collected, passed=self.passed, failed=self.failed, skipped=self.skipped, source=SOURCE)

    def _count(self, wanted: End) -> int:
        return sum(1 for end in self.ends.values() if end is wanted)


def read_report(data: bytes) -> Report | None:
    """The report in `data`; None if it is none. Never raises: what cannot be read proves nothing."""
    try:
        text = data.decode("utf-8")
        if len(data) > MAX_BYTES or any(word in text.upper() for word in _REFUSED):
            return None
        ends = _ends(data)
    except (UnicodeDecodeError, ElementTree.ParseError, ValueError):
        return None
    return None if ends is None else Report(ends=ends)


def _ends(data: bytes) -> dict[str, End] | None:
    """None: no report, or one of more tests than are told apart here. An entry is dropped as soon as it is read."""
    ends: dict[str, End] = {}
    suite: ElementTree.Element | None = None
    for event, element in ElementTree.iterparse(BytesIO(data), ("start", "end")):  # noqa: S314  DOCTYPE is refused
        if event == "start":
            if suite is None and element.tag not in _SUITES:
                return None
            suite = element if element.tag in _SUITES else suite
        elif element.tag == "testcase":
            test, end = _test(element)
            ends[test] = max(end, ends.get(test, End.PASSED))
            if suite is not None:
                suite.clear()
            if len(ends) > MOST_TESTS:
                return None
    return ends


def _test(case: ElementTree.Element) -> tuple[str, End]:
    inside = {child.tag for child in case}
    end = End.FAILED if inside & {"failure", "error"} else End.SKIPPED if "skipped" in inside else End.PASSED
    return f"{case.get('classname', '')}.{case.get('name', '')}".strip("."), end


def dotted(test: str) -> str:
    """A pytest node id as its report names it: `tests/test_a.py::TestC::test_x` is `tests.test_a.TestC.test_x`.

    What stands in brackets is kept as it is, but for characters that XML does not allow (`#x07`).
    """
    file, _, inside = test.partition("::")
    if not inside:
        return test
    place, bracket, parameters = inside.partition("[")
    names = [file.removesuffix(".py").replace("/", "."), *place.split("::")]
    return _allowed(".".join(names) + bracket + parameters)


def dotted_before(test: str) -> str:
    """The same in versions of pytest that cut at the first bracket, even one in the name of a folder or file."""
    place, bracket, parameters = test.partition("[")
    file, *inside = place.split("::")
    return _allowed(".".join([file.removesuffix(".py").replace("/", "."), *inside]) + bracket + parameters)


def _allowed(name: str) -> str:
    if not name.isprintable():
        name = _NOT_IN_XML.sub(lambda found: f"#x{ord(found[0]):0{2 if ord(found[0]) <= 0xFF else 4}X}", name)
    return name.strip(".")
