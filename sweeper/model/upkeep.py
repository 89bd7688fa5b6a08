"""Upkeep: what is left of sweeps, which sweeps are stuck, and what the service remembers about both."""

from datetime import timedelta
from enum import StrEnum

from sweeper.model.base import Instant, Wire
from sweeper.model.run import RunRef


class RepositoryRef(Wire):
    """A repository we can see. The id identifies it; the name is today's, empty where only a host's disk told of it."""

    id: int
    name: str = ""


class FailedRun(Wire):
    """A failed run attempt as a list of runs shows it: what its webhook would have told."""

    run: RunRef
    conclusion: str
    head_sha: str
    head_branch: str | None = None
    head_repository_id: int | None = None
    actor: str | None = None


class PullTrace(Wire):
    """An open pull request that carries our signed marker."""

    number: int
    branch: str
    head_sha: str


class HostTrace(Wire):
    """What lies on a host of a sweep: its worktrees by name, and the commits its attempts recorded."""

    host: str
    repository_id: int
    sweep: str
    worktrees: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()


class Remains(Wire):
    """All that was found of one sweep in one repository: on GitHub, on hosts, or nothing but Temporal's record."""

    sweep: str
    repository: RepositoryRef
    pulls: tuple[PullTrace, ...] = ()
    branch_sha: str | None = None
    hosts: tuple[HostTrace, ...] = ()


class OpenCheck(Wire):
    """A check run of ours that says its sweep goes on."""

    sha: str
    title: str = ""


class StuckKind(StrEnum):
    """Why something cannot go on by itself."""

    TASK_FAILS = "task_fails"
    NOBODY_WORKS = "nobody_works"
    OVERDUE = "overdue"
    CREDENTIALS = "credentials"
    OLD_QUEUE = "old_queue"


class StuckCase(Wire):
    """What is stuck, since when, and one sentence that says what to do."""

    workflow: str
    kind: StuckKind
    since: Instant
    sentence: str

    @property
    def key(self) -> str:
        """The same for as long as the case goes on."""
        return f"{self.kind}/{self.workflow}"


class Alert(Wire):
    """A case as it is told to the operator. The same case has the same `id`, also when it is told twice by a crash."""

    id: str
    case: StuckCase


class Alerted(Wire):
    """A case that the operator was told of, by these channels."""

    key: str
    since: Instant
    channels: tuple[str, ...] = ()


class UpkeepState(Wire):
    """What upkeep remembers from one pass to the next.

    `seen`: repository id to the moment up to which its failed runs were looked at. `hosts`: host to its last sign of
    life. `suspects`: orphan to when it was first seen as one. `settled`: sweeps that ended by other hands and of which
    nothing is left. `left`: what is left alone, and why. `done`: the last things that were done, newest last.
    `problems`: what the last pass could not do.
    """

    seen: dict[str, Instant] = {}
    hosts: dict[str, Instant] = {}
    suspects: dict[str, Instant] = {}
    settled: tuple[str, ...] = ()
    left: dict[str, str] = {}
    done: tuple[str, ...] = ()
    alerted: tuple[Alerted, ...] = ()
    problems: tuple[str, ...] = ()
    last_pass: Instant | None = None


class UpkeepSettings(Wire):
    """How often to look, how far back at first, how long something has to look orphaned, and where alerts go."""

    interval: timedelta = timedelta(minutes=5)
    lookback: timedelta = timedelta(hours=24)
    grace: timedelta = timedelta(seconds=30)
    channels: tuple[str, ...] = ()


class UpkeepInput(Wire):
    """The workflow's argument: wait so long, then pass. `state` is carried through continue-as-new."""

    settings: UpkeepSettings = UpkeepSettings()
    state: UpkeepState = UpkeepState()
    pause: timedelta = timedelta(0)


class Rung(Wire):
    """A worker has started: the host it serves, and the settings it came with."""

    host: str
    settings: UpkeepSettings


class UpkeepMemo(Wire):
    """What upkeep says of itself: readable with no worker."""

    last_pass: Instant | None = None
    done: tuple[str, ...] = ()
    left: dict[str, str] = {}
    problems: tuple[str, ...] = ()
