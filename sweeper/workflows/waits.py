"""Waiting: for a ring, for a moment, for the end of a rate limit; and stopping while one waits."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta

from temporalio import workflow

SHORTEST = timedelta(seconds=1)
"""So that no loop spins."""


class Bell:
    """Rung and stopped by signal handlers, heard by whoever waits. Many rings before a look are one.

    A cancellation that arrives while an answer is on its way gets lost with asyncio's own means, so `stopped` is the
    one thing every wait and every call looks at.
    """

    def __init__(self) -> None:
        self.rung = False
        self.stopped = False

    def raise_if_stopped(self) -> None:
        """Raises CancelledError once the sweep was told to stop."""
        if self.stopped:
            raise asyncio.CancelledError

    async def wait(self, longest: timedelta) -> None:
        """Until the next ring, at most that long. Raises CancelledError when stopped."""
        await self._until(lambda: self.rung or self.stopped, longest)

    async def sleep(self, span: timedelta) -> None:
        """That long, whoever rings. Raises CancelledError when stopped."""
        await self._until(lambda: self.stopped, span)

    async def _until(self, reached: Callable[[], bool], longest: timedelta) -> None:
        with suppress(TimeoutError):
            await workflow.wait_condition(reached, timeout=max(longest, SHORTEST))
        self.raise_if_stopped()


def until_earliest(*moments: datetime | None) -> timedelta:
    """How long it is to the earliest of these moments."""
    return min(moment for moment in moments if moment is not None) - workflow.now()
