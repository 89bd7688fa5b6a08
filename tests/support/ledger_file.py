"""GitHub's ledger read where it is written, so that waiting for an effect costs GitHub nothing."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from adapters.loopback.drive.answers import LedgerCall

_LOOK_EVERY = 0.05


class LedgerFile:
    """The ledger of one loopback, as far as its lines are whole and about one repository, from now on."""

    def __init__(self, directory: Path, repository: str) -> None:
        self._file = directory / "ledger.jsonl"
        self._address = re.compile(rf"/{re.escape(repository)}(?:[./# ]|$)")
        self._read = self._file.stat().st_size if self._file.exists() else 0
        self.calls: list[LedgerCall] = []

    def look(self) -> list[LedgerCall]:
        """Every call so far."""
        if self._file.exists():
            with self._file.open("rb") as file:
                file.seek(self._read)
                for line in file:
                    if line.endswith(b"\n"):
                        self._read += len(line)
                        self._take(LedgerCall.model_validate_json(line))
        return self.calls

    def _take(self, call: LedgerCall) -> None:
        """GraphQL has one address for all repositories; a call to it that had no effect may be anybody's."""
        is_anybodys = call.key is None and call.path.endswith("/graphql")
        if is_anybodys or self._address.search(call.path) or self._address.search(f"/{call.key or ''}"):
            self.calls.append(call)

    def effects(self) -> Counter[str]:
        """How often each effect happened."""
        return Counter(call.effect for call in self.look() if call.effect)

    async def until(self, reached: Callable[[list[LedgerCall]], bool]) -> None:
        """Wait until the calls are so."""
        while not reached(self.look()):
            await asyncio.sleep(_LOOK_EVERY)

    async def has(self, effect: str, times: int = 1) -> None:
        """Wait until that effect happened that often."""
        await self.until(lambda _: self.effects()[effect] >= times)
