"""The worker of a staying process."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

from temporalio.client import Client

from adapters.temporal.life import WorkerPulse
from sweeper.cli import composition
from sweeper.cli.command import people
from sweeper.config import Settings, StateDir
from sweeper.ports import Ports
from sweeper.worker import build_workers, run_workers

NO_SANDBOX = "WARNING: no sandbox. Code of the repository runs with all rights of this user."


async def choose_ports(settings: Settings, state: StateDir) -> Ports:
    """All a worker stands on; a missing sandbox is said aloud. Raises MissingTool, BadInput."""
    ports = await composition.ports(settings, state)
    if (await ports.sandbox.probe()).name == "none":
        people.print(NO_SANDBOX, style="bold red")
    return ports


async def prepare_worker(
    ports: Ports, state: StateDir, client: Client, stack: AsyncExitStack
) -> Callable[[], Awaitable[None]]:
    """Show a pulse; the result works until it is cancelled."""
    await stack.enter_async_context(WorkerPulse(state.root))
    workers = build_workers(client, ports)
    return lambda: run_workers(workers)
