"""How a sweep shows itself: its memo, as set at the start and upserted by the workflow, and what Temporal says of it.

A continue-as-new starts with the memo it was given, else with the first run's; the workflow passes it on.
"""

import re
from datetime import UTC, datetime
from typing import Any

from temporalio.client import WorkflowExecution, WorkflowExecutionDescription, WorkflowExecutionStatus
from temporalio.common import SearchAttributeKey

from sweeper.model import WORKFLOW_VERSION, Budget, Checkpoint, RunRef, Step, SweepInput
from sweeper.policy.stuck import FAILED_TASKS, task_fails, waits_badly
from sweeper.ports import SweepView
from sweeper.workflows.progress import GOAL, MEMO, REPOSITORY, STARTED_AT

_PROBLEMS = SearchAttributeKey.for_keyword_list("TemporalReportedProblems")
_RUN_IN_ID = re.compile(r"-(?P<run>\d+)-(?P<attempt>\d+)(-m[^-]+)?$")


def first_memo(sweep: SweepInput, now: datetime) -> dict[str, Any]:
    """What a sweep shows before its workflow has run a line: it waits to be admitted."""
    budget = Budget(attempts_remaining=sweep.settings.max_attempts)
    return {MEMO: _at_admit(sweep.run, budget, now), STARTED_AT: now}


def _at_admit(run: RunRef, budget: Budget, now: datetime) -> Checkpoint:
    return Checkpoint(
        run=run,
        workflow_version=WORKFLOW_VERSION,
        current_step=Step.ADMIT,
        goal=GOAL,
        budget=budget,
        updated_at=now,
    )


async def view_of(execution: WorkflowExecution) -> SweepView:
    """A sweep as listed or described. Without a readable memo it shows what its id and attributes tell."""
    try:
        checkpoint = await execution.memo_value(MEMO, type_hint=Checkpoint)
    except (KeyError, ValueError, RuntimeError):
        checkpoint = _at_admit(_run_of(execution), Budget(attempts_remaining=0), execution.start_time)
    is_open = execution.status is WorkflowExecutionStatus.RUNNING
    waits_badly_for = waits_badly(execution.id, checkpoint.waiting_for, datetime.now(UTC)) if is_open else None
    return SweepView(
        id=execution.id,
        checkpoint=checkpoint,
        started_at=await _started_at(execution),
        is_open=is_open,
        stuck=_stuck(execution) or (waits_badly_for.sentence if waits_badly_for else None),
    )


def _run_of(execution: WorkflowExecution) -> RunRef:
    found = _RUN_IN_ID.search(execution.id)
    return RunRef(
        repository=execution.typed_search_attributes.get(REPOSITORY, ""),
        repository_id=0,
        run_id=int(found["run"]) if found else 0,
        run_attempt=int(found["attempt"]) if found else 1,
    )


async def _started_at(execution: WorkflowExecution) -> datetime:
    """The first run's start; Temporal itself only knows that of the run since the last continue-as-new."""
    try:
        began = await execution.memo_value(STARTED_AT, type_hint=datetime)
    except (KeyError, ValueError, RuntimeError):
        began = execution.start_time
    return began if began.tzinfo else began.replace(tzinfo=UTC)


def _stuck(execution: WorkflowExecution) -> str | None:
    if execution.status is WorkflowExecutionStatus.RUNNING:
        problems = execution.typed_search_attributes.get(_PROBLEMS, ())
        if not problems and not _fails_right_now(execution):
            return None
        cause = next((word.partition("=")[2] for word in problems if word.startswith("cause=")), "its task fails")
        return task_fails(execution.id, cause, _failing_since(execution)).sentence
    if execution.status in (WorkflowExecutionStatus.COMPLETED, WorkflowExecutionStatus.CONTINUED_AS_NEW):
        return None
    how = execution.status.name.lower().replace("_", " ") if execution.status else "unknown"
    again = f"`sweeper retry {execution.id}` starts it anew"
    return f"Temporal records it as {how}, so it did not clean up; upkeep does, and {again}."


def _fails_right_now(execution: WorkflowExecution) -> bool:
    """A described run shows its failing task before the search attribute does, and on servers that never set that."""
    if not isinstance(execution, WorkflowExecutionDescription):
        return False
    return execution.raw_description.pending_workflow_task.attempt >= FAILED_TASKS


def _failing_since(execution: WorkflowExecution) -> datetime:
    if isinstance(execution, WorkflowExecutionDescription):
        task = execution.raw_description.pending_workflow_task
        if task.HasField("original_scheduled_time"):
            return task.original_scheduled_time.ToDatetime(UTC)
    return execution.start_time
