"""The sweep: one failing run, from the trigger to the last clean-up.

It decides and waits; activities act. Any process may die at any moment: what is recorded is replayed, what was under
way is done again by an activity that looks first.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, ChildWorkflowError

from sweeper.activities import names
from sweeper.errors import Unverifiable
from sweeper.model import (
    AttemptResult,
    Outcome,
    Reproduction,
    Review,
    RunFacts,
    Step,
    SweepInput,
    SweepResult,
    Verdict,
    VerdictKind,
)
from sweeper.model.proposal import ReviewComment
from sweeper.policy.admission import admit_run
from sweeper.policy.limits import DIFF_TOO_LARGE
from sweeper.workflows.attempt import AttemptInput, AttemptWorkflow
from sweeper.workflows.calls import Calls, is_a, sentence_of
from sweeper.workflows.compensate import Compensation
from sweeper.workflows.progress import Progress, bounded, known
from sweeper.workflows.proposal import Bell, Ending, ProposalLife


@workflow.defn(name="sweep")
class SweepWorkflow:
    """admit, collect, diagnose, enter, prepare, reproduce, (fix, verify)+, propose, await review, revalidate, merge,
    compensate, done.
    """

    @workflow.init
    def __init__(self, sweep: SweepInput) -> None:
        self._sweep = sweep
        self._settings = sweep.settings
        self._progress = Progress(sweep)
        self._calls = Calls(sweep.settings.timeouts, self._progress.wait, self._progress.state.host)
        self._bell = Bell()
        self._cancelled: str | None = None
        self._proposal = ProposalLife(sweep, self._progress, self._calls, self._bell)

    @workflow.signal(name="look")
    def look(self) -> None:
        """Something may have changed; the world is read again."""
        self._bell.rung = True

    @workflow.signal(name="cancel")
    def cancel(self, reason: str) -> None:
        """Stop what is under way, clean up and end."""
        self._cancelled = reason

    @workflow.signal(name="attempt_step")
    def attempt_step(self, step: Step) -> None:
        """The running attempt has gone on to its next step."""
        if self._progress.state.step is Step.FIX:
            self._progress.enter(step)

    @workflow.run
    async def run(self, sweep: SweepInput) -> SweepResult:
        """One outcome and one sentence, always; whatever fails on the way becomes an outcome, too."""
        ending = await self._until_cancelled()
        self._calls.stopped = False
        compensation = Compensation(sweep.run, self._progress, self._calls)
        left_over = await _to_the_end(compensation.run(ending.outcome, ending.reason))
        reason = "; ".join([ending.reason, *(f"left over: {thing}" for thing in left_over)])
        self._progress.finish(ending.outcome, reason)
        await workflow.wait_condition(workflow.all_handlers_finished)
        return SweepResult(outcome=ending.outcome, reason=reason, state=self._progress.state)

    async def _until_cancelled(self) -> Ending:
        story = asyncio.create_task(self._story())
        try:
            await workflow.wait_condition(lambda: story.done() or self._cancelled is not None)
        except asyncio.CancelledError:
            self._cancelled = "the workflow was cancelled"
        if not story.done():
            self._calls.stopped = True
            story.cancel()
        try:
            return await story
        except workflow.ContinueAsNewError:
            if self._cancelled is None:
                raise
            return Ending(outcome=Outcome.CANCELLED, reason=self._cancelled)
        except (ActivityError, ChildWorkflowError, ApplicationError, asyncio.CancelledError) as error:
            if self._cancelled is not None:
                return Ending(outcome=Outcome.CANCELLED, reason=self._cancelled)
            return _failed(error)

    async def _story(self) -> Ending:
        if self._progress.state.proposal is None:
            ending = await self._up_to_proposal()
            if ending is not None:
                return ending
        return await self._proposal.settle(self._try_again)

    async def _up_to_proposal(self) -> Ending | None:
        self._progress.enter(Step.ADMIT)
        if ending := await self._admit():
            return ending
        facts = known(self._progress.state.facts)
        await self._understand(facts)
        if (unverifiable := known(self._progress.state.plan).unverifiable) is not None:
            return Ending(outcome=Outcome.UNVERIFIABLE, reason=unverifiable)
        self._progress.enter(Step.ENTER)
        if ending := await self._reproduce(facts):
            return ending
        attempt = await self._attempts(facts)
        if attempt.patch is None or attempt.verdict.kind is not VerdictKind.FIXED:
            return _no_fix(attempt)
        if self._settings.report_only:
            return Ending(outcome=Outcome.LEFT_TO_HUMAN, reason="report_only: a fix was verified and not proposed")
        return await self._propose(attempt)

    async def _admit(self) -> Ending | None:
        """Read the run until it has ended; a re-run that is under way may still take days."""
        give_up_at = workflow.now() + self._settings.proposal_ttl
        while True:
            self._bell.rung = False
            facts = await self._calls.do(names.ADMIT, self._sweep.run)
            self._progress.note(facts=facts)
            admission = admit_run(facts)
            if admission.go:
                return None
            if admission.outcome is not None:
                return Ending(outcome=admission.outcome, reason=admission.reason)
            if workflow.now() >= give_up_at:
                return Ending(outcome=Outcome.EXPIRED, reason=admission.reason)
            self._progress.wait("the run to end", give_up_at)
            await self._bell.wait(bounded(give_up_at, workflow.now() + self._settings.poll_interval))

    async def _understand(self, facts: RunFacts) -> None:
        self._progress.enter(Step.COLLECT)
        collected = await self._calls.do(
            names.COLLECT, names.CollectRequest(facts=facts, evidence_ttl=self._settings.evidence_ttl)
        )
        self._progress.note(jobs=collected.jobs, evidence=collected.evidence)
        self._progress.enter(Step.DIAGNOSE)
        diagnosed = await self._calls.do(
            names.DIAGNOSE,
            names.DiagnoseRequest(facts=facts, jobs=collected.jobs, checks=self._settings.checks),
        )
        self._progress.note(diagnosis=diagnosed.diagnosis, plan=diagnosed.plan)

    async def _reproduce(self, facts: RunFacts) -> Ending | None:
        self._progress.enter(Step.PREPARE)
        choice = await self._calls.do(names.CHOOSE_HOST, names.Nothing())
        self._calls.host = choice.host
        self._progress.note(host=choice.host)
        sweep_id = workflow.info().workflow_id
        workspace = await self._calls.do(names.PREPARE, names.PrepareRequest(sweep=sweep_id, facts=facts))
        self._progress.enter(Step.REPRODUCE)
        plan = known(self._progress.state.plan)
        reproduction = await self._calls.do(
            names.REPRODUCE,
            names.ReproduceRequest(workspace=workspace, plan=plan, check_timeout=self._settings.timeouts.check),
            scale=len(plan.checks),
        )
        self._progress.note(reproduction=reproduction)
        return _reproduced(reproduction)

    async def _attempts(self, facts: RunFacts) -> AttemptResult:
        """Each try starts clean from the failing commit and is told the verdict of the one before."""
        previous: Verdict | None = None
        while True:
            result = await self._attempt(facts, facts.head_sha, previous, None)
            previous = result.verdict
            hopeless = any(finding.name == DIFF_TOO_LARGE for finding in previous.findings)
            if previous.kind is VerdictKind.FIXED or hopeless or not self._attempts_left():
                return result

    def _attempts_left(self) -> bool:
        return len(self._progress.state.attempts) < self._settings.max_attempts

    async def _try_again(self, review: Review) -> AttemptResult | None:
        if not self._attempts_left():
            return None
        state = self._progress.state
        return await self._attempt(known(state.facts), known(state.proposal).head_sha, None, review)

    async def _attempt(
        self, facts: RunFacts, base: str, previous: Verdict | None, review: Review | None
    ) -> AttemptResult:
        if self._calls.stopped:
            raise asyncio.CancelledError
        self._progress.enter(Step.FIX)
        state = self._progress.state
        n = len(state.attempts) + 1
        sweep_id = workflow.info().workflow_id
        request = names.AttemptRequest(
            sweep=sweep_id,
            n=n,
            agent=self._settings.agent_for(n),
            base=base,
            facts=facts,
            diagnosis=known(state.diagnosis),
            plan=known(state.plan),
            jobs=state.jobs,
            reproduction=known(state.reproduction),
            previous=previous,
            review_comments=_words(review),
            limits=self._settings.limits,
            agent_timeout=self._settings.timeouts.agent,
        )
        result = await workflow.execute_child_workflow(
            AttemptWorkflow.run,
            AttemptInput(request=request, host=known(state.host), timeouts=self._settings.timeouts),
            id=f"{sweep_id}-a{n}",
            cancellation_type=workflow.ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
        )
        self._progress.note(attempts=(*self._progress.state.attempts, result))
        return result

    async def _propose(self, attempt: AttemptResult) -> Ending | None:
        """The run is looked at once more: nobody is asked to review a fix for a failure that is gone."""
        if ending := await self._admit():
            return ending
        await self._proposal.propose(known(self._progress.state.facts), attempt, known(attempt.patch))
        return None


async def _to_the_end(tidying: Coroutine[Any, Any, tuple[str, ...]]) -> tuple[str, ...]:
    """A workflow cancelled in Temporal while it tidies up goes on tidying up: there is nothing else left to stop."""
    task = asyncio.create_task(tidying)
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            workflow.logger.info("cancelled while tidying up, which goes on")
    return task.result()


def _reproduced(reproduction: Reproduction) -> Ending | None:
    if reproduction.problem is not None:
        return Ending(outcome=Outcome.UNVERIFIABLE, reason=reproduction.problem)
    if not reproduction.is_red:
        return Ending(outcome=Outcome.NOT_REPRODUCED, reason="every check passes on the failing commit: nothing to fix")
    return None


def _no_fix(attempt: AttemptResult) -> Ending:
    verdict = attempt.verdict
    if verdict.kind is VerdictKind.UNVERIFIABLE:
        return Ending(outcome=Outcome.UNVERIFIABLE, reason=verdict.reason)
    if any(finding.name == DIFF_TOO_LARGE for finding in verdict.findings):
        return Ending(outcome=Outcome.ESCALATED, reason=f"{DIFF_TOO_LARGE}: {verdict.reason}")
    return Ending(outcome=Outcome.ESCALATED, reason=f"no verified fix after {attempt.n} attempt(s): {verdict.reason}")


def _failed(error: BaseException) -> Ending:
    outcome = Outcome.UNVERIFIABLE if is_a(error, Unverifiable) else Outcome.ESCALATED
    return Ending(outcome=outcome, reason=sentence_of(error))


def _words(review: Review | None) -> tuple[ReviewComment, ...]:
    """What the reviewer wrote: the general text first, then the line comments."""
    if review is None:
        return ()
    general = (ReviewComment(path="", body=review.body),) if review.body.strip() else ()
    return general + review.comments
