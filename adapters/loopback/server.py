"""Starts a loopback GitHub and keeps it running."""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from adapters.loopback.acts.trial import catch_up
from adapters.loopback.blobs import BlobFace, Links
from adapters.loopback.core.git import require_git
from adapters.loopback.core.store import Store
from adapters.loopback.drive.routes import drive_app
from adapters.loopback.faults import Faults
from adapters.loopback.founding import KEY_FILE, found, take
from adapters.loopback.front import Front
from adapters.loopback.git_http import GitDoor
from adapters.loopback.hooks import events
from adapters.loopback.hooks.outbox import Outbox
from adapters.loopback.hooks.sender import Sender
from adapters.loopback.hub import Hub
from adapters.loopback.ledger import Ledger
from adapters.loopback.options import LoopbackInfo, LoopbackOptions
from adapters.loopback.pages.routes import pages_app
from adapters.loopback.recorder import Recorder
from adapters.loopback.rest.app import rest_app
from adapters.loopback.shapes.view import Urls
from adapters.loopback.sockets import listener
from adapters.serving import QuietServer, loopback_socket
from sweeper.errors import BadInput


async def serve(options: LoopbackOptions, ready: Callable[[LoopbackInfo], None] | None = None) -> None:
    """Run until cancelled; `ready` is called once it listens and `loopback.json` is written.

    Raises BadInput for a taken port, a hook that is no web address, a directory in use by another one or with
    something else in it; MissingTool without git.
    """
    _check_hook(options.hook)
    await require_git()
    with contextlib.ExitStack() as stack:
        main = stack.enter_context(loopback_socket(options.port))
        blobs = stack.enter_context(loopback_socket(0))
        directory = options.state_dir.resolve()
        stack.enter_context(take(directory))
        hub = build(options, Store(directory), (main, blobs))
        stack.callback(hub.ledger.close)
        async with hub.store.turn():
            await catch_up(hub)
            if options.hook:
                events.ping(hub)
        await _run(hub, (main, blobs), ready)


def _check_hook(hook: str | None) -> None:
    if hook is not None and not (urlsplit(hook).scheme in ("http", "https") and urlsplit(hook).hostname):
        raise BadInput(f"The hook {hook!r} is no web address; give one like http://127.0.0.1:8000/webhooks/github.")


def build(options: LoopbackOptions, store: Store, listening: tuple[socket.socket, socket.socket]) -> Hub:
    """All parts, put together on sockets that listen already."""
    base, blob_base = (f"http://127.0.0.1:{sock.getsockname()[1]}" for sock in listening)
    app = found(store, options.secret)
    bot = store.state.users[app.bot_id]
    urls = Urls(base)
    info = LoopbackInfo(
        url=urls.base,
        git_url=urls.git,
        drive_url=urls.drive,
        page_url=urls.html,
        token=bot.token,
        app_id=app.id,
        app_key_file=str(store.directory / KEY_FILE),
        installation_id=app.installation_id,
        bot_login=bot.login,
        webhook_secret=app.webhook_secret,
    )
    return Hub(
        store=store,
        ledger=Ledger(store.directory / "ledger.jsonl"),
        faults=Faults(),
        outbox=Outbox(store, options.hook),
        sender=Sender(store, options.hook),
        links=Links(store, blob_base, bot.token.encode()),
        info=info,
    )


async def _run(
    hub: Hub, sockets: tuple[socket.socket, socket.socket], ready: Callable[[LoopbackInfo], None] | None
) -> None:
    servers = [listener(_main_face(hub)), listener(_blob_face(hub))]
    sending = asyncio.create_task(hub.sender.run())
    serving = [asyncio.create_task(one.serve([sock])) for one, sock in zip(servers, sockets, strict=True)]
    try:
        for server, task in zip(servers, serving, strict=True):
            await server.until_listening(task)
        _announce(hub)
        if ready:
            ready(hub.info)
        # Not gather: it would cancel the servers too, and they must close their sockets in their own way.
        ended, _ = await asyncio.wait([sending, *serving], return_when=asyncio.FIRST_COMPLETED)
        for task in ended:
            task.result()
    finally:
        sending.cancel()
        await _stop(hub, servers, [sending, *serving])


async def _stop(hub: Hub, servers: list[QuietServer], tasks: list[asyncio.Task[None]]) -> None:
    hub.faults.let_go()
    for server in servers:
        server.should_exit = True
    await asyncio.gather(*tasks, return_exceptions=True)


def _main_face(hub: Hub) -> Front:
    return Front(
        [
            ("/_drive", drive_app(hub)),
            ("/web", pages_app(hub)),
            ("/git/", Recorder(GitDoor(hub), hub, takes_turns=False)),
            ("/", Recorder(rest_app(hub), hub)),
        ]
    )


def _blob_face(hub: Hub) -> Front:
    return Front([("/", Recorder(BlobFace(hub.store, hub.links), hub, takes_turns=False))])


def _announce(hub: Hub) -> None:
    file = Path(hub.store.directory / "loopback.json")
    beside = file.with_suffix(".new")
    beside.touch(mode=0o600)
    beside.write_text(hub.info.model_dump_json() + "\n")
    beside.replace(file)
