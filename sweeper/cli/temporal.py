"""The Temporal a command works with: an outside one by the settings, else the state directory's own."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from temporalio.client import Client

from adapters.temporal.client import TemporalTarget, connect, prepare_namespace
from adapters.temporal.embedded import EmbeddedTemporal
from adapters.temporal.state import running_address
from adapters.temporal.sweeps import TemporalSweeps
from sweeper.cli.command import people
from sweeper.config import Settings, StateDir, load_settings, prepare_state_dir
from sweeper.errors import OutOfReach


@dataclass(frozen=True)
class ServedTemporal:
    """A server that stays for the command's life; `watch` ends with an error if it cannot be kept alive."""

    client: Client
    watch: Callable[[], Awaitable[None]]


def outside_target(settings: Settings) -> TemporalTarget | None:
    """The configured service, if there is one."""
    if settings.temporal_address or settings.temporal_profile:
        return TemporalTarget(address=settings.temporal_address, profile=settings.temporal_profile)
    return None


@asynccontextmanager
async def serve_temporal(settings: Settings, state: StateDir) -> AsyncIterator[ServedTemporal]:
    """For commands that stay: the outside service, or the embedded one, owned or joined. Prepares the namespace."""
    target = outside_target(settings)
    if target is not None:
        client = await connect(target)
        for sentence in await prepare_namespace(client):
            people.print(sentence, style="yellow", markup=False)
        yield ServedTemporal(client=client, watch=_nothing_to_watch)
        return
    async with EmbeddedTemporal(state.root) as embedded:
        client = await connect(TemporalTarget(address=embedded.address))
        await prepare_namespace(client)  # one that an older version started may not know all we ask it for
        yield ServedTemporal(client=client, watch=embedded.watch)


async def _nothing_to_watch() -> None:
    """An outside service is watched by its own operators."""


def sweeps_of(client: Client, settings: Settings, state: StateDir) -> TemporalSweeps:
    """The sweeps of a service. Workers of an outside one may live elsewhere, so there its pollers tell of them."""
    if outside_target(settings) is not None:
        return TemporalSweeps(client)
    return TemporalSweeps(client, state_dir=state.root)


async def reach(settings: Settings, state: StateDir) -> Client:
    """For commands that ask: never starts a server. Raises OutOfReach if there is none."""
    target = outside_target(settings)
    if target is None:
        running = running_address(state.root)
        if running is None:
            raise OutOfReach(
                f"No Temporal runs for {state.root}; start `sweeper serve` or set SWEEPER_TEMPORAL_ADDRESS."
            )
        target = TemporalTarget(address=running)
    return await connect(target)


@asynccontextmanager
async def reach_sweeps(settings: Settings, state: StateDir) -> AsyncIterator[TemporalSweeps]:
    """The sweeps there. Raises OutOfReach."""
    yield sweeps_of(await reach(settings, state), settings, state)


@asynccontextmanager
async def configured_sweeps() -> AsyncIterator[TemporalSweeps]:
    """The sweeps the settings lead to. Raises BadInput for unusable settings, OutOfReach if nothing runs there."""
    settings = load_settings()
    async with reach_sweeps(settings, prepare_state_dir(settings)) as sweeps:
        yield sweeps
