"""Taking turns: whether there is room in the repository, and whose turn it is at the target."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from temporalio import workflow

from sweeper import ids
from sweeper.activities import names, requests
from sweeper.model import Ending, Outcome, Step, SweepInput, TriggerSource
from sweeper.model.target import Answer, Asked, EnterRequest, LeaveRequest, Turn
from sweeper.workflows.calls import Calls
from sweeper.workflows.progress import Progress, known
from sweeper.workflows.waits import Bell, until_earliest

ASK_AGAIN = timedelta(minutes=2)
"""Of one that waits for its turn: it is rung when that comes, this is for a ring that was lost."""


@dataclass(frozen=True)
class _Held:
    """What holds a sweep up, and until when if that is known."""

    what: str
    until: datetime | None = None


class Turns:
    """Exclusive right to a target: from prepare to propose, and from revalidate to merge; not while a human thinks.
    And a place on the machine for as long as attempts are made.
    """

    def __init__(self, sweep: SweepInput, progress: Progress, calls: Calls, bell: Bell) -> None:
        self._sweep = sweep
        self._settings = sweep.settings
        self._progress = progress
        self._calls = calls
        self._bell = bell

    async def enter(self) -> Ending | None:
        """Wait for room and for its turn at the target. None: it is in; else how the sweep ends without one."""
        self._progress.enter(Step.ENTER)
        return await self._until_in(self._ask_target)

    async def take_place(self, host: str) -> Ending | None:
        """Wait for one of the machine's places for attempts; repositories take turns, requests by hand go first."""
        return await self._until_in(lambda: self._ask_host(host))

    async def _until_in(self, ask: Callable[[], Awaitable[Ending | _Held | None]]) -> Ending | None:
        while True:
            self._bell.rung = False
            answer = await ask()
            give_up_at = self._progress.patient_until
            if not isinstance(answer, _Held):
                return answer
            if workflow.now() >= give_up_at:
                return Ending(outcome=Outcome.EXPIRED, reason=f"waited too long for {answer.what}")
            self._progress.wait(answer.what, give_up_at)
            self._progress.continue_as_new_if_long()
            await self._bell.wait(until_earliest(give_up_at, answer.until, workflow.now() + ASK_AGAIN))

    async def enter_again(self) -> Answer:
        """With an approval: may it act on it now? It goes before those that have no proposal yet."""
        answer = await self._ask(again=True)
        self._progress.note(is_queued=answer.turn is not Turn.GO)
        return answer

    async def give_up_place_in_queue(self) -> None:
        """The approval it waited with does not hold any more; nobody must wait behind it."""
        if self._progress.state.is_queued:
            await self._leave(has_proposal=True)

    async def leave(self) -> None:
        """The proposal waits for a human; others may have their turn."""
        await self._leave(has_proposal=True)
        await self.free_place()

    async def over(self, *, said_no: bool) -> None:
        """The sweep is over; a human's no mutes its cause for a time."""
        if self._progress.state.has_asked:
            await self._leave(mute_for=self._settings.mute_ttl if said_no else None)

    async def free_place(self) -> None:
        """Others may make their attempts."""
        if self._progress.state.has_place:
            sweep_id, places = workflow.info().workflow_id, ids.places_id(known(self._progress.state.host))
            request = LeaveRequest(target=places, sweep=sweep_id, signature=sweep_id)
            await self._calls.do(names.LEAVE_TARGET, request)
            self._progress.note(has_place=False)

    async def _ask_target(self) -> Ending | _Held | None:
        while True:
            # Who has asked once has had its room: it waits, or is in, and must not be held up by its own kind.
            if not self._progress.state.has_asked and (held := await self._room()) is not None:
                return held
            answer = await self._ask()
            if answer.turn is Turn.GO:
                return None
            if answer.turn is Turn.WAIT:
                return _Held("its turn at the branch" + _place(answer))
            if ending := await self._refused(answer):
                return ending

    async def _room(self) -> _Held | None:
        """What holds it up in the repository. A request by hand is not held up."""
        if is_manual(self._sweep):
            return None
        request = requests.RoomRequest(
            repository=self._sweep.run.repository,
            sweep=workflow.info().workflow_id,
            caps=self._settings.caps,
            started_at=self._progress.state.started_at,
        )
        room = await self._calls.do(names.FIND_ROOM, request)
        return None if room.is_free else _Held(room.reason, room.until)

    async def _ask_host(self, host: str) -> _Held | None:
        self._progress.note(has_place=True)
        sweep_id = workflow.info().workflow_id
        asked = Asked(
            sweep=sweep_id,
            run_id=self._sweep.run.run_id,
            workflow=sweep_id,
            signature=sweep_id,
            group=str(self._sweep.run.repository_id),
            is_manual=is_manual(self._sweep),
        )
        request = EnterRequest(target=ids.places_id(host), asked=asked, capacity=self._settings.places)
        answer = await self._calls.do(names.ENTER_TARGET, request)
        if answer.turn is Turn.GO:
            return None
        return _Held(f"a free place on this machine (limit {self._settings.places})" + _place(answer))

    async def _ask(self, *, again: bool = False) -> Answer:
        facts, diagnosis = known(self._progress.state.facts), known(self._progress.state.diagnosis)
        self._progress.note(has_asked=True)
        asked = Asked(
            sweep=workflow.info().workflow_id,
            run_id=facts.run.run_id,
            workflow=facts.workflow_path,
            signature=diagnosis.signature,
            is_manual=is_manual(self._sweep),
            again=again,
        )
        return await self._calls.do(names.ENTER_TARGET, EnterRequest(target=self._target(), asked=asked))

    async def _refused(self, answer: Answer) -> Ending | None:
        """None: the sweep it was to join is gone, so it asks again."""
        if answer.turn is Turn.MUTED:
            return Ending(outcome=Outcome.MUTED, reason=answer.reason)
        if answer.turn is Turn.SUPERSEDED:
            return Ending(outcome=Outcome.SUPERSEDED, reason=answer.reason)
        other = answer.other or ""
        join = requests.JoinRequest(sweep=other, run=known(self._progress.state.facts).run, trigger=self._sweep.trigger)
        if (await self._calls.do(names.JOIN_SWEEP, join)).is_open:
            return Ending(outcome=Outcome.JOINED, reason=answer.reason)
        gone = LeaveRequest(target=self._target(), sweep=other, signature="")
        await self._calls.do(names.LEAVE_TARGET, gone)
        return None

    async def _leave(self, *, has_proposal: bool = False, mute_for: timedelta | None = None) -> None:
        request = LeaveRequest(
            target=self._target(),
            sweep=workflow.info().workflow_id,
            signature=known(self._progress.state.diagnosis).signature,
            has_proposal=has_proposal,
            mute_for=mute_for,
        )
        await self._calls.do(names.LEAVE_TARGET, request)
        self._progress.note(is_queued=False)

    def _target(self) -> str:
        facts = known(self._progress.state.facts)
        return ids.target_id(known(facts.head_repository_id), known(facts.head_branch))


def is_manual(sweep: SweepInput) -> bool:
    """Whether a person asked for it: such a sweep goes before others and is held back by no cap and no mute."""
    return sweep.trigger.source in (TriggerSource.CLI, TriggerSource.DISPATCH)


def _place(answer: Answer) -> str:
    return f", place {answer.position}" + (f" behind {answer.other}" if answer.other else "")
