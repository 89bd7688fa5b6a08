"""Looking at the proposal's world and saying what it means. Every turn of the wait begins here."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from datetime import timedelta
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError
from temporalio.exceptions import TimeoutError as ActivityTimeout

from sweeper.activities import names
from sweeper.errors import AuthBroken, OutcomeUnknown, OutOfReach, RateLimited, Transient
from sweeper.model import Outcome, SweepInput, World
from sweeper.policy import trying
from sweeper.policy.next_step import Act, Decision, Watch, decide
from sweeper.policy.review import without_words
from sweeper.workflows.calls import Calls, is_a, sentence_of
from sweeper.workflows.progress import Progress, known
from sweeper.workflows.waits import Bell

T = TypeVar("T")

_PASSING = (Transient, OutcomeUnknown, OutOfReach, RateLimited, AuthBroken)


class Lookout:
    """Reads the world and decides. GitHub being away for hours is a named wait, not the end of a proposal."""

    def __init__(self, sweep: SweepInput, progress: Progress, calls: Calls) -> None:
        self._settings = sweep.settings
        self._progress = progress
        self._calls = calls

    async def look(self) -> tuple[Decision, World | None]:
        """What to do now, and the world it was decided on (None: GitHub does not answer)."""
        try:
            world = await self._calls.do(names.READ_WORLD, self._progress.pull)
        except ActivityError as error:
            if not _passes(error):
                raise
            return self._away(error), None
        self._progress.note(reviews=without_words(world.reviews))
        return decide(self._watch(), world, workflow.now()), world

    async def unless_ended(self, work: Coroutine[Any, Any, T], bell: Bell) -> T | Decision:
        """The work's result; or the decision that ended the story meanwhile, by a ring or a poll, and the work with it.

        Closing a proposal has to reach a sandbox that works on it at once, not when it is done.
        """
        task = asyncio.create_task(work)
        try:
            while not task.done():
                await _first_of(task, bell, self._settings.poll_interval)
                bell.raise_if_stopped()
                if task.done():
                    break
                bell.rung = False
                decision, _ = await self.look()
                if decision.act is Act.END and not task.done():
                    return decision
            return await task
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    def _away(self, error: ActivityError) -> Decision:
        if workflow.now() >= known(self._progress.state.expires_at):
            reason = f"GitHub did not answer until the proposal's time was over: {sentence_of(error)}"
            return Decision(act=Act.END, outcome=Outcome.EXPIRED, reason=reason)
        return Decision(act=Act.WAIT, reason=f"GitHub to answer ({sentence_of(error)[:120]})")

    def _watch(self) -> Watch:
        state = self._progress.state
        return Watch(
            proposal=self._progress.proposal,
            pushed_at=known(state.pushed_at),
            expires_at=known(state.expires_at),
            handled_reviews=state.handled_reviews,
            handed_over=state.handed_over,
            mode=self._settings.merge_mode,
            checks_grace=self._settings.checks_grace,
            may_try=trying.exhausted(self._settings, state) is None,
        )


async def _first_of(task: asyncio.Task[Any], bell: Bell, longest: timedelta) -> None:
    with suppress(TimeoutError):
        await workflow.wait_condition(lambda: task.done() or bell.rung or bell.stopped, timeout=longest)


def _passes(error: ActivityError) -> bool:
    return isinstance(error.cause, ActivityTimeout) or any(is_a(error, family) for family in _PASSING)
