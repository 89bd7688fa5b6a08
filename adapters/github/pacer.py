"""Writes of one payer come one after another with a pause between, as GitHub's page on secondary limits asks.

First come, first served. Whoever waits holds no connection, and leaves the queue when nobody wants his answer any more
or when the wait would be longer than a caller can bear: then nothing was sent, and trying again is safe.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field

from sweeper.errors import Transient

LONGEST_WAIT = 20.0
"""Seconds; an activity that writes has a minute."""


class Caller:
    """Whoever waits for a write; it may go away meanwhile."""

    def __init__(self) -> None:
        self.is_gone = False


CALLER: ContextVar[Caller | None] = ContextVar("caller", default=None)
"""Set for the thread that writes, by whoever awaits it."""


@dataclass
class _Line:
    waiting: deque[object] = field(default_factory=deque)
    free_at: float = 0.0


class Pacer:
    """Turns at writing. `pause`: seconds from one turn to the next of the same payer; 0: no waiting at all."""

    def __init__(self, pause: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._pause = pause
        self._clock = clock
        self._changed = threading.Condition()
        self._lines: dict[str, _Line] = {}

    def wait(self, payer: str) -> None:
        """Until it is the caller's turn. Raises Transient when that takes too long, or when the caller went away."""
        if self._pause <= 0:
            return
        me, caller, latest = object(), CALLER.get(), self._clock() + LONGEST_WAIT
        with self._changed:
            line = self._lines.setdefault(payer, _Line())
            line.waiting.append(me)
            try:
                while (left := self._until_turn(line, me, caller, latest)) > 0:
                    self._changed.wait(left)
                line.free_at = self._clock() + self._pause
            finally:
                line.waiting.remove(me)
                self._changed.notify_all()

    def _until_turn(self, line: _Line, me: object, caller: Caller | None, latest: float) -> float:
        """Seconds to wait before looking again; 0 or less: now."""
        now = self._clock()
        if caller is not None and caller.is_gone:
            raise Transient("Ask again: nobody waited for this write any more, so it was not sent.")
        if now >= latest:
            raise Transient(
                f"Ask again in a moment: {len(line.waiting)} writes wait their turn, this one was not sent."
            )
        return min(line.free_at - now, latest - now) if line.waiting[0] is me else latest - now

    def waiting(self, payer: str) -> int:
        """How many wait for their turn."""
        with self._changed:
            return len(self._lines[payer].waiting) if payer in self._lines else 0

    def leave(self, caller: Caller) -> None:
        """The caller went away: his turn is the next one's."""
        with self._changed:
            caller.is_gone = True
            self._changed.notify_all()
