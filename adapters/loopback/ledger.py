"""The ledger: every REST and git call and the effect it had, append-only, on disk before the answer goes out."""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from adapters.loopback.drive.answers import LedgerCall, LedgerView


class Ledger:
    """Lines of `ledger.jsonl`. A line cut short by a kill is dropped at the next start."""

    def __init__(self, file: Path) -> None:
        self._calls: list[LedgerCall] = []
        self._out = file.open("a+b")
        self._out.truncate(self._read())

    def _read(self) -> int:
        """Take over the whole lines; the answer is where they end."""
        self._out.seek(0)
        end = 0
        for line in self._out:
            try:
                self._calls.append(LedgerCall.model_validate_json(line))
            except ValidationError:
                break
            end += len(line)
        return end

    def close(self) -> None:
        """Close the file."""
        self._out.close()

    def append(self, call: LedgerCall) -> None:
        """Number, date and keep a call."""
        numbered = call.model_copy(update={"n": len(self._calls) + 1, "time": datetime.now(UTC)})
        self._calls.append(numbered)
        self._out.write(numbered.model_dump_json().encode() + b"\n")
        self._out.flush()

    def view(self) -> LedgerView:
        """Everything so far. `effects` counts writes by name, `unknown` lists calls this GitHub does not know."""
        unknown = [f"{call.method} {call.path}" for call in self._calls if call.unknown]
        effects = Counter(call.effect for call in self._calls if call.effect)
        return LedgerView(calls=list(self._calls), effects=dict(effects), unknown=unknown)
