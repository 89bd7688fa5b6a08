"""Attempts, one after the other, each told the verdict or the review before it, as long as the budget lasts."""

import asyncio

from temporalio import workflow
from temporalio.exceptions import ChildWorkflowError

from sweeper.activities import requests
from sweeper.model import AttemptResult, FixOutcome, FixReport, Review, Step, SweepInput, Verdict, VerdictKind
from sweeper.model.proposal import ReviewComment
from sweeper.policy.limits import DIFF_TOO_LARGE
from sweeper.workflows.attempt import AttemptInput, AttemptWorkflow
from sweeper.workflows.calls import was_cancelled
from sweeper.workflows.progress import Progress, known
from sweeper.workflows.waits import Bell


class Attempts:
    """Starts attempts as child workflows and keeps their results in the sweep's state."""

    def __init__(self, sweep: SweepInput, progress: Progress, bell: Bell) -> None:
        self._settings = sweep.settings
        self._progress = progress
        self._bell = bell

    async def until_fixed(self) -> AttemptResult:
        """Each try starts clean from the failing commit. The last result, fixed or not."""
        previous: Verdict | None = None
        base = known(self._progress.state.facts).head_sha
        while True:
            result = await self._attempt(base, previous, None)
            previous = result.verdict
            hopeless = any(finding.name == DIFF_TOO_LARGE for finding in previous.findings)
            done = previous.kind is VerdictKind.FIXED or hopeless or not self.are_left()
            if done or _repeats(self._progress.state.attempts):
                return result

    async def again(self, review: Review) -> AttemptResult:
        """One more for a reviewer's words, on top of the proposal."""
        return await self._attempt(self._progress.proposal.head_sha, None, review)

    def are_left(self) -> bool:
        """Whether the budget allows one more."""
        return len(self._progress.state.attempts) < self._settings.max_attempts

    async def _attempt(self, base: str, previous: Verdict | None, review: Review | None) -> AttemptResult:
        self._bell.raise_if_stopped()
        self._progress.enter(Step.FIX)
        state = self._progress.state
        n = len(state.attempts) + 1
        sweep_id = workflow.info().workflow_id
        request = requests.AttemptRequest(
            sweep=sweep_id,
            n=n,
            agent=self._settings.agent_for(n),
            base=base,
            facts=known(state.facts),
            diagnosis=known(state.diagnosis),
            plan=known(state.plan),
            jobs=state.jobs,
            reproduction=known(state.reproduction),
            tested=state.tested,
            protected=state.protected,
            previous=previous,
            review_comments=_words(review),
            limits=state.limits or self._settings.limits,
            agent_timeout=self._settings.timeouts.agent,
        )
        try:
            result = await workflow.execute_child_workflow(
                AttemptWorkflow.run,
                AttemptInput(request=request, host=known(state.host), timeouts=self._settings.timeouts),
                id=f"{sweep_id}-a{n}",
                cancellation_type=workflow.ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
            )
        except (ChildWorkflowError, asyncio.CancelledError) as error:
            if self._bell.stopped or was_cancelled(error):
                self._remember(_cut_short(request))
            raise
        self._remember(result)
        self._bell.raise_if_stopped()
        return result

    def _remember(self, result: AttemptResult) -> None:
        self._progress.note(attempts=(*self._progress.state.attempts, result))


def _cut_short(request: requests.AttemptRequest) -> AttemptResult:
    """A try that was stopped is spent all the same."""
    report = FixReport(agent=request.agent, outcome=FixOutcome.CANCELLED, summary="stopped with its sweep")
    verdict = Verdict(kind=VerdictKind.NOT_FIXED, reason="the attempt was stopped with its sweep")
    return AttemptResult(n=request.n, agent=request.agent, fix=report, verdict=verdict)


def _words(review: Review | None) -> tuple[ReviewComment, ...]:
    """What the reviewer wrote: the general text first, then the line comments."""
    if review is None:
        return ()
    general = (ReviewComment(path="", body=review.body),) if review.body.strip() else ()
    return general + review.comments


def _repeats(attempts: tuple[AttemptResult, ...]) -> bool:
    """Whether the last try did just what the one before did: the same agent would go on doing it."""
    if len(attempts) < 2:
        return False
    before, last = attempts[-2:]
    same_patch = (before.patch and before.patch.patch_id) == (last.patch and last.patch.patch_id)
    decided = {before.fix.outcome, last.fix.outcome} <= {FixOutcome.EDITED, FixOutcome.NO_CHANGE}
    return before.agent == last.agent and same_patch and decided
