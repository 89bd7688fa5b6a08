"""The targets, as sweeps ask them."""

from typing import Protocol

from sweeper.model.target import Answer, EnterRequest, LeaveRequest


class Targets(Protocol):
    """One durable authority per target, found by its id and started by the first question.

    Asking twice is safe: who is in stays in, who waits keeps its place, leaving twice is a no-op. Raises Transient when
    no answer came in time, OutOfReach when Temporal is away.
    """

    async def enter(self, request: EnterRequest) -> Answer:
        """May this sweep go on?"""
        ...

    async def leave(self, request: LeaveRequest) -> None:
        """Its turn is over."""
        ...
