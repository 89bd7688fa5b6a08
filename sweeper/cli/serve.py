"""Commands that stay: serve, worker, web."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from sweeper import __version__
from sweeper.cli.command import log_to_stderr, people, run, until_told_to_stop
from sweeper.config import Settings, StateDir, load_settings, prepare_state_dir

if TYPE_CHECKING:  # the adapters are loaded by the command that needs them
    from sweeper.cli.listeners import Listeners
    from sweeper.ports import Ports

ListenOption = Annotated[str | None, typer.Option("--listen", help="host:port of the public listener.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("serve")(serve)
    app.command("worker")(worker)
    app.command("web")(web)


def serve(listen: ListenOption = None) -> None:
    """Everything: webhooks, admin pages, a worker, and an embedded Temporal unless one is configured."""
    run(_stay(listen, with_web=True, with_worker=True))


def worker() -> None:
    """A worker alone; joins the Temporal of this state directory or the configured one."""
    run(_stay(None, with_web=False, with_worker=True))


def web(listen: ListenOption = None) -> None:
    """The two listeners alone."""
    run(_stay(listen, with_web=True, with_worker=False))


async def _stay(listen: str | None, *, with_web: bool, with_worker: bool) -> None:
    settings = load_settings({"listen": listen} if listen else None)
    log_to_stderr(settings.log_level)
    state = prepare_state_dir(settings)
    await until_told_to_stop(lambda: _serve(settings, state, with_web=with_web, with_worker=with_worker))


async def _serve(settings: Settings, state: StateDir, *, with_web: bool, with_worker: bool) -> None:
    from sweeper.cli.temporal import serve_temporal

    async with AsyncExitStack() as stack:
        # What can be wrong on this machine shows before Temporal is started, so that it leaves nothing behind.
        listeners = _take_ports(settings, stack) if with_web else None
        ports = await _choose_ports(settings, state) if with_worker else None
        server = await stack.enter_async_context(serve_temporal(settings, state))
        staying = [server.watch]
        if ports is not None:
            from sweeper.cli.worker_role import prepare_worker

            staying.append(await prepare_worker(ports, settings, state, server.client, stack))
        if listeners is not None:
            staying.append(await listeners.start(settings, state, server.client, stack, with_worker=with_worker))
            urls = f"Webhooks at {listeners.public_url}/webhooks/github, admin pages at {listeners.admin_url}"
            people.print(urls, markup=False, soft_wrap=True)
        people.print(f"sweeper {__version__} is ready, its state is in {state.root}", markup=False, soft_wrap=True)
        async with asyncio.TaskGroup() as group:
            for part in staying:
                group.create_task(_stay_with(part))


async def _choose_ports(settings: Settings, state: StateDir) -> "Ports":
    from sweeper.cli.worker_role import choose_ports

    return await choose_ports(settings, state)


def _take_ports(settings: Settings, stack: AsyncExitStack) -> "Listeners":
    from sweeper.cli.agents_needed import require_agents
    from sweeper.cli.composition import require_login
    from sweeper.cli.listeners import Listeners

    require_login(settings)
    require_agents(settings)
    listeners = Listeners(settings)
    stack.callback(listeners.close)
    return listeners


async def _stay_with(part: Callable[[], Awaitable[None]]) -> None:
    await part()
