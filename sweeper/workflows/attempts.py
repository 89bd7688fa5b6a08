"""Attempts, one after the other, each told the verdict or the review before it, as long as the budgets last.

Budgets are asked before an agent begins. Of the day's budgets it gets a share that others cannot have meanwhile; every
agent that may cost anything asks, also where no bound is set: what was used before a bound is set counts, too.
"""

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, ChildWorkflowError

from sweeper.activities import names, requests
from sweeper.model import (
    Allowance,
    AttemptResult,
    Ending,
    FixOutcome,
    FixReport,
    Outcome,
    Review,
    Step,
    SweepInput,
    Verdict,
    VerdictKind,
)
from sweeper.model.days import Grant, ReserveRequest, SettleRequest
from sweeper.model.proposal import ReviewComment
from sweeper.policy import trying
from sweeper.policy.next_step import is_of_ci
from sweeper.policy.spending import rest
from sweeper.workflows.attempt import AttemptInput, AttemptWorkflow
from sweeper.workflows.calls import LONG_TRIES, Calls, was_cancelled
from sweeper.workflows.progress import Progress, known
from sweeper.workflows.queueing import Held, until_let_in
from sweeper.workflows.waits import Bell


class Attempts:
    """Starts attempts as child workflows and keeps their results in the sweep's state."""

    def __init__(self, sweep: SweepInput, progress: Progress, calls: Calls, bell: Bell) -> None:
        self._run = sweep.run
        self._settings = sweep.settings
        self._progress = progress
        self._calls = calls
        self._bell = bell

    async def until_fixed(self) -> AttemptResult | Ending:
        """Each try starts clean from the failing commit. The last result, fixed or not; or that a budget is used up."""
        state, base = self._progress.state, known(self._progress.state.facts).head_sha
        if state.chain_sha != base:
            self._progress.note(chain_sha=base, chain_from=len(state.attempts))
        while True:
            result = await self._attempt(base, None)
            if isinstance(result, Ending) or trying.is_over(self._settings, self._progress.state):
                return result

    async def again(self, review: Review) -> AttemptResult | Ending:
        """For a reviewer's words, on top of the proposal: until they are worked in, or once for the word of CI."""
        while True:
            result = await self._attempt(self._progress.proposal.head_sha, review)
            if isinstance(result, Ending):
                return result.model_copy(update={"keeps_proposal": True})
            if is_of_ci(review) or trying.is_over(self._settings, self._progress.state):
                return result

    def are_left(self) -> bool:
        """Whether the sweep's budget allows one more."""
        return self.exhausted() is None

    def exhausted(self) -> str | None:
        """Why it does not, in words that name the budget."""
        return trying.exhausted(self._settings, self._progress.state)

    async def settle(self) -> None:
        """What attempts used stands in place of what was reserved for them. Twice is a no-op."""
        for n in self._progress.state.unsettled:
            spent = trying.spent_in([made for made in self._progress.state.attempts if made.n == n])
            request = SettleRequest(key=_key(n), repository_id=self._run.repository_id, spent=spent)
            await self._calls.do(names.SETTLE_SPENDING, request)
            self._settled(n)

    async def _attempt(self, base: str, review: Review | None) -> AttemptResult | Ending:
        self._bell.raise_if_stopped()
        if exhausted := self.exhausted():
            return self._given_up(exhausted)
        self._progress.enter(Step.FIX)
        state = self._progress.state
        agent = trying.next_agent(self._settings, state)
        allowance = rest(trying.bounds(self._settings, agent), trying.spent_in(state.attempts))
        if workflow.patched("a day's budgets"):
            reserved = await self._reserved(agent, allowance)
            if isinstance(reserved, Ending):
                return reserved
            allowance = reserved
        request = self._request(agent, base, review, allowance)
        try:
            result = await workflow.execute_child_workflow(
                AttemptWorkflow.run,
                AttemptInput(request=request, host=known(state.host), timeouts=self._settings.timeouts),
                id=f"{request.sweep}-a{request.n}",
                cancellation_type=workflow.ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
            )
        except (ChildWorkflowError, asyncio.CancelledError) as error:
            if self._bell.stopped or was_cancelled(error):
                self._remember(_cut_short(request))
            raise
        self._remember(result)
        self._raise_if_stopped()
        await self._settle_if_possible()
        return result

    def _request(self, agent: str, base: str, review: Review | None, allowance: Allowance) -> requests.AttemptRequest:
        state, longest = self._progress.state, self._settings.timeouts.agent
        if allowance.seconds is not None:
            longest = min(longest, timedelta(seconds=allowance.seconds))
        return requests.AttemptRequest(
            sweep=workflow.info().workflow_id,
            n=len(state.attempts) + 1,
            agent=agent,
            base=base,
            facts=known(state.facts),
            diagnosis=known(state.diagnosis),
            plan=known(state.plan),
            jobs=state.jobs,
            reproduction=known(state.reproduction),
            tested=state.tested,
            protected=state.protected,
            previous=trying.lesson(state),
            review_comments=_words(review),
            limits=state.limits or self._settings.limits,
            agent_timeout=longest,
            allowance=allowance,
            known_patches=trying.known_patches(state),
        )

    async def _reserved(self, agent: str, wanted: Allowance) -> Allowance | Ending:
        """What the budgets of the day leave of it. Who asks no model and takes moments does not ask."""
        if agent == trying.FREE:
            return wanted
        n, grant = len(self._progress.state.attempts) + 1, Grant()
        request = self._asking(n, wanted)

        async def ask() -> Ending | Held | None:
            nonlocal grant
            grant = await self._calls.do(names.RESERVE_SPENDING, request)
            if grant.is_held:
                return Held(grant.reason)
            return self._given_up(grant.reason) if grant.granted is None else None

        if n not in self._progress.state.unsettled:
            # Before it asks: an answer that is lost has reserved something all the same.
            self._progress.note(unsettled=(*self._progress.state.unsettled, n))
        if ending := await until_let_in(ask, self._progress, self._bell):
            self._settled(n)
            return ending
        if self._progress.state.waiting is not None:
            self._progress.enter(Step.FIX)
        return known(grant.granted)

    def _asking(self, n: int, wanted: Allowance) -> ReserveRequest:
        budgets, timeouts = self._settings.budgets, self._settings.timeouts
        return ReserveRequest(
            key=_key(n),
            repository=self._run.repository,
            repository_id=self._run.repository_id,
            wanted=wanted,
            repository_day=budgets.repository_day,
            installation_day=budgets.installation_day,
            lasts=timeouts.busy_host_total + LONG_TRIES * (timeouts.agent + timeouts.git),
        )

    async def _settle_if_possible(self) -> None:
        """A fix is not lost because an account could not be kept; the end of the sweep tries again and tells."""
        try:
            await self.settle()
        except ActivityError as error:
            workflow.logger.warning("what an attempt used is not settled yet: %s", error)

    def _given_up(self, reason: str) -> Ending:
        attempts = self._progress.state.attempts
        last = f"; no verified fix after {len(attempts)} attempt(s): {attempts[-1].verdict.reason}" if attempts else ""
        return Ending(outcome=Outcome.ESCALATED, reason=reason + last, found_no_fix=bool(attempts))

    def _raise_if_stopped(self) -> None:
        """An agent that ended in good order because it was told to stop has a result, but no successor."""
        self._bell.raise_if_stopped()
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise asyncio.CancelledError

    def _settled(self, n: int) -> None:
        left = tuple(other for other in self._progress.state.unsettled if other != n)
        self._progress.note(unsettled=left)

    def _remember(self, result: AttemptResult) -> None:
        state = self._progress.state
        self._progress.note(attempts=(*state.attempts, result), host=result.host or state.host)


def _key(n: int) -> str:
    return f"{workflow.info().workflow_id}/{n}"


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
