"""The worker of a staying process."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta

from temporalio.client import Client
from temporalio.worker import Worker

from adapters.temporal.life import WorkerPulse
from sweeper.cli import composition, upkeep
from sweeper.cli.agents_needed import require_agents
from sweeper.cli.command import people
from sweeper.cli.model_worker import model_workers
from sweeper.config import Settings, StateDir
from sweeper.ports import Ports
from sweeper.worker import WorkerOptions, build_workers, run_workers
from worktrees.running import UNDER_WAY

BESIDES_ATTEMPTS = 4
"""Pushes, deletions and new proofs do not wait until some agent has ended."""
NO_SANDBOX = "WARNING: no sandbox. Code of the repository runs with all rights of this user."


async def choose_ports(settings: Settings, state: StateDir) -> Ports:
    """All a worker stands on; a missing sandbox is said aloud. Raises MissingTool, BadInput."""
    require_agents(settings)
    ports = await composition.ports(settings, state)
    if (await ports.sandbox.probe()).name == "none":
        people.print(NO_SANDBOX, style="bold red")
    return ports


async def prepare_worker(
    ports: Ports, settings: Settings, state: StateDir, client: Client, stack: AsyncExitStack
) -> Callable[[], Awaitable[None]]:
    """Show a pulse and ring upkeep; the result works until it is cancelled, and then its grace time longer on what is
    under way.
    """
    await stack.enter_async_context(WorkerPulse(state.root))
    durable, grace = composition.durable(client, state, settings), settings.stop_grace
    durable = replace(durable, upkeep=upkeep.caretaking(settings, state, ports.code_host, durable.sweeps))
    workers = build_workers(
        client, ports, durable, WorkerOptions(grace=grace, activities=settings.max_running_attempts + BESIDES_ATTEMPTS)
    )
    workers = [*workers, *model_workers(client, settings)]
    await upkeep.ring(settings, ports.workspaces.host, client)
    return lambda: _work(workers, grace)


async def _work(workers: Sequence[Worker], grace: timedelta) -> None:
    """Until it is cancelled; when the grace period of running activities is over, git is ended, because it runs on
    threads and would keep them from handing over.
    """
    working = asyncio.ensure_future(run_workers(workers))
    try:
        await asyncio.shield(working)
    except asyncio.CancelledError:
        asyncio.get_running_loop().call_later(grace.total_seconds(), UNDER_WAY.end)
        working.cancel()
        await working
