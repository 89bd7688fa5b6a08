"""Commands that stay: serve, worker, web."""

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from sweeper import __version__
from sweeper.cli.frame import log_to_stderr, people, run, until_told_to_stop
from sweeper.config import load_settings, prepare_state_dir

if TYPE_CHECKING:  # the adapters are loaded by the command that needs them
    from sweeper.cli.parts import Parts, Staying

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
    from sweeper.cli.parts import Parts

    settings = load_settings({"listen": listen} if listen else None)
    log_to_stderr(settings.log_level)
    parts = Parts(settings, prepare_state_dir(settings))
    await until_told_to_stop(lambda: _serve(parts, with_web=with_web, with_worker=with_worker))


async def _serve(parts: "Parts", *, with_web: bool, with_worker: bool) -> None:
    async with AsyncExitStack() as stack:
        if with_web:
            parts.bind()  # before anything is started, so that a taken port leaves nothing behind
        server = await parts.start_temporal(stack)
        staying: list[Staying] = [server.watch]
        if with_worker:
            staying.append(await parts.start_worker(server.client, stack))
        if with_web:
            staying.append(await parts.start_web(server.client, stack, with_worker=with_worker))
            people.print(f"Webhooks at {parts.public_url()}/webhooks/github, admin pages at {parts.admin_url()}")
        people.print(
            f"sweeper {__version__} is ready, its state is in {parts.state.root}", markup=False, soft_wrap=True
        )
        async with asyncio.TaskGroup() as group:
            for part in staying:
                group.create_task(_stay_with(part))


async def _stay_with(part: "Staying") -> None:
    await part()
