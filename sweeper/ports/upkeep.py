"""What upkeep needs from outside: a list of what is ours on GitHub, the door runs come in by, a way to tell people."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sweeper.model import RunRef
from sweeper.model.upkeep import Alert, FailedRun, OpenCheck, Remains, RepositoryRef


class Inventory(Protocol):
    """What GitHub shows. Reads only, so asking twice is safe. Raises what CodeHost raises."""

    async def repositories(self) -> tuple[RepositoryRef, ...]:
        """Where our credentials let us work: an app's installations, or what a token may push to."""
        ...

    async def failed_runs(self, repository: RepositoryRef, since: datetime) -> tuple[FailedRun, ...]:
        """Runs that ended as failing since then, each in its newest attempt."""
        ...

    async def remains(self, repository: RepositoryRef) -> tuple[Remains, ...]:
        """Open pull requests with our signed marker and branches in our namespace, by sweep."""
        ...

    async def open_checks(self, repository: RepositoryRef, sweep: str, commits: Sequence[str]) -> tuple[OpenCheck, ...]:
        """Check runs on these commits that say the sweep goes on."""
        ...


class Door(Protocol):
    """Where runs come in. Knocking twice is safe: a run has one sweep."""

    async def knock(self, failed: FailedRun) -> str | None:
        """A failed run, under the same rules as its webhook. The id of the sweep that it started, if it did."""
        ...

    async def start_again(self, sweep: str, run: RunRef) -> bool:
        """Start the sweep of that id, whose record is lost. False if there is one."""
        ...


class Alerts(Protocol):
    """Telling an operator. Told twice, the alert carries the same id."""

    @property
    def channels(self) -> tuple[str, ...]:
        """The ways that are set up."""
        ...

    async def send(self, alert: Alert, channel: str) -> None:
        """Raises Transient when it did not arrive."""
        ...


@dataclass(frozen=True)
class Caretaking:
    """What upkeep stands on besides the ports of sweeps."""

    inventory: Inventory
    door: Door
    alerts: Alerts
