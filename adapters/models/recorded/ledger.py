"""The ledger: every request, on disk before its answer goes out, so that it outlives any kill."""

from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from pydantic import ValidationError

from adapters.models.recorded.faults import FaultKind
from sweeper.model import Strict


class KeyShown(StrEnum):
    """What stood in the key header; never the key itself."""

    EXPECTED = "expected"
    OTHER = "other"
    MISSING = "missing"


class Outcome(StrEnum):
    """How a request ended. `OPEN`: it is under way, or the server was killed."""

    OPEN = "open"
    SENT = "sent"
    CUT = "cut"
    GONE = "gone"
    """The client went away before the answer was sent."""


class Entry(Strict):
    """One request. What is about the conversation is empty for paths that are not models."""

    n: int = 0
    time: datetime | None = None
    method: str
    path: str
    key: KeyShown
    model: str = ""
    stream: bool = False
    messages: int = 0
    digest: str = ""
    turn: str = ""
    """Which turn answers, as `choosing.Chosen.name`."""
    fault: FaultKind | None = None
    status: int = 200
    outcome: Outcome = Outcome.OPEN

    @property
    def is_model_call(self) -> bool:
        """Whether it asked the model, with the right key and in words we understand."""
        return bool(self.digest)


class LedgerView(Strict):
    """All requests. `total` and `distinct` count model calls: all of them, and conversations that were asked about."""

    entries: tuple[Entry, ...]
    total: int
    distinct: int
    open: int


class Ledger:
    """Lines of `ledger.jsonl`; a request has a line when it comes and one when it ends, of which the last holds.

    A line cut short by a kill is dropped at the next start.
    """

    def __init__(self, file: Path) -> None:
        self._out = file.open("a+b")
        self._out.seek(0)
        self._entries, end = _whole_lines(self._out)
        self._out.truncate(end)

    def close(self) -> None:
        """Close the file."""
        self._out.close()

    def open(self, entry: Entry) -> Entry:
        """Number, date and keep a request that came in."""
        numbered = entry.model_copy(update={"n": len(self._entries) + 1, "time": datetime.now(UTC)})
        self._write(numbered)
        return numbered

    def end(self, entry: Entry, outcome: Outcome) -> None:
        """Say how it ended."""
        self._write(entry.model_copy(update={"outcome": outcome}))

    def _write(self, entry: Entry) -> None:
        self._entries[entry.n] = entry
        self._out.write(entry.model_dump_json().encode() + b"\n")
        self._out.flush()

    def view(self) -> LedgerView:
        """Everything so far."""
        return _view(self._entries)


def read_ledger(file: Path) -> LedgerView:
    """What a ledger's file holds, whether its server lives or not."""
    with file.open("rb") as lines:
        return _view(_whole_lines(lines)[0])


def _whole_lines(lines: Iterable[bytes]) -> tuple[dict[int, Entry], int]:
    """The last line of each request, and where the whole lines end."""
    entries: dict[int, Entry] = {}
    end = 0
    for line in lines:
        try:
            entry = Entry.model_validate_json(line)
        except ValidationError:
            break
        entries[entry.n] = entry
        end += len(line)
    return entries, end


def _view(entries: dict[int, Entry]) -> LedgerView:
    calls = [entry for entry in entries.values() if entry.is_model_call]
    return LedgerView(
        entries=tuple(entries.values()),
        total=len(calls),
        distinct=len({entry.digest for entry in calls}),
        open=sum(entry.outcome is Outcome.OPEN for entry in calls),
    )
