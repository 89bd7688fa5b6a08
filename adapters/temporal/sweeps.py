"""The durable sweeps as Temporal keeps them: one workflow each, found by id, told by signals, read without a worker.

No read uses a workflow query: with no worker alive a query hangs for half a minute, while visibility, memo and history
answer at once.
"""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import (
    Client,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowHandle,
    WorkflowHistoryEventFilterType,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import (
    Priority,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import WorkflowAlreadyStartedError

from adapters.temporal.client import READ_SECONDS, RPC_TIMEOUT, reaching
from adapters.temporal.history import CANCEL_SIGNAL, result_of, state_of
from adapters.temporal.life import read_poller_life, read_worker_life
from adapters.temporal.rings import Rings
from adapters.temporal.stuck import find_stuck
from adapters.temporal.views import first_memo, view_of
from sweeper.activities.names import TASK_QUEUE
from sweeper.activities.requests import IsOpen
from sweeper.errors import NotFound, Transient
from sweeper.model import Joined, Step, SweepInput, SweepState, Trigger
from sweeper.model.crowd import Crowd
from sweeper.model.upkeep import StuckCase
from sweeper.ports import SweepRecord, SweepView, WorkerLife
from sweeper.workflows.progress import REPOSITORY, SIGNATURE, STEP, TARGET

SWEEP_WORKFLOW = "sweep"
LOOK_SIGNAL = "look"
NOTE_SIGNAL = "note"
JOIN_UPDATE = "join"
ANSWER_SECONDS = 20.0
"""Below the bound of the activities that ask, so that a sweep without an answer is an error of ours."""
MOST_STARTS = 500
"""History must stay small; more than that in a day is far over any burst guard."""
MOST_ALIKE = 10
MOST_ALIKE_READ = 200
"""Servers list open ones first and then by their end; the newest are found among that many."""
MOST_REQUESTS = 50
"""Each of them is read to find out whether a request was seen before."""
_ALL_SWEEPS = f'WorkflowType = "{SWEEP_WORKFLOW}" AND ExecutionStatus != "ContinuedAsNew"'
# The database behind the embedded server stores these escaped and then does not find them by equality.
_NOT_SEARCHABLE = re.compile(r"[\"'\\%]")


class TemporalSweeps:
    """The Sweeps port. Where workers share `state_dir`, their pulse tells whether one is alive; else pollers do.

    Every call is bounded by a few seconds and safe to repeat: a start is decided by the workflow id, a ring only makes
    the sweep look, a second cancel finds it cancelled. Raises OutOfReach, AuthBroken; `show` NotFound.
    """

    def __init__(self, client: Client, task_queue: str = TASK_QUEUE, state_dir: Path | None = None) -> None:
        self._client = client
        self._task_queue = task_queue
        self._state_dir = state_dir
        self._rings = Rings(self._look)

    async def start(self, workflow_id: str, sweep: SweepInput) -> bool:
        """True: started. False: the id is taken, running or ended; nothing was added to its history.

        Plain start, never signal-with-start: that cannot tell new from old and uses up the workflow's signals.
        """
        try:
            async with reaching(self._client):
                await self._client.start_workflow(
                    SWEEP_WORKFLOW,
                    sweep,
                    id=workflow_id,
                    task_queue=self._task_queue,
                    id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
                    id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                    memo=first_memo(sweep, datetime.now(UTC)),
                    search_attributes=_first_attributes(sweep),
                    static_summary=f"{sweep.run.repository} run {sweep.run.run_id}, attempt {sweep.run.run_attempt}",
                    priority=_priority(sweep),
                    rpc_timeout=RPC_TIMEOUT,
                )
        except WorkflowAlreadyStartedError:
            return False
        return True

    async def is_open(self, workflow_id: str) -> bool | None:
        """None: never heard of it, or forgotten after the namespace's retention."""
        try:
            description = await self._describe(workflow_id)
        except NotFound:
            return None
        return description.status is WorkflowExecutionStatus.RUNNING

    async def ring(self, workflow_id: str) -> bool:
        """Make an open sweep look; rings that come while one is waiting to be sent share it."""
        return await self._rings.ring(workflow_id)

    async def cancel(self, workflow_id: str, reason: str) -> bool:
        """Ask an open sweep to clean up and end; False if there is none."""
        return await self._signal(workflow_id, CANCEL_SIGNAL, reason)

    async def note(self, workflow_id: str, trigger: Trigger) -> bool:
        """Tell an open sweep what else asked for it; told twice it notes it once."""
        return await self._signal(workflow_id, NOTE_SIGNAL, trigger)

    async def join(self, workflow_id: str, joined: Joined) -> bool:
        """An update, because a signal cannot be refused by a sweep that is about to end."""
        try:
            async with reaching(self._client, ANSWER_SECONDS):
                answer: IsOpen = await self._handle(workflow_id).execute_update(JOIN_UPDATE, joined, result_type=IsOpen)
        except NotFound:
            return False
        except (WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError) as error:
            raise Transient(f"Ask {workflow_id} again: it gave no answer.") from error
        return answer.is_open

    async def crowd(self, repository: str, besides: str, began_at: datetime) -> Crowd:
        """Sweeps of the last day, and proposals that wait for a human, by what the sweeps' memos say."""
        started, ahead = [], 0
        async with reaching(self._client, READ_SECONDS):
            async for execution in self._client.list_workflows(_crowd_query(repository), rpc_timeout=RPC_TIMEOUT):
                view = await view_of(execution)
                if execution.id == besides or view.checkpoint.run.repository != repository:
                    continue
                started.append(view.started_at)
                has_proposal, is_earlier = view.checkpoint.proposal is not None, view.started_at < began_at
                ahead += view.is_open and (has_proposal or is_earlier)
        return Crowd(started=tuple(sorted(started)[-MOST_STARTS:]), ahead=ahead)

    async def asked_anew(self, workflow_id: str) -> tuple[str, ...]:
        """Ids of the sweeps, open or ended, that requests started after that one had ended."""
        query = f"WorkflowId STARTS_WITH '{workflow_id}-m' AND {_ALL_SWEEPS}"
        async with reaching(self._client, READ_SECONDS):
            found = self._client.list_workflows(query, limit=MOST_REQUESTS, rpc_timeout=RPC_TIMEOUT)
            return tuple([execution.id async for execution in found])

    async def with_signature(self, repository: str, signature: str, besides: str) -> tuple[str, ...]:
        """Open or ended, as long as the service remembers them."""
        query = f"{_where(REPOSITORY.name, repository)} AND {_where(SIGNATURE.name, signature)} AND {_ALL_SWEEPS}"
        wanted = (repository, signature)
        async with reaching(self._client, READ_SECONDS):
            found = self._client.list_workflows(query, limit=MOST_ALIKE_READ, rpc_timeout=RPC_TIMEOUT)
            views = [
                await view_of(execution)
                async for execution in found
                if execution.id != besides
                and tuple(map(execution.typed_search_attributes.get, (REPOSITORY, SIGNATURE))) == wanted
            ]
        newest = sorted(views, key=lambda view: view.started_at, reverse=True)
        return tuple(view.id for view in newest[:MOST_ALIKE])

    async def open_for_target(self, target: str) -> tuple[str, ...]:
        """Ids of open sweeps for a target. A sweep that is not admitted yet does not know its target."""
        query = f'{_where(TARGET.name, target)} AND ExecutionStatus = "Running" AND WorkflowType = "{SWEEP_WORKFLOW}"'
        async with reaching(self._client, READ_SECONDS):
            return tuple(
                [
                    execution.id
                    async for execution in self._client.list_workflows(query, rpc_timeout=RPC_TIMEOUT)
                    if execution.typed_search_attributes.get(TARGET) == target
                ]
            )

    async def list(self, limit: int = 100) -> tuple[SweepView, ...]:
        """Newest first; open ones are preferred where the limit cuts. May lag a moment behind a start or an end."""
        async with reaching(self._client, READ_SECONDS):
            found = self._client.list_workflows(
                _ALL_SWEEPS, limit=limit, page_size=min(limit, 1000), rpc_timeout=RPC_TIMEOUT
            )
            views = [await view_of(execution) async for execution in found]
        return tuple(sorted(views, key=lambda view: view.started_at, reverse=True))

    async def show(self, workflow_id: str) -> SweepRecord:
        """One sweep, its state from its result or rebuilt from its history."""
        try:
            description = await self._describe(workflow_id)
        except NotFound:
            raise _no_such(workflow_id) from None
        if description.workflow_type != SWEEP_WORKFLOW:
            raise _no_such(workflow_id)
        view = await view_of(description)
        state = await self._state(description)
        return SweepRecord(view=view, state=state.model_copy(update={"step": view.checkpoint.current_step}))

    async def stuck(self) -> tuple[StuckCase, ...]:
        """What Temporal shows as running although it cannot go on by itself."""
        return await find_stuck(self._client)

    async def worker_life(self) -> WorkerLife:
        """Is anybody working?"""
        if self._state_dir is not None:
            life = read_worker_life(self._state_dir)
            if life.alive or life.since is not None:
                return life
        return await read_poller_life(self._client, self._task_queue)

    async def _look(self, workflow_id: str) -> bool:
        return await self._signal(workflow_id, LOOK_SIGNAL)

    async def _signal(self, workflow_id: str, signal: str, *args: str | Trigger) -> bool:
        try:
            async with reaching(self._client):
                await self._handle(workflow_id).signal(signal, args=args, rpc_timeout=RPC_TIMEOUT)
        except NotFound:
            # Temporal says so of unknown and of ended workflows alike.
            return False
        return True

    async def _describe(self, workflow_id: str) -> WorkflowExecutionDescription:
        async with reaching(self._client, READ_SECONDS):
            return await self._handle(workflow_id).describe(rpc_timeout=RPC_TIMEOUT)

    async def _state(self, description: WorkflowExecutionDescription) -> SweepState:
        converter = self._client.data_converter.payload_converter
        handle = self._handle(description.id, description.run_id)
        if description.status is WorkflowExecutionStatus.COMPLETED:
            closing = await self._events(handle, WorkflowHistoryEventFilterType.CLOSE_EVENT)
            result = result_of(closing, converter)
            if result is not None:
                return result.state
        return state_of(await self._events(handle, WorkflowHistoryEventFilterType.ALL_EVENT), converter)

    async def _events(
        self, handle: WorkflowHandle[Any, Any], which: WorkflowHistoryEventFilterType
    ) -> tuple[HistoryEvent, ...]:
        async with reaching(self._client, READ_SECONDS):
            events = handle.fetch_history_events(event_filter_type=which, rpc_timeout=RPC_TIMEOUT)
            return tuple([event async for event in events])

    def _handle(self, workflow_id: str, run_id: str | None = None) -> WorkflowHandle[Any, Any]:
        return self._client.get_workflow_handle(workflow_id, run_id=run_id)


def _no_such(workflow_id: str) -> NotFound:
    return NotFound(f"There is no sweep {workflow_id}: `sweeper list` shows those there are.")


def _first_attributes(sweep: SweepInput) -> TypedSearchAttributes:
    return TypedSearchAttributes(
        [SearchAttributePair(REPOSITORY, sweep.run.repository), SearchAttributePair(STEP, Step.ADMIT.value)]
    )


def _priority(sweep: SweepInput) -> Priority:
    """What a person waits for goes first; repositories take turns. A server without priorities ignores both.

    The fairness key is the repository's id: a key may have 64 bytes, and a name may be longer.
    """
    return Priority(priority_key=1 if sweep.trigger.is_manual else 3, fairness_key=str(sweep.run.repository_id))


def _crowd_query(repository: str) -> str:
    """Open ones whenever they began, and those of the last day."""
    since = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    recent = f'(ExecutionStatus = "Running" OR StartTime > "{since}")'
    return f"{_ALL_SWEEPS} AND {REPOSITORY.name} = '{repository}' AND {recent}"


def _where(name: str, value: str) -> str:
    """Finds all that have it, and perhaps some that only begin alike."""
    searchable = _NOT_SEARCHABLE.split(value, maxsplit=1)[0]
    operator = "=" if searchable == value else "STARTS_WITH"
    return f"{name} {operator} '{searchable}'"
