"""The target workflow: the one authority on who may work on a branch. It answers questions; sweeps ask.

The holder is named by its workflow id, so a turn survives the holder's continue-as-new and the target's own. Sweeps
that ended without a word (terminated, lost) are noticed by asking while anybody waits.
"""

from datetime import datetime, timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError

from sweeper.activities import names, requests
from sweeper.model.target import Answer, EnterRequest, LeaveRequest, TargetInput, TargetMemo, Waiting
from sweeper.policy import exclusivity
from sweeper.workflows.calls import Calls
from sweeper.workflows.waits import Bell

MEMO = "target"
SHOWN = 20
LOOKED_AT = 30
"""Of holders and queue, from the front: who is behind them holds nobody up yet."""
LONGEST_SLEEP = timedelta(days=1)
WHILE_NOTHING_HAPPENS = timedelta(days=30)
"""What a human did not want is remembered, and nothing of it is due at any time."""


@workflow.defn(name="target")
class TargetWorkflow:
    """enter and leave are updates that never wait. `run` rings who is next and passes over the dead."""

    @workflow.init
    def __init__(self, target: TargetInput) -> None:
        self._target = target
        self._state = target.state
        self._bell = Bell()
        self._calls = Calls(target.timeouts, self._waiting, self._bell)
        self._told: tuple[str, ...] = ()
        self._looked_at = workflow.now()

    def _waiting(self, what: str, until: datetime) -> None:
        workflow.logger.info("target waits for %s until %s", what, until)

    @workflow.update(name="enter")
    def enter(self, request: EnterRequest) -> Answer:
        """May the sweep go on? Asking again is answered alike."""
        self._bell.rung = True
        self._state, answer = exclusivity.enter(self._state, request, workflow.now())
        return answer

    @workflow.update(name="leave")
    def leave(self, request: LeaveRequest) -> requests.Nothing:
        """Its turn is over. Twice is a no-op."""
        self._bell.rung = True
        self._state = exclusivity.leave(self._state, request, workflow.now())
        return requests.Nothing()

    @workflow.run
    async def run(self, target: TargetInput) -> None:
        """Until there is nothing left to remember."""
        while True:
            self._bell.rung = False
            self._publish()
            await self._ring_next()
            patience = self._patience()
            if not self._bell.rung:
                await self._bell.wait(patience)
            is_quiet = not self._bell.rung
            if is_quiet or workflow.now() >= self._looked_at + patience:
                await self._pass_over_the_dead()
            if is_quiet and self._state.is_idle and not self._bell.rung:
                await workflow.wait_condition(workflow.all_handlers_finished)
                return
            if workflow.info().get_current_history_length() >= target.timeouts.history_events:
                await workflow.wait_condition(workflow.all_handlers_finished)
                again = target.model_copy(update={"state": self._state})
                workflow.continue_as_new(again, memo={MEMO: self._memo()})

    def _patience(self) -> timedelta:
        if exclusivity.unsettled(self._state):
            return self._target.look_after if self._state.queue or self._state.superseded else LONGEST_SLEEP
        if self._state.is_idle:
            return self._target.keep_idle
        if self._state.is_quiet:
            return WHILE_NOTHING_HAPPENS
        return min([LONGEST_SLEEP, *(mute.until - workflow.now() for mute in self._state.mutes)])

    async def _ring_next(self) -> None:
        """Ring who has something to hear; it asks again and is answered. One that is gone is passed over."""
        due = exclusivity.to_ring(self._state)
        self._told = tuple(sweep for sweep in self._told if sweep in due)
        for sweep in due:
            if sweep in self._told:
                continue
            try:
                rung = await self._calls.do(names.RING_SWEEP, requests.RingRequest(sweep=sweep))
            except ActivityError:
                return  # it asks by itself from time to time
            if rung.is_open:
                self._told = (*self._told, sweep)
            else:
                self._state = exclusivity.forget(self._state, (sweep,), workflow.now())
                self._bell.rung = True

    async def _pass_over_the_dead(self) -> None:
        """Whoever ended in any way, termination included, neither holds nor waits."""
        sweeps = exclusivity.unsettled(self._state)[:LOOKED_AT]
        gone: tuple[str, ...] = ()
        if sweeps:
            try:
                gone = (await self._calls.do(names.FIND_ENDED, requests.FindEndedRequest(sweeps=sweeps))).sweeps
            except ActivityError:
                return  # asked again after the next pause
        self._state = exclusivity.forget(self._state, gone, workflow.now())
        self._looked_at = workflow.now()

    def _publish(self) -> None:
        workflow.upsert_memo({MEMO: self._memo()})

    def _memo(self) -> TargetMemo:
        oldest, queue = next(iter(self._state.holders), None), self._state.queue
        return TargetMemo(
            holder=oldest.sweep if oldest else None,
            since=oldest.since if oldest else None,
            queue=tuple(Waiting(sweep=waiting.sweep, since=waiting.since) for waiting in queue[:SHOWN]),
            waiting=len(queue),
        )
