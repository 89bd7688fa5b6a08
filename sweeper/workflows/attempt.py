"""The attempt: one agent try and the verifier's word on it, as a child workflow of the sweep.

A child keeps the noise of a try out of the parent's history, which may live for weeks.
"""

from datetime import datetime

from temporalio import workflow

from sweeper.activities import names, requests
from sweeper.model import AttemptResult, FixOutcome, Patch, Step, Timeouts, Verdict, VerdictKind, Wire
from sweeper.workflows.calls import Calls
from sweeper.workflows.proof import PROOFS, commands_of
from sweeper.workflows.waits import Bell


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
        answer = await self._calls.do(names.FIX, request)
        if answer.patch is None:
            verdict = Verdict(kind=VerdictKind.NOT_FIXED, reason=_no_patch(answer))
        else:
            await self._tell_parent(Step.VERIFY)
            verdict = await self._verify(attempt, answer.patch)
        return AttemptResult(n=request.n, agent=request.agent, fix=answer.report, patch=answer.patch, verdict=verdict)

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
}


def _no_patch(answer: requests.FixAnswer) -> str:
    report = answer.report
    happened = _WHAT_HAPPENED.get(report.outcome, "left no change")
    said = f"; it said: {report.summary}" if report.summary else ""
    return f"agent {report.agent!r} {happened}{said}"
