"""Our check run on the failing commit: that a fix is being made, and how it ended. A courtesy, no sweep hangs on it."""

from temporalio import workflow

from sweeper.activities import names, writes
from sweeper.model import CheckReport, Effect, Outcome, RunRef
from sweeper.policy.compensation import conclusion_of
from sweeper.policy.trying import without_results
from sweeper.workflows.calls import Calls
from sweeper.workflows.progress import Progress, known


class CheckRun:
    """One per sweep, found again by the sweep's id."""

    def __init__(self, run: RunRef, progress: Progress, calls: Calls) -> None:
        self._run = run
        self._progress = progress
        self._calls = calls

    async def begin(self) -> None:
        """Says that a fix is being made; a newer failing commit keeps the first one's check run."""
        if self._progress.state.checked_sha is not None:
            return
        sha = self.mark()
        self._progress.done(await self._report(sha, title="A fix is being made", summary="It is proposed once proven."))

    def mark(self) -> str:
        """The failing commit is to show how the sweep ends, even if nothing is begun there. Its sha."""
        sha = known(self._progress.state.facts).head_sha
        self._progress.note(checked_sha=self._progress.state.checked_sha or sha)
        return sha

    async def conclude(self, outcome: Outcome, reason: str) -> Effect:
        """Says how the sweep ended."""
        sha = known(self._progress.state.checked_sha)
        return await self._report(sha, title=str(outcome), summary=reason, outcome=outcome, learned=self._learned())

    def _learned(self) -> writes.Learned | None:
        state = self._progress.state
        if state.facts is None or state.diagnosis is None:
            return None
        return writes.Learned(facts=state.facts, diagnosis=state.diagnosis, attempts=without_results(state.attempts))

    async def _report(
        self,
        sha: str,
        *,
        title: str,
        summary: str,
        outcome: Outcome | None = None,
        learned: writes.Learned | None = None,
    ) -> Effect:
        request = writes.ReportCheckRequest(
            run=self._run,
            report=CheckReport(
                sha=sha,
                external_id=workflow.info().workflow_id,
                title=title,
                summary=summary,
                conclusion=conclusion_of(outcome) if outcome else None,
            ),
            effect_key=self._progress.next_key(),
            learned=learned,
        )
        self._progress.intend(names.REPORT_CHECK.name, request)
        return await self._calls.do(names.REPORT_CHECK, request)
