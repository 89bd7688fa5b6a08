"""The spending workflow: the one authority on what agents may still use today. It answers questions; attempts ask.

It lives as long as there is a day to remember. What it remembers is bounded: yesterday and today, of each the newest
shares, and one sum for each repository that used something.
"""

from contextlib import suppress
from datetime import datetime, timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError

from sweeper.activities import names, requests
from sweeper.model.days import Grant, ReserveRequest, SettleRequest, SpendingInput
from sweeper.policy import spending
from sweeper.workflows.calls import Calls
from sweeper.workflows.waits import Bell, until_earliest

LOOKED_AT = 30
"""Of the sweeps that hold a share, from the front."""
LONGEST_SLEEP = timedelta(hours=6)


@workflow.defn(name="spending")
class SpendingWorkflow:
    """reserve and settle are updates that never wait. `run` rings who was held, and passes over the dead."""

    @workflow.init
    def __init__(self, start: SpendingInput) -> None:
        self._start = start
        self._state = start.state
        self._bell = Bell()
        self._calls = Calls(start.timeouts, self._waiting, self._bell)
        self._held: tuple[str, ...] = ()
        self._look_at: datetime | None = None
        self._has_room = False

    def _waiting(self, what: str, until: datetime) -> None:
        workflow.logger.info("spending waits for %s until %s", what, until)

    @workflow.update(name="reserve")
    def reserve(self, request: ReserveRequest) -> Grant:
        """What may this attempt use? Asking again is answered alike."""
        self._state, grant = spending.reserve(self._state, request, workflow.now())
        if grant.is_held:
            self._held = tuple(dict.fromkeys((*self._held, spending.sweep_of(request.key))))[-LOOKED_AT:]
            self._look_at = self._look_at or workflow.now() + self._start.look_after
            self._bell.rung = True
        return grant

    @workflow.update(name="settle")
    def settle(self, request: SettleRequest) -> requests.Nothing:
        """What it used. Twice is a no-op."""
        self._state = spending.settle(self._state, request, workflow.now())
        self._has_room = True
        self._bell.rung = True
        return requests.Nothing()

    @workflow.run
    async def run(self, start: SpendingInput) -> None:
        """Until no day is left to remember."""
        while True:
            self._bell.rung = False
            await self._bell.wait(until_earliest(self._look_at, workflow.now() + LONGEST_SLEEP))
            if self._look_at is not None and workflow.now() >= self._look_at:
                self._look_at = None  # who is held still will ask again
                await self._pass_over_the_dead()
            if self._has_room:
                await self._ring_who_is_held()
            self._state = spending.without_old(self._state, workflow.now())
            if not self._state.days and not self._bell.rung:
                await workflow.wait_condition(workflow.all_handlers_finished)
                return
            if workflow.info().get_current_history_length() >= start.timeouts.history_events:
                await workflow.wait_condition(workflow.all_handlers_finished)
                workflow.continue_as_new(start.model_copy(update={"state": self._state}))

    async def _pass_over_the_dead(self) -> None:
        """A sweep that ended without a word (terminated, lost) holds nobody up."""
        sweeps = spending.under_way(self._state)[:LOOKED_AT]
        if not sweeps:
            return
        try:
            ended = await self._calls.do(names.FIND_ENDED, requests.FindEndedRequest(sweeps=sweeps))
        except ActivityError:
            return  # asked again when somebody is held again; its share has an end of its own, too
        self._has_room = self._has_room or bool(ended.sweeps)
        self._state = spending.forget(self._state, ended.sweeps)

    async def _ring_who_is_held(self) -> None:
        """They ask again by themselves, but some minutes later."""
        held, self._held, self._has_room = self._held, (), False
        for sweep in held:
            with suppress(ActivityError):
                await self._calls.do(names.RING_SWEEP, requests.RingRequest(sweep=sweep))
