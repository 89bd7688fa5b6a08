"""The durable sweeps, as triggers and commands need them."""

from datetime import datetime
from typing import Protocol

from sweeper.model import Checkpoint, Instant, Joined, Strict, SweepInput, SweepState, Trigger
from sweeper.model.crowd import Crowd
from sweeper.model.upkeep import StuckCase


class SweepView(Strict):
    """A sweep as its checkpoint and the service show it. `stuck` is a sentence when it cannot go on by itself."""

    id: str
    checkpoint: Checkpoint
    started_at: Instant
    is_open: bool
    stuck: str | None = None


class SweepRecord(Strict):
    """All that is known of one sweep."""

    view: SweepView
    state: SweepState


class WorkerLife(Strict):
    """Whether some worker is alive, and since when it is or is not."""

    alive: bool
    since: Instant | None = None


class Sweeps(Protocol):
    """The durable sweeps. All reads are answered without a worker. Raises OutOfReach when Temporal is away."""

    async def start(self, workflow_id: str, sweep: SweepInput) -> bool:
        """True: started now. False: it exists, running or ended (nothing was added to it)."""
        ...

    async def is_open(self, workflow_id: str) -> bool | None:
        """None: never heard of it."""
        ...

    async def ring(self, workflow_id: str) -> bool:
        """Make an open sweep look at the world; False if there is none. At most one ring is pending per sweep."""
        ...

    async def cancel(self, workflow_id: str, reason: str) -> bool:
        """Ask an open sweep to clean up and end; False if there is none."""
        ...

    async def note(self, workflow_id: str, trigger: Trigger) -> bool:
        """Tell an open sweep what else asked for it; False if there is none. Told twice it remembers once."""
        ...

    async def join(self, workflow_id: str, joined: Joined) -> bool:
        """Leave a newer failing run of its cause to a sweep; False if it is over or about to end. Needs a worker."""
        ...

    async def crowd(self, repository: str, besides: str, began_at: datetime) -> Crowd:
        """What goes on in a repository besides a sweep that began then. May lag a moment behind."""
        ...

    async def asked_anew(self, workflow_id: str) -> tuple[str, ...]:
        """Ids of the sweeps, open or ended, that requests started after that one had ended."""
        ...

    async def with_signature(self, repository: str, signature: str, besides: str) -> tuple[str, ...]:
        """Ids of other sweeps of a repository whose failure has that signature, newest first, at most 10."""
        ...

    async def open_for_target(self, target: str) -> tuple[str, ...]:
        """Ids of open sweeps for a target."""
        ...

    async def list(self, limit: int = 100) -> tuple[SweepView, ...]:
        """Newest first."""
        ...

    async def show(self, workflow_id: str) -> SweepRecord:
        """Raises NotFound."""
        ...

    async def stuck(self) -> tuple[StuckCase, ...]:
        """What cannot go on by itself, each workflow of ours at most once. Bounded: of very many not all are seen."""
        ...

    async def worker_life(self) -> WorkerLife:
        """Is anybody working?"""
        ...
