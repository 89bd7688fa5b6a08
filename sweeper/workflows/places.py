"""The machine's places for attempts, shared out by the workflow and the rules that share out targets."""

from temporalio import workflow

from sweeper import ids
from sweeper.activities import names
from sweeper.model import Ending, SweepInput
from sweeper.model.target import Asked, EnterRequest, LeaveRequest, Turn
from sweeper.workflows.calls import Calls
from sweeper.workflows.progress import Progress, known
from sweeper.workflows.proof import Proof
from sweeper.workflows.queueing import Held, standing, until_let_in
from sweeper.workflows.waits import Bell


class Places:
    """A place for as long as attempts are made; repositories take turns, requests by hand go first."""

    def __init__(self, sweep: SweepInput, progress: Progress, calls: Calls, bell: Bell, proof: Proof) -> None:
        self._sweep = sweep
        self._most = sweep.settings.places
        self._progress = progress
        self._calls = calls
        self._bell = bell
        self._proof = proof

    async def take(self) -> Ending | None:
        """Wait for one. None: it has it; else how the sweep ends without one."""
        await self._proof.host()
        return await until_let_in(self._ask, self._progress, self._bell)

    async def free(self) -> None:
        """Others may make their attempts. Without a place it is a no-op."""
        if self._progress.state.has_place:
            sweep_id = workflow.info().workflow_id
            request = LeaveRequest(target=self._places(), sweep=sweep_id, signature=sweep_id)
            await self._calls.do(names.LEAVE_TARGET, request)
            self._progress.note(has_place=False)

    async def _ask(self) -> Held | None:
        """Under its own id as workflow and signature: here nobody is superseded or joined."""
        self._progress.note(has_place=True)
        sweep_id = workflow.info().workflow_id
        asked = Asked(
            sweep=sweep_id,
            run_id=self._sweep.run.run_id,
            workflow=sweep_id,
            signature=sweep_id,
            group=str(self._sweep.run.repository_id),
            is_manual=self._sweep.trigger.is_manual,
        )
        request = EnterRequest(target=self._places(), asked=asked, capacity=self._most)
        answer = await self._calls.do(names.ENTER_TARGET, request)
        if answer.turn is Turn.GO:
            return None
        return Held(f"a free place on this machine (limit {self._most})" + standing(answer))

    def _places(self) -> str:
        return ids.places_id(known(self._progress.state.host))
