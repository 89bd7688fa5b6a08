"""A service whose parts come and go within one test: a Temporal with its database, a GitHub, a worker with upkeep.

All of it is as the product builds it, except that nothing runs in a sandbox, which would only cost time here.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from temporalio.client import Client

from adapters.loopback.drive.answers import RepoSeen
from adapters.loopback.drive_client import DriveClient
from adapters.loopback.options import LoopbackInfo
from adapters.sandbox import Unsandboxed
from adapters.temporal.client import TemporalTarget, connect
from adapters.temporal.embedded import EmbeddedTemporal, Restarts
from adapters.temporal.server import DATABASE_FILE
from adapters.temporal.sweeps import TemporalSweeps
from adapters.temporal.upkeep import read_upkeep, ring_upkeep
from sweeper import ids
from sweeper.cli import composition
from sweeper.cli.upkeep import caretaking
from sweeper.config import Settings, StateDir, prepare_state_dir
from sweeper.config.settings import only_settings
from sweeper.errors import OutOfReach
from sweeper.model import RunRef, Step
from sweeper.model.upkeep import Rung, UpkeepMemo, UpkeepSettings
from sweeper.ports import Ports, SweepRecord
from sweeper.worker import build_workers
from tests.support.loopback import running_loopback
from tests.support.red_run import AGENT, red_run

LOOK_EVERY = 0.05
PATIENCE = 150.0
DEFAULT_RESTARTS = Restarts()
AT_ONCE = UpkeepSettings(interval=timedelta(hours=1), grace=timedelta(0))
"""A pass when it is rung, and what looks like an orphan is one."""


async def until(is_so: Callable[[], Awaitable[bool]], what: str) -> None:
    """Ask until it is so; on a busy machine an answer may be late."""
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                with suppress(OutOfReach):
                    if await is_so():
                        return
                await asyncio.sleep(LOOK_EVERY)
    except TimeoutError:
        raise AssertionError(f"it never came to that: {what}") from None


@dataclass
class Household:
    """See the module. `client` and `sweeps` are there while the service runs."""

    root: Path
    info: LoopbackInfo
    drive: DriveClient
    overrides: dict[str, object] = field(default_factory=dict)
    restarts: Restarts = DEFAULT_RESTARTS
    client: Client = field(init=False)
    sweeps: TemporalSweeps = field(init=False)

    @property
    def settings(self) -> Settings:
        wanted: dict[str, object] = {
            "state_dir": self.root / "state",
            "github_url": self.info.url,
            "github_token": self.info.token,
            "agents": ("command",),
            "agent_command": AGENT,
            "heartbeat": timedelta(seconds=1),
            "poll_interval": timedelta(seconds=2),
        }
        return only_settings({**wanted, **self.overrides})

    @property
    def state(self) -> StateDir:
        return prepare_state_dir(self.settings)

    @property
    def database(self) -> Path:
        """Temporal's."""
        return self.state.root / DATABASE_FILE

    # Parts that come and go

    @asynccontextmanager
    async def temporal(self) -> AsyncIterator[None]:
        """Temporal on its database."""
        async with EmbeddedTemporal(self.state.root, self.restarts) as server:
            self.client = await connect(TemporalTarget(address=server.address))
            self.sweeps = TemporalSweeps(self.client)
            yield

    @asynccontextmanager
    async def worker(self) -> AsyncIterator[Ports]:
        """One worker in this process."""
        state, sandbox = self.state, Unsandboxed()
        store = composition.artifacts(state)
        ports = Ports(
            code_host=composition.code_host(self.settings, state),
            workspaces=composition.workspaces(state.worktrees, sandbox),
            journals=composition.journals(state.worktrees, sandbox),
            sandbox=sandbox,
            agents=composition.agents(self.settings, sandbox, store),
            artifacts=store,
        )
        durable = replace(
            composition.durable(self.client, state, self.settings),
            sweeps=self.sweeps,
            upkeep=caretaking(self.settings, state, ports.code_host, self.sweeps),
        )
        async with AsyncExitStack() as stack:
            for worker in build_workers(self.client, ports, durable):
                await stack.enter_async_context(worker)
            yield ports

    @asynccontextmanager
    async def service(self) -> AsyncIterator[None]:
        """Temporal and a worker."""
        async with self.temporal(), self.worker():
            yield

    def lose_database(self) -> None:
        """Somebody deletes it while nothing runs."""
        for path in self._database_files(self.state.root):
            path.unlink()

    def keep_copy(self) -> Path:
        """A copy of the database as it is now, while nothing runs."""
        copy = self.root / "copy"
        copy.mkdir()
        for path in self._database_files(self.state.root):
            shutil.copy(path, copy)
        return copy

    def restore(self, copy: Path) -> None:
        """The copy takes the place of the database."""
        self.lose_database()
        for path in self._database_files(copy):
            shutil.copy(path, self.state.root)

    def _database_files(self, folder: Path) -> Iterator[Path]:
        yield from list(folder.glob(f"{DATABASE_FILE}*"))

    # What happens

    async def passes(self, settings: UpkeepSettings = AT_ONCE) -> UpkeepMemo:
        """Ring upkeep, and wait for the end of a pass that began after that."""
        rung_at = datetime.now(UTC)
        host = composition.workspaces(self.state.worktrees, Unsandboxed()).host
        await ring_upkeep(self.client, Rung(host=host, settings=settings))
        told: UpkeepMemo | None = None

        async def has_passed() -> bool:
            nonlocal told
            told = await read_upkeep(self.client)
            return told is not None and told.last_pass is not None and told.last_pass >= rung_at

        await until(has_passed, "upkeep passes")
        assert told is not None
        return told

    async def red_run(self, name: str) -> "Case":
        """A repository whose CI has just failed. No webhook is sent."""
        return Case(self, (await red_run(self.drive, f"octo/{name}")).ref)

    @contextmanager
    def with_settings(self, **changes: object) -> Iterator[None]:
        """Other settings for what is started in the block."""
        before, self.overrides = self.overrides, {**self.overrides, **changes}
        try:
            yield
        finally:
            self.overrides = before

    def on_disk(self) -> list[str]:
        """Worktrees, and what is left of them, by name."""
        root = self.state.worktrees
        found = [*root.glob("trees/*/*"), *root.glob("mirrors/*.git/worktrees/*"), *root.glob("trash/*")]
        return sorted({path.name for path in found})

    async def records(self) -> list[str]:
        """Sweeps with a recorded attempt or a worktree on this host."""
        traces = await composition.workspaces(self.state.worktrees, Unsandboxed()).traces()
        return sorted(trace.sweep for trace in traces)


