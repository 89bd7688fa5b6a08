"""The day's budgets as Temporal keeps them: one small workflow per GitHub, started by the first question."""

from typing import TypeVar

from temporalio.client import (
    Client,
    WithStartWorkflowOperation,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy

from adapters.temporal.client import reaching
from sweeper import ids
from sweeper.activities.names import TASK_QUEUE
from sweeper.activities.requests import Nothing
from sweeper.errors import Transient
from sweeper.model.days import Grant, ReserveRequest, SettleRequest, SpendingInput

T = TypeVar("T")

SPENDING_WORKFLOW = "spending"
ANSWER_SECONDS = 20.0
"""Below the activity's own bound, so that a silent workflow is a Transient of ours and not a lost activity."""


class TemporalSpending:
    """The Spending port: update-with-start. Asking twice is safe: the workflow knows its answers by key."""

    def __init__(
        self, client: Client, api_url: str, task_queue: str = TASK_QUEUE, fresh: SpendingInput | None = None
    ) -> None:
        self._client = client
        self._id = ids.spending_id(api_url)
        self._task_queue = task_queue
        self._fresh = fresh or SpendingInput()

    async def reserve(self, request: ReserveRequest) -> Grant:
        """What may this attempt use?"""
        return await self._ask("reserve", request, Grant)

    async def settle(self, request: SettleRequest) -> None:
        """This is what it used."""
        await self._ask("settle", request, Nothing)

    async def _ask(self, update: str, request: ReserveRequest | SettleRequest, answers: type[T]) -> T:
        start: WithStartWorkflowOperation[object, object] = WithStartWorkflowOperation(
            SPENDING_WORKFLOW,
            self._fresh,
            id=self._id,
            task_queue=self._task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        )
        async with reaching(self._client, ANSWER_SECONDS):
            try:
                answer: T = await self._client.execute_update_with_start_workflow(
                    update, request, start_workflow_operation=start, result_type=answers
                )
            except (WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError) as error:
                # It ended or continued as new while the question was on its way.
                raise Transient(f"Ask {self._id} again: it gave no answer.") from error
        return answer
