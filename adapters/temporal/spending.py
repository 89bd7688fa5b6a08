"""The day's budgets as Temporal keeps them: one small workflow per GitHub, started by the first question."""

from temporalio.client import Client

from adapters.temporal.authorities import Authority
from sweeper import ids
from sweeper.activities.names import TASK_QUEUE
from sweeper.activities.requests import Nothing
from sweeper.model.days import Grant, ReserveRequest, SettleRequest, SpendingInput

SPENDING_WORKFLOW = "spending"


class TemporalSpending:
    """The Spending port. Asking twice is safe: the workflow knows its answers by key."""

    def __init__(
        self, client: Client, api_url: str, task_queue: str = TASK_QUEUE, fresh: SpendingInput | None = None
    ) -> None:
        self._id = ids.spending_id(api_url)
        self._authority = Authority(client, SPENDING_WORKFLOW, fresh or SpendingInput(), task_queue)

    async def reserve(self, request: ReserveRequest) -> Grant:
        """What may this attempt use?"""
        return await self._authority.ask(self._id, "reserve", request, Grant)

    async def settle(self, request: SettleRequest) -> None:
        """This is what it used."""
        await self._authority.ask(self._id, "settle", request, Nothing)
