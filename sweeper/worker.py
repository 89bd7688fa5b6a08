"""Workers: what a process of ours polls for, and how its errors reach the workflow.

Two queues: `sweeper` for workflows and everything any host can do, `host-<id>` for what needs this host's disk.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor, Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from sweeper.activities import names
from sweeper.activities.evidence import EvidenceActivities
from sweeper.activities.proposal import ProposalActivities
from sweeper.activities.spending import SpendingActivities
from sweeper.activities.targets import TargetActivities
from sweeper.activities.tools import ToolActivities
from sweeper.activities.upkeep import UpkeepActivities
from sweeper.activities.workbench import WorkbenchActivities
from sweeper.errors import RateLimited, Retry, SweeperError
from sweeper.ports import Durable, Ports
from sweeper.workflows.attempt import AttemptWorkflow
from sweeper.workflows.spending import SpendingWorkflow
from sweeper.workflows.sweep import SweepWorkflow
from sweeper.workflows.target import TargetWorkflow
from sweeper.workflows.upkeep import UpkeepWorkflow

STICKY_TIMEOUT = timedelta(seconds=2)
LAST_MOMENT = timedelta(seconds=2)
"""How much longer than the grace period a write may take whose answer is still to come."""
CACHED_WORKFLOWS = 200
WRITES = frozenset(act.name for act in names.ALL if act.writes)


def as_application_error(error: SweeperError) -> ApplicationError:
    """Our error as Temporal records it: class name as type, one sentence, retried or not by its class."""
    details = [error.retry_at.isoformat()] if isinstance(error, RateLimited) else []
    return ApplicationError(
        str(error), *details, type=type(error).__name__, non_retryable=error.retry is not Retry.SOON
    )


class _AtTheEdge(ActivityInboundInterceptor):
    """Heartbeats while an activity runs, so that a dead worker is noticed within seconds; maps our errors; lets a
    write that has begun come to its end when it is cancelled, because only its answer tells whether it happened; hands
    over to another worker what is not done when this one stops.
    """

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        pulse = asyncio.create_task(_heartbeat())
        try:
            if activity.info().activity_type in WRITES:
                return await _to_the_end(asyncio.ensure_future(super().execute_activity(input)))
            return await super().execute_activity(input)
        except SweeperError as error:
            raise as_application_error(error) from error
        except asyncio.CancelledError:
            if _is_worker_stopping():
                # Told to the server at once, so that nobody waits for a heartbeat to be missed.
                raise ApplicationError("The worker stops; another one takes over.", type="WorkerStops") from None
            raise
        finally:
            pulse.cancel()


def _is_worker_stopping() -> bool:
    why = activity.cancellation_details()
    return why is not None and why.worker_shutdown


async def _to_the_end(write: "asyncio.Future[Any]") -> Any:
    """Its end, however often it is cancelled; from a worker that stops it gets a last moment only."""
    while not write.done():
        try:
            await asyncio.shield(write)
        except asyncio.CancelledError:
            if write.cancelled():
                raise
            if _is_worker_stopping():
                await asyncio.wait({write}, timeout=LAST_MOMENT.total_seconds())
                if not write.done():
                    raise
    return write.result()


async def _heartbeat() -> None:
    interval = (activity.info().heartbeat_timeout or timedelta(seconds=30)).total_seconds() / 3
    while True:
        activity.heartbeat()
        await asyncio.sleep(interval)


class EdgeInterceptor(Interceptor):
    """Puts `_AtTheEdge` round every activity."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """See `_AtTheEdge`."""
        return _AtTheEdge(next)


_PURE = (
    "sweeper.model",
    "sweeper.errors",
    "sweeper.ids",
    "sweeper.policy",
    "sweeper.ports",
    "sweeper.activities.names",
    "sweeper.activities.requests",
    "sweeper.activities.toolbox",
    "sweeper.activities.writes",
    "sweeper.activities.care",
)
"""Values and pure functions, held so by the import contracts. Importing them anew for each workflow took 130 to 180 ms
each time; with these shared it is 10 to 50 ms."""


def workflow_runner() -> SandboxedWorkflowRunner:
    """The workflow sandbox, on for the workflows themselves; what is pure is shared with it."""
    restrictions = SandboxRestrictions.default.with_passthrough_modules(*_PURE)
    return SandboxedWorkflowRunner(restrictions=restrictions)


@dataclass(frozen=True)
class WorkerOptions:
    """Bounds of one worker process. `activities`: how many may run at once on this machine. `grace`: how long running
    ones may go on when the worker is told to stop.
    """

    activities: int = 4
    task_queue: str = names.TASK_QUEUE
    grace: timedelta = timedelta(seconds=10)


def build_workers(
    client: Client, ports: Ports, durable: Durable, options: WorkerOptions = WorkerOptions()
) -> Sequence[Worker]:
    """The shared queue's worker and this host's."""
    shared = Worker(
        client,
        task_queue=options.task_queue,
        workflows=[SweepWorkflow, AttemptWorkflow, TargetWorkflow, SpendingWorkflow, UpkeepWorkflow],
        activities=_for_any_host(ports, durable),
        workflow_runner=workflow_runner(),
        interceptors=[EdgeInterceptor()],
        max_cached_workflows=CACHED_WORKFLOWS,
        sticky_queue_schedule_to_start_timeout=STICKY_TIMEOUT,
        graceful_shutdown_timeout=options.grace,
    )
    host = Worker(
        client,
        task_queue=names.host_queue(ports.workspaces.host),
        activities=_for_this_host(ports, durable),
        interceptors=[EdgeInterceptor()],
        max_concurrent_activities=options.activities,
        graceful_shutdown_timeout=options.grace,
    )
    return (shared, host)


def _for_any_host(ports: Ports, durable: Durable) -> list[Callable[..., Any]]:
    evidence, proposal = EvidenceActivities(ports, durable), ProposalActivities(ports)
    targets, upkeep = TargetActivities(durable), UpkeepActivities(ports, durable)
    spending = SpendingActivities(durable)
    return [
        evidence.admit,
        evidence.choose_host,
        evidence.collect,
        evidence.diagnose,
        evidence.look_about,
        evidence.newest_attempt,
        evidence.read_world,
        ToolActivities(ports).brief_agent,
        proposal.open_proposal,
        proposal.update_proposal,
        proposal.comment,
        proposal.close_proposal,
        proposal.merge,
        proposal.find_pull,
        proposal.report_check,
        proposal.label,
        proposal.rerun_failed,
        proposal.request_reviewers,
        proposal.draft,
        targets.find_room,
        targets.enter_target,
        targets.leave_target,
        targets.join_sweep,
        targets.ring_sweep,
        targets.find_ended,
        spending.reserve_spending,
        spending.settle_spending,
        upkeep.list_repositories,
        upkeep.find_missed_runs,
        upkeep.survey_github,
        upkeep.judge_remains,
        upkeep.start_again,
        upkeep.find_stuck,
        upkeep.send_alert,
    ]


def _for_this_host(ports: Ports, durable: Durable) -> list[Callable[..., Any]]:
    workbench, upkeep, tools = WorkbenchActivities(ports), UpkeepActivities(ports, durable), ToolActivities(ports)
    return [
        workbench.prepare,
        workbench.reproduce,
        workbench.fix,
        workbench.verify,
        workbench.revalidate,
        workbench.push_branch,
        workbench.delete_branch,
        workbench.discard,
        tools.list_files,
        tools.read_file,
        tools.search_files,
        tools.edit_file,
        tools.write_file,
        tools.delete_file,
        tools.run_check,
        tools.finish_attempt,
        upkeep.survey_host,
    ]


async def run_workers(workers: Sequence[Worker]) -> None:
    """Until cancelled; then running activities get their grace period to finish."""
    async with asyncio.TaskGroup() as group:
        for worker in workers:
            group.create_task(worker.run())
