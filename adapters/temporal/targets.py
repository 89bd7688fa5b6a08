"""The targets as Temporal keeps them: one small workflow each, started by the first question it is asked."""

from temporalio.client import Client

from adapters.temporal.authorities import Authority
from sweeper.activities.names import TASK_QUEUE
from sweeper.activities.requests import Nothing
from sweeper.model.target import Answer, EnterRequest, LeaveRequest, TargetInput

TARGET_WORKFLOW = "target"


class TemporalTargets:
    """The Targets port. Asking twice is safe because the target answers the same sweep alike."""

    def __init__(self, client: Client, task_queue: str = TASK_QUEUE, fresh: TargetInput | None = None) -> None:
        self._authority = Authority(client, TARGET_WORKFLOW, fresh or TargetInput(), task_queue)

    async def enter(self, request: EnterRequest) -> Answer:
        """May this sweep go on?"""
        return await self._authority.ask(request.target, "enter", request, Answer)

    async def leave(self, request: LeaveRequest) -> None:
        """Its turn is over."""
        await self._authority.ask(request.target, "leave", request, Nothing)
