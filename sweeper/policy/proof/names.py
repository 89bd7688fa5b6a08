"""The tests of one run by name: what pytest collected in a run of its own beside what its report holds.

Names are kept as a text of their own, outside of the history: there may be a hundred thousand.
"""

import re

from sweeper.model import Strict
from sweeper.policy.proof.collecting import Collection, Listing
from sweeper.policy.proof.reports import End, Report, dotted, dotted_before

_STOPPED = re.compile(rb"^!{3,} .* !{3,}\r?$", re.MULTILINE)
"""pytest's last line where it did not go through all tests ("stopping after 1 failures", "Interrupted: ...")."""
_LETTERS: dict[End | None, str] = {End.PASSED: "P", End.SKIPPED: "S", End.FAILED: "F", None: "-"}
_ENDS = {letter: end for end, letter in _LETTERS.items()}
_NODE, _OTHER = "n", "r"


class Names(Strict):
    """Tests by name and end. `collected`: by node id; None is a test that the report does not hold.

    `others`: of the report alone, by dotted name; all of it where nothing was listed. `stopped`: the tool said that it
    did not go through all tests.
    """

    collection: Collection = Collection.NOT_ASKED
    count: int | None = None
    sessions: int = 1
    stopped: bool = False
    collected: dict[str, End | None] = {}
    others: dict[str, End] = {}

    @property
    def is_listed(self) -> bool:
        """Whether each collected test is known by its node id."""
        return self.collection is Collection.LISTED

    @property
    def unmatched(self) -> tuple[str, ...]:
        """What is collected and has no entry in the report."""
        return tuple(test for test, end in self.collected.items() if end is None)

    @property
    def renames(self) -> bool:
        """Whether the report calls tests otherwise than they are collected, as plug-ins have it do."""
        return bool(self.unmatched and self.others) and not self.stopped

    def reported(self) -> dict[str, End]:
        """The report by dotted names, in every form that a node id has."""
        known = {form: end for test, end in self.collected.items() if end is not None for form in forms(test)}
        return {**known, **self.others}

    def text(self) -> str:
        """As it is kept; `names_in` reads it."""
        count = "-" if self.count is None else str(self.count)
        lines = [f"{self.collection.value} {count} {self.sessions} {int(self.stopped)}"]
        lines += [f"{_LETTERS[end]}{_NODE} {_line(test)}" for test, end in sorted(self.collected.items())]
        lines += [f"{_LETTERS[end]}{_OTHER} {_line(test)}" for test, end in sorted(self.others.items())]
        return "\n".join(lines)


def matched(report: Report, listed: Listing, output: bytes) -> Names:
    """The collected tests with their ends. `output`: what the run printed that wrote the report."""
    found: dict[str, End | None] = {}
    taken: set[str] = set()
    for test in listed.ids:
        key = next((form for form in forms(test) if form in report.ends), None)
        found[test] = None if key is None else report.ends[key]
        taken.update(() if key is None else (key,))
    return Names(
        collection=listed.collection,
        count=listed.count,
        sessions=listed.sessions,
        stopped=_STOPPED.search(output) is not None,
        collected=found,
        others={test: end for test, end in report.ends.items() if test not in taken},
    )


def names_in(text: str) -> Names | None:
    """What `text` wrote; None for anything else."""
    head, *lines = text.split("\n")
    try:
        collection, count, sessions, stopped = head.split(" ")
        collected: dict[str, End | None] = {}
        others: dict[str, End] = {}
        for line in lines:
            end = _ENDS[line[0]]
            if line[1] == _NODE:
                collected[line[3:]] = end
            elif end is not None:
                others[line[3:]] = end
        return Names(
            collection=Collection(collection),
            count=None if count == "-" else int(count),
            sessions=int(sessions),
            stopped=stopped == "1",
            collected=collected,
            others=others,
        )
    except (ValueError, KeyError, IndexError):
        return None


def forms(test: str) -> tuple[str, ...]:
    """The dotted names under which a report may hold a node id."""
    new = dotted(test)
    return (new, dotted_before(test)) if "[" in test.partition("::")[0] else (new,)


def _line(test: str) -> str:
    return test.replace("\r", "\\r").replace("\n", "\\n")
