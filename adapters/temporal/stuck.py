"""Finding what Temporal shows as running although it cannot go on by itself. No worker has to live for that.

A workflow whose code fails, an activity on a queue that nobody serves: neither is an error to Temporal. A list shows
the first on servers that are told to mark it; for the rest each open workflow is described, within bounds of number
and time: those that wait for something of their own accord come last.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from temporalio.api.enums.v1 import PendingActivityState, TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflow.v1 import PendingActivityInfo, PendingWorkflowTaskInfo
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client, WorkflowExecution
from temporalio.common import SearchAttributeKey

from adapters.temporal.client import READ_SECONDS, RPC_TIMEOUT, reaching
from sweeper.errors import NotFound
from sweeper.model import Checkpoint
from sweeper.model.target import TargetMemo
from sweeper.model.upkeep import StuckCase
from sweeper.policy.stuck import FAILED_TASKS, UNTAKEN, nobody_works, task_fails, waits_badly, waits_too_long
from sweeper.workflows.progress import MEMO
from sweeper.workflows.target import MEMO as TARGET_MEMO

PROBLEMS = SearchAttributeKey.for_keyword_list("TemporalReportedProblems")
MOST_LISTED = 1000
MOST_DESCRIBED = 300
AT_ONCE = 8
DESCRIBE_SECONDS = 1.0
POLLER_AGE_SECONDS = 70.0
"""A living worker asks for work at least every 60 s; the rest is for the way."""

_OPEN = 'ExecutionStatus = "Running" AND WorkflowType IN ("sweep", "attempt", "target", "upkeep")'
T = TypeVar("T")


async def find_stuck(client: Client, untaken: timedelta = UNTAKEN) -> tuple[StuckCase, ...]:
    """One case for each workflow of ours that is stuck, worst first. `untaken`: how long an activity may wait for a
    worker. Raises OutOfReach.
    """
    async with reaching(client, READ_SECONDS):
        found = client.list_workflows(_OPEN, limit=MOST_LISTED, page_size=MOST_LISTED, rpc_timeout=RPC_TIMEOUT)
        workflows = [execution async for execution in found]
    told = [(execution, await _by_memo(execution)) for execution in workflows]
    by_memo = [case for _, (case, _) in told if case is not None]
    look = _Look(client, untaken)
    likely_first = sorted(told, key=lambda one: (not one[0].typed_search_attributes.get(PROBLEMS), one[1][1]))
    described = await _within(DESCRIBE_SECONDS, [look.describe(execution) for execution, _ in likely_first])
    cases: dict[str, StuckCase] = {}
    for case in (*described, *by_memo):
        cases.setdefault(case.workflow, case)
    return tuple(cases.values())


async def _by_memo(execution: WorkflowExecution) -> tuple[StuckCase | None, bool]:
    """What the workflow says of itself, and whether it waits for something of its own accord."""
    now = datetime.now(UTC)
    if execution.workflow_type == "target":
        queue = await _memo(execution, TARGET_MEMO, TargetMemo)
        return waits_too_long(execution.id, queue, now) if queue else None, True
    told = await _memo(execution, MEMO, Checkpoint)
    waiting = told.waiting_for if told else None
    return waits_badly(execution.id, waiting, now), waiting is not None


async def _memo(execution: WorkflowExecution, name: str, kind: type[T]) -> T | None:
    try:
        return await execution.memo_value(name, type_hint=kind)
    except (KeyError, ValueError, RuntimeError):  # absent, or written by another version
        return None


async def _within(seconds: float, looks: "list[Callable[[], Awaitable[StuckCase | None]]]") -> list[StuckCase]:
    """What was found until the time was over, a few looks at once."""
    found: list[StuckCase | None] = []
    waiting = iter(looks[:MOST_DESCRIBED])

    async def one_after_the_other() -> None:
        for look in waiting:
            with suppress(NotFound):  # it ended since it was listed
                found.append(await look())

    tasks = [asyncio.create_task(one_after_the_other()) for _ in range(AT_ONCE)]
    done, late = await asyncio.wait(tasks, timeout=seconds)
    for task in late:
        task.cancel()
    await asyncio.gather(*late, return_exceptions=True)
    for task in done:
        task.result()
    return [case for case in found if case is not None]


class _Look:
    """Describes workflows; asks about each queue once."""

    def __init__(self, client: Client, untaken: timedelta) -> None:
        self._client = client
        self._untaken_for = untaken
        self._served: dict[str, asyncio.Task[bool]] = {}

    def describe(self, execution: WorkflowExecution) -> "Callable[[], Awaitable[StuckCase | None]]":
        """A look at one workflow, to be begun later."""

        async def look() -> StuckCase | None:
            handle = self._client.get_workflow_handle(execution.id, run_id=execution.run_id)
            async with reaching(self._client, READ_SECONDS):
                description = (await handle.describe(rpc_timeout=RPC_TIMEOUT)).raw_description
            problems = execution.typed_search_attributes.get(PROBLEMS, ())
            if case := _failing(execution, description.pending_workflow_task, problems):
                return case
            return await self._untaken(execution, description.pending_activities)

        return look

    async def _untaken(self, execution: WorkflowExecution, pending: Iterable[PendingActivityInfo]) -> StuckCase | None:
        now = datetime.now(UTC)
        for activity in pending:
            since = activity.scheduled_time.ToDatetime(UTC)
            is_waiting = activity.state == PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
            queue = activity.activity_options.task_queue.name or execution.task_queue
            if is_waiting and now - since > self._untaken_for and not await self._is_served(queue):
                return nobody_works(execution.id, activity.activity_type.name, queue, since)
        return None

    async def _is_served(self, queue: str) -> bool:
        if queue not in self._served:
            self._served[queue] = asyncio.create_task(_is_served(self._client, queue))
        return await asyncio.shield(self._served[queue])


def _failing(execution: WorkflowExecution, task: PendingWorkflowTaskInfo, problems: Iterable[str]) -> StuckCase | None:
    if task.attempt < FAILED_TASKS and not problems:
        return None
    cause = next((word.partition("=")[2] for word in problems if word.startswith("cause=")), "see the worker's log")
    began = task.original_scheduled_time if task.HasField("original_scheduled_time") else task.scheduled_time
    since = began.ToDatetime(UTC) if began.seconds else execution.start_time
    return task_fails(execution.id, cause, since)


async def _is_served(client: Client, queue: str) -> bool:
    """Whether somebody asked this queue for activities lately."""
    request: Any = DescribeTaskQueueRequest(
        namespace=client.namespace,
        task_queue=TaskQueue(name=queue),
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
    )
    async with reaching(client, READ_SECONDS):
        pollers = (await client.workflow_service.describe_task_queue(request)).pollers
    now = datetime.now(UTC)
    return any(
        (now - poller.last_access_time.ToDatetime(UTC)).total_seconds() < POLLER_AGE_SECONDS for poller in pollers
    )
