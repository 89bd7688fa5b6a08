"""The targets as Temporal keeps them: one small workflow each, started by the first question it is asked."""

from typing import TypeVar

from temporalio.client import (
    Client,
    WithStartWorkflowOperation,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy

from adapters.temporal.client import reaching
from sweeper.activities.names import TASK_QUEUE
from sweeper.activities.requests import Nothing
from sweeper.errors import Transient
from sweeper.model.target import Answer, EnterRequest, LeaveRequest, TargetInput

T = TypeVar("T")

TARGET_WORKFLOW = "target"
ANSWER_SECONDS = 20.0
"""Below the activity's own bound, so that a silent target is a Transient of ours and not a lost activity."""


class TemporalTargets:
    """The Targets port: update-with-start, so a target exists from its first question on. Asking twice is safe because
    the target answers the same sweep alike.
    """

    def __init__(self, client: Client, task_queue: str = TASK_QUEUE, fresh: TargetInput | None = None) -> None:
        self._client = client
        self._task_queue = task_queue
        self._fresh = fresh or TargetInput()

    async def enter(self, request: EnterRequest) -> Answer:
        """May this sweep go on?"""
        return await self._ask(request.target, "enter", request, Answer)

    async def leave(self, request: LeaveRequest) -> None:
        """Its turn is over."""
        await self._ask(request.target, "leave", request, Nothing)

    async def _ask(self, target: str, update: str, request: EnterRequest | LeaveRequest, answers: type[T]) -> T:
        start: WithStartWorkflowOperation[object, object] = WithStartWorkflowOperation(
            TARGET_WORKFLOW,
            self._fresh,
            id=target,
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
                raise Transient(f"Ask {target} again: it gave no answer.") from error
        return answer
