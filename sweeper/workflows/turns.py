"""Taking turns: whether there is room in the repository, and whose turn it is at the target."""

from datetime import timedelta

from temporalio import workflow

from sweeper import ids
from sweeper.activities import names, requests
from sweeper.model import Ending, Outcome, Step, SweepInput
from sweeper.model.target import Answer, Asked, EnterRequest, LeaveRequest, Turn
from sweeper.policy.trying import rejected_patches
from sweeper.workflows.calls import Calls
from sweeper.workflows.progress import Progress, known
from sweeper.workflows.queueing import Held, standing, until_let_in
from sweeper.workflows.waits import Bell

ENDS_SOON = timedelta(seconds=5)


class Turns:
    """Exclusive right to a target: from enter to propose, and from revalidate to merge; not while a human thinks."""

    def __init__(self, sweep: SweepInput, progress: Progress, calls: Calls, bell: Bell) -> None:
        self._sweep = sweep
        self._settings = sweep.settings
        self._progress = progress
        self._calls = calls
        self._bell = bell

    async def enter(self) -> Ending | None:
        """Wait for room and for its turn at the target. None: it is in; else how the sweep ends without one."""
        self._progress.enter(Step.ENTER)
        return await until_let_in(self._ask_target, self._progress, self._bell)

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

    async def over(self, *, said_no: bool, found_no_fix: bool = False) -> None:
        """The sweep is over; a human's no, or agents that tried in vain, have its cause left alone for a time."""
        if self._progress.state.has_asked:
            rejected = rejected_patches(self._progress.state, said_no=said_no)
            await self._leave(
                mute_for=self._settings.mute_ttl if said_no else None,
                rejected=rejected,
                backoff=self._settings.backoff if found_no_fix else None,
            )

    async def _ask_target(self) -> Ending | Held | None:
        while True:
            # Who has asked once has had its room: it waits, or is in, and must not be held up by its own kind.
            if not self._progress.state.has_asked and (held := await self._room()) is not None:
                return held
            answer = await self._ask()
            if answer.turn is Turn.GO:
                self._progress.note(rejected=answer.rejected)
                return None
            if answer.turn is Turn.WAIT:
                return Held("its turn at the branch" + standing(answer))
            if (refusal := await self._refused(answer)) is not None:
                return refusal

    async def _room(self) -> Held | None:
        """What holds it up in the repository. A request by hand is not held up."""
        if self._sweep.trigger.is_manual:
            return None
        request = requests.RoomRequest(
            repository=self._sweep.run.repository,
            sweep=workflow.info().workflow_id,
            caps=self._settings.caps,
            started_at=self._progress.state.started_at,
        )
        room = await self._calls.do(names.FIND_ROOM, request)
        return None if room.is_free else Held(room.reason, room.until)

    async def _ask(self, *, again: bool = False) -> Answer:
        facts, diagnosis = known(self._progress.state.facts), known(self._progress.state.diagnosis)
        self._progress.note(has_asked=True)
        asked = Asked(
            sweep=workflow.info().workflow_id,
            run_id=facts.run.run_id,
            workflow=facts.workflow_path,
            signature=diagnosis.signature,
            is_manual=self._sweep.trigger.is_manual,
            again=again,
        )
        return await self._calls.do(names.ENTER_TARGET, EnterRequest(target=self._target(), asked=asked))

    async def _refused(self, answer: Answer) -> Ending | Held | None:
        """None: the sweep it was to join is over, so it asks again. One that is about to end may still leave a no."""
        if answer.turn is Turn.MUTED:
            return Ending(outcome=Outcome.MUTED, reason=answer.reason)
        if answer.turn is Turn.SUPERSEDED:
            return Ending(outcome=Outcome.SUPERSEDED, reason=answer.reason)
        other = answer.other or ""
        join = requests.JoinRequest(sweep=other, run=known(self._progress.state.facts).run, trigger=self._sweep.trigger)
        if (await self._calls.do(names.JOIN_SWEEP, join)).is_open:
            return Ending(outcome=Outcome.JOINED, reason=answer.reason)
        ended = await self._calls.do(names.FIND_ENDED, requests.FindEndedRequest(sweeps=(other,)))
        if other not in ended.sweeps:
            return Held(f"{other} to end", workflow.now() + ENDS_SOON)
        gone = LeaveRequest(target=self._target(), sweep=other, signature="")
        await self._calls.do(names.LEAVE_TARGET, gone)
        return None

    async def _leave(
        self,
        *,
        has_proposal: bool = False,
        mute_for: timedelta | None = None,
        rejected: tuple[str, ...] = (),
        backoff: timedelta | None = None,
    ) -> None:
        request = LeaveRequest(
            target=self._target(),
            sweep=workflow.info().workflow_id,
            signature=known(self._progress.state.diagnosis).signature,
            has_proposal=has_proposal,
            mute_for=mute_for,
            rejected=rejected,
            backoff=backoff,
        )
        await self._calls.do(names.LEAVE_TARGET, request)
        self._progress.note(is_queued=False)

    def _target(self) -> str:
        facts = known(self._progress.state.facts)
        return ids.target_id(known(facts.head_repository_id), known(facts.head_branch))
