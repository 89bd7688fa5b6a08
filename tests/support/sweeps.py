"""The durable sweeps in memory behind the Sweeps port: they start once, can be rung while open, and end when told.

`for_target` says which target a sweep is for, `for_signature` what it diagnosed, `finish` ends one, `away` makes the
service unreachable, `held` makes calls wait. The contract suite holds this and the real adapter to the same behaviour.
"""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from sweeper import ids
from sweeper.errors import NotFound, OutOfReach
from sweeper.model import Budget, Checkpoint, Joined, Outcome, Step, SweepInput, SweepState, Trigger
from sweeper.model.crowd import Crowd
from sweeper.model.upkeep import StuckCase
from sweeper.ports import SweepRecord, SweepView, WorkerLife

START = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


@dataclass
class FakeSweep:
    """One sweep: what it was started with and what has happened to it."""

    id: str
    input: SweepInput
    started_at: datetime
    target: str = ""
    signature: str = ""
    rings: int = 0
    cancel_reason: str | None = None
    outcome: Outcome | None = None
    reason: str = ""
    state: SweepState = field(init=False)

    def __post_init__(self) -> None:
        self.state = SweepState(started_at=self.started_at, triggers=(self.input.trigger,))

    def view(self) -> SweepView:
        settings = self.input.settings
        checkpoint = Checkpoint(
            run=self.input.run,
            workflow_version=1,
            current_step=Step.DONE if self.outcome else self.state.step,
            goal=f"Make run {self.input.run.run_id} green",
            budget=Budget(attempts_remaining=settings.max_attempts - len(self.state.attempts)),
            outcome=self.outcome,
            reason=self.reason,
            branch=self.target.partition(":")[2],
            proposal=self.state.proposal.number if self.state.proposal else None,
            proposal_url=self.state.proposal.url if self.state.proposal else None,
            updated_at=self.started_at,
            seconds=self.state.seconds,
        )
        return SweepView(
            id=self.id, checkpoint=checkpoint, started_at=self.started_at, is_open=self.outcome is None, stuck=None
        )


class FakeSweeps:
    """See the module. `sweeps` holds all of them by id; a test may read and change them."""

    def __init__(self) -> None:
        self.sweeps: dict[str, FakeSweep] = {}
        self.away = False
        self.held: asyncio.Event | None = None
        self.worker = WorkerLife(alive=True, since=START)
        self.cases: tuple[StuckCase, ...] = ()

    def for_target(self, workflow_id: str, head_repository_id: int, branch: str) -> None:
        """What the sweep finds out when it reads its run."""
        self.sweeps[workflow_id].target = ids.target_of(head_repository_id, branch)

    def for_signature(self, workflow_id: str, signature: str) -> None:
        """What the sweep finds out when it diagnoses its failure."""
        self.sweeps[workflow_id].signature = signature

    def finish(self, workflow_id: str, outcome: Outcome = Outcome.MERGED, reason: str = "") -> None:
        """The sweep has ended."""
        self.sweeps[workflow_id].outcome = outcome
        self.sweeps[workflow_id].reason = reason

    def rings(self, workflow_id: str) -> int:
        """How often it was rung."""
        return self.sweeps[workflow_id].rings

    # The port

    async def start(self, workflow_id: str, sweep: SweepInput) -> bool:
        await self._reach()
        if workflow_id in self.sweeps:
            return False
        started_at = START + timedelta(seconds=len(self.sweeps))
        self.sweeps[workflow_id] = FakeSweep(workflow_id, sweep, started_at)
        return True

    async def is_open(self, workflow_id: str) -> bool | None:
        await self._reach()
        return None if workflow_id not in self.sweeps else self.sweeps[workflow_id].outcome is None

    async def ring(self, workflow_id: str) -> bool:
        if not await self.is_open(workflow_id):
            return False
        self.sweeps[workflow_id].rings += 1
        return True

    async def cancel(self, workflow_id: str, reason: str) -> bool:
        if not await self.is_open(workflow_id):
            return False
        self.sweeps[workflow_id].cancel_reason = reason
        return True

    async def join(self, workflow_id: str, joined: Joined) -> bool:
        return await self.note(workflow_id, joined.trigger)

    async def note(self, workflow_id: str, trigger: Trigger) -> bool:
        if not await self.is_open(workflow_id):
            return False
        sweep = self.sweeps[workflow_id]
        if trigger not in sweep.state.triggers:
            sweep.state = sweep.state.model_copy(update={"triggers": (*sweep.state.triggers, trigger)})
        return True

    async def crowd(self, repository: str, besides: str, began_at: datetime) -> Crowd:
        await self._reach()
        others = [
            sweep for sweep in self.sweeps.values() if sweep.input.run.repository == repository and sweep.id != besides
        ]
        is_open = [sweep for sweep in others if sweep.outcome is None]
        ahead = [sweep for sweep in is_open if sweep.state.proposal is not None or sweep.started_at < began_at]
        return Crowd(started=tuple(sorted(sweep.started_at for sweep in others)), ahead=len(ahead))

    async def asked_anew(self, workflow_id: str) -> tuple[str, ...]:
        await self._reach()
        return tuple(found for found in self.sweeps if found.startswith(f"{workflow_id}-m"))

    async def with_signature(self, repository: str, signature: str, besides: str) -> tuple[str, ...]:
        await self._reach()
        alike = [
            sweep
            for sweep in self.sweeps.values()
            if (sweep.input.run.repository, sweep.signature) == (repository, signature) and sweep.id != besides
        ]
        newest_first = sorted(alike, key=lambda sweep: sweep.started_at, reverse=True)
        return tuple(sweep.id for sweep in newest_first[:10])

    async def open_for_target(self, target: str) -> tuple[str, ...]:
        await self._reach()
        return tuple(sweep.id for sweep in self.sweeps.values() if sweep.target == target and sweep.outcome is None)

    async def list(self, limit: int = 100) -> tuple[SweepView, ...]:
        await self._reach()
        newest_first = sorted(self.sweeps.values(), key=lambda sweep: sweep.started_at, reverse=True)
        return tuple(sweep.view() for sweep in newest_first[:limit])

    async def show(self, workflow_id: str) -> SweepRecord:
        await self._reach()
        if workflow_id not in self.sweeps:
            raise NotFound(f"There is no sweep {workflow_id}; `sweeper list` shows those there are.")
        sweep = self.sweeps[workflow_id]
        return SweepRecord(view=sweep.view(), state=sweep.state)

    async def stuck(self) -> tuple[StuckCase, ...]:
        await self._reach()
        return self.cases

    async def worker_life(self) -> WorkerLife:
        await self._reach()
        return self.worker

    async def _reach(self) -> None:
        if self.away:
            raise OutOfReach("Temporal does not answer; start it or correct SWEEPER_TEMPORAL_ADDRESS.")
        if self.held is not None:
            await self.held.wait()
