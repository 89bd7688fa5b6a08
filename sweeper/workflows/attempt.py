"""The attempt: one agent try and the verifier's word on it, as a child workflow of the sweep.

A child keeps the noise of a try out of the parent's history, which may live for weeks.
"""

from datetime import datetime

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ChildWorkflowError, TimeoutError

from sweeper.activities import names, requests, toolbox
from sweeper.errors import NON_RETRYABLE
from sweeper.model import AttemptResult, FixOutcome, FixReport, Patch, Step, Timeouts, Verdict, VerdictKind, Wire
from sweeper.workflows.calls import Calls, nobody_took_it, sentence_of, was_cancelled
from sweeper.workflows.proof import PROOFS, commands_of
from sweeper.workflows.waits import Bell

NO_MODEL_WORKER = (
    f"no worker polls {names.MODEL_QUEUE}; install ci-sweeper[llm], set SWEEPER_MODEL and start a worker with agent llm"
)


class AttemptInput(Wire):
    """The try to make, on which host, within which bounds."""

    request: requests.AttemptRequest
    host: str
    timeouts: Timeouts


@workflow.defn(name="attempt")
class AttemptWorkflow:
    """fix -> verify. Nothing is written outside the sweep's host."""

    @workflow.init
    def __init__(self, attempt: AttemptInput) -> None:
        self._calls = Calls(attempt.timeouts, self._waiting, Bell(), attempt.host)

    def _waiting(self, what: str, until: datetime) -> None:
        workflow.logger.info("attempt waits for %s until %s", what, until)

    @workflow.run
    async def run(self, attempt: AttemptInput) -> AttemptResult:
        """The result of the try; a failing agent is a verdict, not an error."""
        request = attempt.request
        if request.agent == names.MODEL_AGENT:
            answer = await self._by_model(attempt)
        else:
            answer = await self._calls.do(names.FIX, request)
        if answer.host is not None:
            self._calls.host = answer.host
        if answer.patch is None:
            verdict = Verdict(kind=VerdictKind.NOT_FIXED, reason=_no_patch(answer))
        elif why := request.known_patches.get(answer.patch.patch_id):
            verdict = Verdict(
                kind=VerdictKind.NOT_FIXED, reason=why, tree=answer.patch.tree, patch_id=answer.patch.patch_id
            )
        else:
            await self._tell_parent(Step.VERIFY)
            verdict = await self._verify(attempt, answer.patch)
        return AttemptResult(
            n=request.n,
            agent=request.agent,
            fix=answer.report,
            patch=answer.patch,
            verdict=verdict,
            host=self._calls.host,
        )

    async def _by_model(self, attempt: AttemptInput) -> requests.FixAnswer:
        """The agent that is a workflow of its own, in which each question to the model is recorded once."""
        request = attempt.request
        if problem := await self._no_model(attempt):
            report = FixReport(agent=request.agent, outcome=FixOutcome.FAILED, summary=problem)
            return requests.FixAnswer(report=report)
        try:
            answer: requests.FixAnswer = await workflow.execute_child_workflow(
                names.MODEL_WORKFLOW,
                self._model_task(attempt),
                id=f"{workflow.info().workflow_id}-llm",
                task_queue=names.MODEL_QUEUE,
                result_type=requests.FixAnswer,
                # Only a queue that nobody polls for as long as we wait for any host reaches it.
                execution_timeout=request.agent_timeout + attempt.timeouts.busy_host_total,
                cancellation_type=workflow.ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
            )
        except ChildWorkflowError as error:
            if not isinstance(error.cause, TimeoutError):
                raise
            report = FixReport(agent=request.agent, outcome=FixOutcome.TIMED_OUT, summary=NO_MODEL_WORKER)
            return requests.FixAnswer(report=report)
        return answer

    def _model_task(self, attempt: AttemptInput) -> toolbox.ModelTask:
        """An agent's time is bounded for every agent alike; here by its allowance."""
        request = attempt.request
        seconds = request.agent_timeout.total_seconds()
        return toolbox.ModelTask(
            attempt=request.model_copy(update={"allowance": request.allowance.model_copy(update={"seconds": seconds})}),
            host=attempt.host,
            timeouts=attempt.timeouts,
            home=workflow.info().task_queue,
        )

    async def _no_model(self, attempt: AttemptInput) -> str | None:
        """Why no model can be asked. Its queue is polled only where a model is set up, and may be polled by nobody."""
        timeouts = attempt.timeouts
        try:
            ready: toolbox.ModelReady = await workflow.execute_activity(
                names.MODEL_READY.name,
                attempt.request,
                result_type=names.MODEL_READY.gives,
                task_queue=names.MODEL_QUEUE,
                schedule_to_start_timeout=timeouts.model_queue,
                start_to_close_timeout=timeouts.read,
                retry_policy=RetryPolicy(maximum_attempts=3, non_retryable_error_types=NON_RETRYABLE),
            )
        except ActivityError as error:
            if was_cancelled(error):
                raise
            return NO_MODEL_WORKER if nobody_took_it(error) else sentence_of(error)
        return ready.problem

    async def _verify(self, attempt: AttemptInput, patch: Patch) -> Verdict:
        request = attempt.request
        return await self._calls.do(
            names.VERIFY,
            requests.VerifyRequest(
                sweep=request.sweep,
                name=f"{request.sweep}.verify{request.n}",
                repository_id=request.facts.run.repository_id,
                commit=patch.commit,
                patch=patch,
                plan=request.plan,
                limits=request.limits,
                check_timeout=attempt.timeouts.check,
                diagnosis=request.diagnosis,
                reproduction=request.reproduction,
                tested=request.tested,
                protected=request.protected,
                repository=request.facts.run.repository,
            ),
            scale=commands_of(request.plan, PROOFS),
        )

    async def _tell_parent(self, step: Step) -> None:
        parent = workflow.info().parent
        if parent is not None:
            handle = workflow.get_external_workflow_handle(parent.workflow_id)
            await handle.signal("attempt_step", step)


_WHAT_HAPPENED = {
    FixOutcome.TIMED_OUT: "ran into its time limit, so nothing it did is used",
    FixOutcome.FAILED: "failed, so nothing it did is used",
    FixOutcome.CANCELLED: "was stopped, so nothing it did is used",
}


def _no_patch(answer: requests.FixAnswer) -> str:
    report = answer.report
    happened = _WHAT_HAPPENED.get(report.outcome, "left no change")
    if report.trouble is not None:
        happened += f" ({report.trouble.replace('_', ' ')})"
    said = f"; it said: {report.summary}" if report.summary else ""
    return f"agent {report.agent!r} {happened}{said}"
