"""The sweep: one failing run, from the trigger to the last clean-up.

It decides and waits; activities act. Any process may die at any moment: what is recorded is replayed, what was under
way is done again by an activity that looks first.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, ChildWorkflowError

from sweeper.activities import names, requests
from sweeper.errors import Unverifiable
from sweeper.model import (
    AttemptResult,
    Ending,
    Outcome,
    Reproduction,
    RunFacts,
    Step,
    SweepInput,
    SweepResult,
    VerdictKind,
)
from sweeper.policy.admission import admit_run
from sweeper.policy.limits import DIFF_TOO_LARGE
from sweeper.workflows.attempts import Attempts
from sweeper.workflows.calls import Calls, is_a, sentence_of
from sweeper.workflows.compensate import Compensation
from sweeper.workflows.progress import Progress, known
from sweeper.workflows.proposal import ProposalLife
from sweeper.workflows.waits import Bell, until_earliest


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
        self._bell = Bell()
        self._calls = Calls(sweep.settings.timeouts, self._progress.wait, self._bell, self._progress.state.host)
        self._attempts = Attempts(sweep, self._progress, self._bell)
        self._proposal = ProposalLife(sweep, self._progress, self._calls, self._attempts, self._bell)

    @workflow.signal(name="look")
    def look(self) -> None:
        """Something may have changed; the world is read again."""
        self._bell.rung = True

    @workflow.signal(name="cancel")
    def cancel(self, reason: str) -> None:
        """Stop what is under way, clean up and end."""
        self._progress.note(cancel_reason=reason)

    @workflow.signal(name="attempt_step")
    def attempt_step(self, step: Step) -> None:
        """The running attempt has gone on to its next step."""
        if self._progress.state.step is Step.FIX:
            self._progress.enter(step)

    @workflow.run
    async def run(self, sweep: SweepInput) -> SweepResult:
        """One outcome and one sentence, always; whatever fails on the way becomes an outcome, too."""
        ending = await self._until_cancelled()
        self._bell.stopped = False
        if self._progress.is_unanswered(names.MERGE.name):
            ending = await self._perhaps_merged(ending)
        compensation = Compensation(sweep.run, self._progress, self._calls)
        left_over = await _to_the_end(compensation.run(ending.outcome, ending.reason))
        reason = "; ".join([ending.reason, *(f"left over: {thing}" for thing in left_over)])
        self._progress.finish(ending.outcome, reason)
        await workflow.wait_condition(workflow.all_handlers_finished)
        return SweepResult(outcome=ending.outcome, reason=reason, state=self._progress.state)

    async def _until_cancelled(self) -> Ending:
        story = asyncio.create_task(self._story())
        try:
            await workflow.wait_condition(lambda: story.done() or self._progress.state.cancel_reason is not None)
        except asyncio.CancelledError:
            self._progress.note(cancel_reason="the workflow was cancelled")
        if not story.done():
            self._bell.stopped = True
            story.cancel()
        try:
            return await story
        except workflow.ContinueAsNewError:
            if self._progress.state.cancel_reason is None:
                raise
            return self._stopped()
        except (ActivityError, ChildWorkflowError, ApplicationError, asyncio.CancelledError) as error:
            return self._stopped() if self._progress.state.cancel_reason is not None else _failed(error)

    def _stopped(self) -> Ending:
        return Ending(outcome=Outcome.CANCELLED, reason=self._progress.state.cancel_reason or "cancelled")

    async def _perhaps_merged(self, ending: Ending) -> Ending:
        """Stopped while a merge was sent and not answered: nobody says how it ended before GitHub was asked."""
        try:
            world = await self._calls.do(names.READ_WORLD, self._progress.pull)
        except ActivityError:
            return ending
        if not world.merged:
            return ending
        return Ending(outcome=Outcome.MERGED, reason=f"merged although it was to end: {ending.reason}")

    async def _story(self) -> Ending:
        if self._progress.state.proposal is None:
            ending = await self._up_to_proposal()
            if ending is not None:
                return ending
        return await self._proposal.settle()

    async def _up_to_proposal(self) -> Ending | None:
        self._progress.enter(Step.ADMIT)
        if ending := await self._admit(patient=True):
            return ending
        facts = known(self._progress.state.facts)
        await self._understand(facts)
        if (unverifiable := known(self._progress.state.plan).unverifiable) is not None:
            return Ending(outcome=Outcome.UNVERIFIABLE, reason=unverifiable)
        self._progress.enter(Step.ENTER)
        if ending := await self._reproduce(facts):
            return ending
        attempt = await self._attempts.until_fixed()
        if attempt.patch is None or attempt.verdict.kind is not VerdictKind.FIXED:
            return _no_fix(attempt)
        if self._settings.report_only:
            return Ending(outcome=Outcome.LEFT_TO_HUMAN, reason="report_only: a fix was verified and not proposed")
        return await self._propose(attempt)

    async def _admit(self, *, patient: bool) -> Ending | None:
        """Read the run as it is now. `patient`: until it has ended; a re-run under way may still take days."""
        give_up_at = self._progress.state.started_at + self._settings.proposal_ttl
        while True:
            self._bell.rung = False
            facts = await self._calls.do(names.ADMIT, self._sweep.run)
            self._progress.note(facts=facts)
            admission = admit_run(facts)
            if admission.outcome is not None:
                return Ending(outcome=admission.outcome, reason=admission.reason)
            if admission.go or not patient:
                return None
            if workflow.now() >= give_up_at:
                return Ending(outcome=Outcome.EXPIRED, reason=admission.reason)
            self._progress.wait("the run to end", give_up_at)
            self._progress.continue_as_new_if_long()
            await self._bell.wait(until_earliest(give_up_at, workflow.now() + self._settings.poll_interval))

    async def _understand(self, facts: RunFacts) -> None:
        self._progress.enter(Step.COLLECT)
        collected = await self._calls.do(
            names.COLLECT, requests.CollectRequest(facts=facts, evidence_ttl=self._settings.evidence_ttl)
        )
        self._progress.note(jobs=collected.jobs, evidence=collected.evidence)
        self._progress.enter(Step.DIAGNOSE)
        diagnosed = await self._calls.do(
            names.DIAGNOSE,
            requests.DiagnoseRequest(facts=facts, jobs=collected.jobs, checks=self._settings.checks),
        )
        self._progress.note(diagnosis=diagnosed.diagnosis, plan=diagnosed.plan)

    async def _reproduce(self, facts: RunFacts) -> Ending | None:
        self._progress.enter(Step.PREPARE)
        choice = await self._calls.do(names.CHOOSE_HOST, requests.Nothing())
        self._calls.host = choice.host
        self._progress.note(host=choice.host)
        sweep_id = workflow.info().workflow_id
        workspace = await self._calls.do(names.PREPARE, requests.PrepareRequest(sweep=sweep_id, facts=facts))
        self._progress.enter(Step.REPRODUCE)
        plan = known(self._progress.state.plan)
        reproduction = await self._calls.do(
            names.REPRODUCE,
            requests.ReproduceRequest(workspace=workspace, plan=plan, check_timeout=self._settings.timeouts.check),
            scale=len(plan.checks),
        )
        self._progress.note(reproduction=reproduction)
        return _reproduced(reproduction)

    async def _propose(self, attempt: AttemptResult) -> Ending | None:
        """The run is looked at once more: nobody is asked to review a fix for a failure that is gone."""
        if ending := await self._admit(patient=False):
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
