"""A child workflow that gets its parent's short task timeout: Temporal gives it 10 s, whatever the parent has.

Kept apart because the workflow sandbox loads this module anew for every workflow.
"""

from typing import Any

from temporalio import workflow
from temporalio.worker import StartChildWorkflowInput, WorkflowInboundInterceptor, WorkflowOutboundInterceptor


class ShortTasks(WorkflowInboundInterceptor):
    """For tests that kill a worker in the middle of a child's workflow task and do not want to wait."""

    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        """Stand between the workflow and what it starts."""
        super().init(_Shortened(outbound))


class _Shortened(WorkflowOutboundInterceptor):
    async def start_child_workflow(self, input: StartChildWorkflowInput) -> workflow.ChildWorkflowHandle[Any, Any]:
        input.task_timeout = workflow.info().task_timeout
        return await super().start_child_workflow(input)
