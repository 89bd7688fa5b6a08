"""Starts a recorded model and keeps it running."""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from adapters.models.recorded.control import control_app
from adapters.models.recorded.desk import Desk
from adapters.models.recorded.faults import Faults
from adapters.models.recorded.ledger import Ledger
from adapters.models.recorded.options import RecordedInfo, RecordedOptions
from adapters.serving import loopback_socket, quiet_server
from sweeper.errors import BadInput

INFO_FILE, LEDGER_FILE, KEY_FILE = "recorded.json", "ledger.jsonl", "key"


@contextlib.asynccontextmanager
async def recorded_models(options: RecordedOptions) -> AsyncIterator[RecordedInfo]:
    """A recorded model in this process for as long as the context lasts. Started again on the same directory it goes
    on with its ledger and its key.

    Raises BadInput for a port that is taken and for a directory that cannot be written.
    """
    with loopback_socket(options.port) as sock:
        key = _prepare(options)
        faults = Faults(options.script.faults)
        with contextlib.closing(Ledger(options.state_dir / LEDGER_FILE)) as ledger:
            # A cut is an exception here, and nothing to tell.
            front = _front(Desk(options.script, key, faults, ledger), control_app(faults, ledger))
            server = quiet_server(front, http="h11", drain_seconds=1, is_silent=True)
            serving = asyncio.create_task(server.serve([sock]))
            try:
                await server.until_listening(serving)
                info = _info(f"http://127.0.0.1:{sock.getsockname()[1]}", key, options.state_dir.resolve())
                _write_private(options.state_dir / INFO_FILE, info.model_dump_json() + "\n")
                yield info
            finally:
                faults.release()
                server.should_exit = True
                await asyncio.gather(serving, return_exceptions=True)


def _front(desk: ASGIApp, control: ASGIApp) -> ASGIApp:
    async def front(scope: Scope, receive: Receive, send: Send) -> None:
        await (control if scope["path"].startswith("/_") else desk)(scope, receive, send)

    return front


def _prepare(options: RecordedOptions) -> str:
    """The state directory, and the key it has or gets."""
    try:
        options.state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = options.state_dir / KEY_FILE
        if options.key is not None or not file.exists():
            _write_private(file, options.key or f"sk-recorded-{secrets.token_urlsafe(24)}")
        return file.read_text()
    except OSError as error:
        raise BadInput(f"{options.state_dir} cannot be used ({error.strerror}); give another --state.") from error


def _write_private(file: Path, text: str) -> None:
    """Whole or not at all, so that whoever waits for the file reads all of it."""
    beside = file.with_suffix(".new")
    beside.touch(mode=0o600)
    beside.write_text(text)
    beside.replace(file)


def _info(url: str, key: str, state: Path) -> RecordedInfo:
    return RecordedInfo(
        url=url,
        openai_url=f"{url}/v1",
        key=key,
        ledger_url=f"{url}/_ledger",
        ledger_file=str(state / LEDGER_FILE),
    )
