"""The day's budgets, as attempts ask for their share."""

from typing import Protocol

from sweeper.model.days import Grant, ReserveRequest, SettleRequest


class Spending(Protocol):
    """One durable authority per service on what its agents may use today.

    Asking twice is safe: the same key is granted the same, and settled once. Raises Transient when no answer came in
    time, OutOfReach when Temporal is away.
    """

    async def reserve(self, request: ReserveRequest) -> Grant:
        """What may this attempt use?"""
        ...

    async def settle(self, request: SettleRequest) -> None:
        """This is what it used."""
        ...
