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
from sweeper.model import Ending, Joined, Outcome, Step, SweepInput, SweepResult, Trigger
from sweeper.workflows.calls import is_a, sentence_of
from sweeper.workflows.compensate import Compensation
from sweeper.workflows.making import Making
from sweeper.workflows.parts import Parts
from sweeper.workflows.proposal import ProposalLife


@workflow.defn(name="sweep")
class SweepWorkflow:
    """admit, collect, diagnose, enter, prepare, reproduce, (fix, verify)+, propose, await review, revalidate, merge,
    compensate, done.
    """

    @workflow.init
    def __init__(self, sweep: SweepInput) -> None:
        self._parts = parts = Parts.of(sweep)
        self._progress, self._bell, self._calls = parts.progress, parts.bell, parts.calls
        self._making, self._proposal = Making(parts), ProposalLife(parts)

    @workflow.signal(name="look")
    def look(self) -> None:
        """Something may have changed; the world is read again."""
        self._bell.rung = True

    @workflow.signal(name="cancel")
    def cancel(self, reason: str) -> None:
        """Stop what is under way, clean up and end."""
        self._progress.note(cancel_reason=reason)

    @workflow.signal(name="note")
    def note(self, trigger: Trigger) -> None:
        """Something else asked for this sweep."""
        self._progress.asked_by(trigger)

    @workflow.update(name="join")
    def join(self, joined: Joined) -> requests.IsOpen:
        """A newer run failed alike and is left to this sweep, unless it is about to end."""
        if self._progress.is_ending:
            return requests.IsOpen(is_open=False)
        self._progress.joined(joined)
        self._bell.rung = True
        return requests.IsOpen(is_open=True)

    @workflow.signal(name="attempt_step")
    def attempt_step(self, step: Step) -> None:
        """The running attempt has gone on to its next step."""
        if self._progress.state.step is Step.FIX:
            self._progress.enter(step)

    @workflow.run
    async def run(self, sweep: SweepInput) -> SweepResult:  # noqa: ARG002 - Temporal gives it to `__init__`, too
        """One outcome and one sentence, always; whatever fails on the way becomes an outcome, too."""
        ending = await self._until_cancelled()
        self._progress.is_ending = True
        self._bell.stopped = False
        if self._progress.is_unanswered(names.MERGE.name):
            ending = await self._perhaps_merged(ending)
        compensation = Compensation(self._parts)
        left_over = await _to_the_end(compensation.run(ending))
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
            made = await self._making.until_proven()
            if isinstance(made, Ending):
                return made
            await self._proposal.propose(made)
        return await self._proposal.settle()


async def _to_the_end(tidying: Coroutine[Any, Any, tuple[str, ...]]) -> tuple[str, ...]:
    """A workflow cancelled in Temporal while it tidies up goes on tidying up: there is nothing else left to stop."""
    task = asyncio.create_task(tidying)
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            workflow.logger.info("cancelled while tidying up, which goes on")
    return task.result()


def _failed(error: BaseException) -> Ending:
    outcome = Outcome.UNVERIFIABLE if is_a(error, Unverifiable) else Outcome.ESCALATED
    return Ending(outcome=outcome, reason=sentence_of(error))
