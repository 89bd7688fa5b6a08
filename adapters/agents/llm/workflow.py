"""The agent's workflow: brief it, let it work, record what its work comes to."""

import asyncio
from collections.abc import Sequence

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from pydantic_ai import UsageLimits
    from pydantic_ai.messages import ModelMessage

    from adapters.agents.llm.agent import AGENT, Fix
    from adapters.agents.llm.desk import Deps, Desk
    from adapters.agents.llm.endings import EXPECTED, Ending, ending
    from adapters.agents.llm.progress import Progress

from sweeper.activities import names
from sweeper.activities.requests import FixAnswer
from sweeper.activities.toolbox import FinishRequest, ModelReady, ModelTask, first_bench
from sweeper.errors import NON_RETRYABLE
from sweeper.model import FixOutcome, FixReport
from sweeper.model.fix import Trouble
from sweeper.workflows.calls import was_cancelled

HISTORY_BYTES = 3 << 20
"""A history above this goes on as a new one; the server asks for that at 4 MiB."""


class LlmTask(ModelTask):
    """As it is asked for, or as it goes on from where an earlier run was."""

    progress: Progress | None = None


@workflow.defn(name=names.MODEL_WORKFLOW)
class LlmWorkflow:
    """One attempt by a model."""

    @workflow.init
    def __init__(self, task: LlmTask) -> None:
        self._task = task
        self._begun = task.progress or Progress(ready=ModelReady(), host=task.host, bench=first_bench(task.attempt))
        self._meter = self._begun.meter(task.attempt)
        self._hands = self._begun.hands(task, self._meter)

    @workflow.run
    async def run(self, task: LlmTask) -> FixAnswer:
        """What the agent left; one that fails is a report, not an error.

        So is one that is stopped or cannot be recorded, once a model was asked: whoever counts learns what that cost.
        """
        try:
            end = await self._begin() if task.progress is None else None
            end = end or await self._work()
            finish = FinishRequest(attempt=task.attempt, bench=self._hands.bench, report=self._report(end))
            return await self._hands.do(names.FINISH_ATTEMPT, finish)
        except (asyncio.CancelledError, FailureError) as error:
            if not self._meter.spent.model_calls:
                raise
            stopped = Ending(FixOutcome.CANCELLED, "It was stopped with its sweep.")
            return FixAnswer(report=self._report(stopped if was_cancelled(error) else ending(error)))

    def _report(self, end: Ending) -> FixReport:
        return self._now().report(self._task.attempt, end)

    def _now(self) -> Progress:
        return self._begun.now(self._hands, self._meter)

    async def _begin(self) -> Ending | None:
        """Fill in what the first run starts with; the end where no model can be asked."""
        ready: ModelReady = await workflow.execute_activity(
            names.MODEL_READY.name,
            self._task.attempt,
            result_type=ModelReady,
            start_to_close_timeout=self._task.timeouts.read,
            retry_policy=RetryPolicy(
                maximum_attempts=self._task.timeouts.tries, non_retryable_error_types=NON_RETRYABLE
            ),
        )
        if ready.problem:
            return Ending(FixOutcome.FAILED, ready.problem, Trouble.MODEL_AWAY)
        briefing = await self._hands.do(names.BRIEF_AGENT, self._task.attempt)
        self._hands.suspicions = briefing.suspicions
        self._begun = self._begun.model_copy(update={"ready": ready, "briefing": briefing.text})
        self._meter.price = ready.price
        return None

    async def _work(self) -> Ending:
        attempt, begun = self._task.attempt, self._begun
        desk = Desk(self._hands, self._meter, attempt.plan, self._hand_over)
        try:
            result = await AGENT.run(
                begun.briefing,
                message_history=begun.messages,
                model=begun.ready.model,
                deps=Deps(sweep=attempt.sweep, attempt=attempt.n).at(desk),
                usage_limits=UsageLimits(request_limit=None),  # the meter's are the only ones
            )
        except EXPECTED as error:
            if was_cancelled(error):
                raise
            return ending(error)
        edited = self._hands.bench.tip != attempt.base
        return Ending(FixOutcome.EDITED if edited else FixOutcome.NO_CHANGE, _told(result.output))

    def _hand_over(self, messages: Sequence[ModelMessage]) -> None:
        """Go on with an empty history once this one is large, but never without having asked the model."""
        info = workflow.info()
        is_large = (
            info.is_continue_as_new_suggested()
            or info.get_current_history_length() > self._task.timeouts.history_events
            or info.get_current_history_size() > HISTORY_BYTES
        )
        if is_large and self._meter.spent.model_calls > self._begun.spent.model_calls:
            now = self._now().model_copy(update={"messages": list(messages)})
            workflow.continue_as_new(self._task.model_copy(update={"progress": now}))


def _told(fix: Fix) -> str:
    return f"Cause: {fix.cause}\nChange: {fix.change}\nRisk: {fix.risk}\nConfidence: {fix.confidence.value}"
