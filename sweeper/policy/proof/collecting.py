"""Reading what `pytest --collect-only -q` prints: how many tests there are, and which.

One test a line by its node id, an empty line, then how many ("12 tests collected in 0.10s"). Told to be quieter still
it says no number, or nothing but a number for each file (`_printcollecteditems` of its terminal reporter). A step may
call pytest several times, and prints that often.
"""

import re
from enum import StrEnum

from sweeper.model import Strict

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_COLLECTED = re.compile(
    r"(?:^|\s)(\d+)(?:/\d+)? tests? collected(?: \(\d+ deselected\))?(?:, \d+ errors?)? in ", re.MULTILINE
)
_NO_TESTS = re.compile(r"^=*\s*no tests collected", re.MULTILINE)
_PER_FILE = re.compile(r"^\S.*: (\d+)$", re.MULTILINE)
_NODE = re.compile(r"^\S+\.py::\S", re.MULTILINE)
_ID = re.compile(r"^\S.*?::\S")
_HEADING = re.compile(r"^=+ .* =+$")


class Collection(StrEnum):
    """How much is known of the tests that a tool collects in a run of its own."""

    NOT_ASKED = "not_asked"
    CUT = "cut"
    NONE = "none"
    COUNTED = "counted"
    LISTED = "listed"


class Listing(Strict):
    """What was collected. `ids` only where `collection` is LISTED; `sessions`: how often the step called pytest."""

    collection: Collection = Collection.NOT_ASKED
    count: int | None = None
    ids: tuple[str, ...] = ()
    sessions: int = 1


def listing(output: bytes) -> Listing:
    """What `pytest --collect-only -q` printed, however quiet or loud it was told to be.

    Lines that are no test of it, more or fewer than it says, make it a count only.
    """
    text = _ANSI.sub("", output.decode("utf-8", "replace")).replace("\r\n", "\n")
    count = _count(text)
    if count is None:
        return Listing(collection=Collection.NONE)
    ids, lists = _ids(text)
    sessions = len(_COLLECTED.findall(text)) + len(_NO_TESTS.findall(text)) or max(lists, 1)
    if len(ids) != count:
        return Listing(collection=Collection.COUNTED, count=count, sessions=sessions)
    return Listing(collection=Collection.LISTED, count=count, ids=tuple(sorted(set(ids))), sessions=sessions)


def _count(text: str) -> int | None:
    if said := _COLLECTED.findall(text):
        return sum(int(count) for count in said)
    if _NO_TESTS.search(text):
        return 0
    if nodes := _NODE.findall(text):
        return len(nodes)
    counts = _PER_FILE.findall(text)
    return sum(int(count) for count in counts) if counts else None


def _ids(text: str) -> tuple[list[str], int]:
    """The ids, and how many lists of them there are: an empty line ends one.

    Behind a heading stand warnings and errors, which name tests too, up to the line that says how many.
    """
    found, lists, is_told, is_open = [], 0, False, False
    for line in text.split("\n"):
        if _COLLECTED.search(line) or _NO_TESTS.match(line):
            is_told = False
        elif _HEADING.match(line):
            is_told = True
        elif not is_told and _ID.match(line):
            found.append(line)
            lists += not is_open
            is_open = True
        is_open = is_open and line.strip() != ""
    return found, lists