@dataclass(frozen=True)
class Case:
    """One red run and its sweep."""

    home: Household
    run: RunRef

    @property
    def sweep(self) -> str:
        return ids.sweep_id(self.run, self.home.info.url)

    @property
    def branch(self) -> str:
        return ids.branch_of(self.sweep)

    async def record(self) -> SweepRecord:
        return await self.home.sweeps.show(self.sweep)

    async def until(self, told: Callable[[SweepRecord], bool]) -> SweepRecord:
        """Wait until the sweep is there and shows it."""
        found: list[SweepRecord] = []

        async def shows() -> bool:
            if await self.home.sweeps.is_open(self.sweep) is None:
                return False
            found[:] = [await self.record()]
            return told(found[0])

        try:
            await until(shows, self.sweep)
        except AssertionError as error:
            raise AssertionError(f"{error}; it was last seen as {found}") from None
        return found[0]

    async def parked(self) -> SweepRecord:
        """Wait until a human is asked."""
        return await self.until(
            lambda record: (
                record.view.checkpoint.current_step is Step.AWAIT_REVIEW
                and record.view.checkpoint.waiting_for is not None
            )
        )

    async def terminated(self) -> None:
        """Somebody ends the workflow without asking it."""
        await self.home.client.get_workflow_handle(self.sweep).terminate("by hand")

    async def seen(self) -> RepoSeen:
        """The repository as GitHub has it now."""
        return next(repo for repo in (await self.home.drive.world()).repos if repo.id == self.run.repository_id)

    async def effects(self) -> dict[str, int]:
        """How often each write on branch and pull request happened in the repository, by GitHub's own ledger."""
        found: dict[str, int] = {}
        for call in (await self.home.drive.ledger()).calls:
            is_counted = call.effect is not None and call.effect.startswith(("branch.", "pull.", "comment."))
            if call.effect and is_counted and f"/{self.run.repository}" in call.path:
                found[call.effect] = found.get(call.effect, 0) + 1
        return found


@asynccontextmanager
async def household(root: Path, restarts: Restarts = DEFAULT_RESTARTS, **overrides: object) -> AsyncIterator[Household]:
    """A GitHub on loopback that nobody is told by; the rest is started by the test."""
    async with running_loopback(root / "github") as (info, drive):
        yield Household(root, info, drive, dict(overrides), restarts)
