"""Rings, coalesced: many doorbells for one sweep become few signals.

A ring carries nothing but "look", so one that still waits to be sent speaks for all that come meanwhile. A workflow
takes about 10,000 signals, then none of any kind: a storm of webhooks must not be able to use them up.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress

from sweeper.errors import SweeperError

BURST = 30
WINDOW_SECONDS = 60.0


class Rings:
    """Per sweep at most one signal under way and one waiting behind it, and at most 30 a minute from this process."""

    def __init__(
        self, send: Callable[[str], Awaitable[bool]], burst: int = BURST, window_seconds: float = WINDOW_SECONDS
    ) -> None:
        self._send = send
        self._burst = burst
        self._window = window_seconds
        self._bells: dict[str, _Bell] = {}

    @property
    def remembered(self) -> int:
        """For how many sweeps something is kept."""
        return len(self._bells)

    async def ring(self, workflow_id: str) -> bool:
        """True: the sweep was signalled after this call began, or will be; False: no open sweep has that id.

        In a storm the answer does not wait for the signal: the last one told that the sweep is open.
        """
        bell = self._bells.get(workflow_id)
        if bell is None:
            self._forget_silent_bells()
            bell = self._bells[workflow_id] = _Bell(self._burst)
        if bell.late is not None:
            return True
        if bell.waiting is None:
            bell.waiting = asyncio.create_task(self._send_in_turn(workflow_id, bell))
            bell.waiting.add_done_callback(_take_note)
        return await asyncio.shield(bell.waiting)

    async def _send_in_turn(self, workflow_id: str, bell: "_Bell") -> bool:
        async with bell.turn:
            bell.waiting = None  # from here on a new ring is a new signal
            pause = bell.pause(self._window)
            if pause > 0:
                bell.late = asyncio.create_task(self._ring_late(workflow_id, bell, pause))
                return True
            is_open = await self._send(workflow_id)
            bell.sent.append(asyncio.get_running_loop().time())
        if not is_open:
            self._bells.pop(workflow_id, None)
        return is_open

    async def _ring_late(self, workflow_id: str, bell: "_Bell", pause: float) -> None:
        await asyncio.sleep(pause)
        bell.late = None
        with suppress(SweeperError):
            await self.ring(workflow_id)  # if it fails, the sweep's own poll of the world makes up for it

    def _forget_silent_bells(self) -> None:
        for workflow_id, bell in list(self._bells.items()):
            if bell.is_silent(self._window):
                del self._bells[workflow_id]


class _Bell:
    """One sweep's bell: whose turn it is, who waits, what is put off, when it was rung lately."""

    def __init__(self, burst: int) -> None:
        self.turn = asyncio.Lock()
        self.waiting: asyncio.Task[bool] | None = None
        self.late: asyncio.Task[None] | None = None
        self.sent: deque[float] = deque(maxlen=burst)

    def pause(self, window: float) -> float:
        """Seconds until the next signal may go."""
        if len(self.sent) < (self.sent.maxlen or 1):
            return 0.0
        return max(0.0, self.sent[0] + window - asyncio.get_running_loop().time())

    def is_silent(self, window: float) -> bool:
        """Nothing under way, and nothing sent within the window."""
        if self.waiting or self.late or self.turn.locked():
            return False
        return not self.sent or self.sent[-1] + window < asyncio.get_running_loop().time()


def _take_note(task: asyncio.Task[bool]) -> None:
    # Whoever rang may be gone (a closed HTTP request); an error nobody asks for must not be reported as forgotten.
    if not task.cancelled():
        task.exception()
