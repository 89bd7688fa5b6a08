"""Activities between attempts and the day's budgets. Both may be repeated: the same key is granted the same again, and
settled once.
"""

from temporalio import activity

from sweeper.activities import names, requests
from sweeper.model.days import Grant, ReserveRequest, SettleRequest
from sweeper.ports import Durable


class SpendingActivities:
    """Attempts ask before they begin and tell what they used."""

    def __init__(self, durable: Durable) -> None:
        self._spending = durable.spending

    @activity.defn(name=names.RESERVE_SPENDING.name)
    async def reserve_spending(self, request: ReserveRequest) -> Grant:
        """What may this attempt use?"""
        return await self._spending.reserve(request)

    @activity.defn(name=names.SETTLE_SPENDING.name)
    async def settle_spending(self, request: SettleRequest) -> requests.Nothing:
        """This is what it used."""
        await self._spending.settle(request)
        return requests.Nothing()
