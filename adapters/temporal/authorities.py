"""Asking a workflow that is the one authority on something: update-with-start, so it exists from its first question on.

Asking twice is safe as far as the authority answers the same question alike, which each of ours does.
"""

from dataclasses import dataclass
from typing import TypeVar

from temporalio.client import (
    Client,
    WithStartWorkflowOperation,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy

from adapters.temporal.client import reaching
from sweeper.errors import Transient
from sweeper.model import Wire

T = TypeVar("T")

ANSWER_SECONDS = 20.0
"""Below the activity's own bound, so that a silent authority is a Transient of ours and not a lost activity."""


@dataclass(frozen=True)
class Authority:
    """Workflows of one kind. `fresh`: what one is started with that does not exist yet."""

    client: Client
    workflow: str
    fresh: Wire
    task_queue: str

    async def ask(self, workflow_id: str, update: str, request: Wire, answers: type[T]) -> T:
        """Its answer. Raises Transient when none came in time, OutOfReach when Temporal is away."""
        start: WithStartWorkflowOperation[object, object] = WithStartWorkflowOperation(
            self.workflow,
            self.fresh,
            id=workflow_id,
            task_queue=self.task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        )
        async with reaching(self.client, ANSWER_SECONDS):
            try:
                answer: T = await self.client.execute_update_with_start_workflow(
                    update, request, start_workflow_operation=start, result_type=answers
                )
            except (WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError) as error:
                # It ended or continued as new while the question was on its way.
                raise Transient(f"Ask {workflow_id} again: it gave no answer.") from error
        return answer
