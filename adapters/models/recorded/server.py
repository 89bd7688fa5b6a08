"""Starts a recorded model and keeps it running."""

import asyncio
import contextlib
import secrets
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from adapters.models.recorded.control import control_app
from adapters.models.recorded.desk import Desk
from adapters.models.recorded.faults import Faults
from adapters.models.recorded.ledger import Ledger
from adapters.models.recorded.options import RecordedInfo, RecordedOptions
from sweeper.errors import BadInput

INFO_FILE, LEDGER_FILE, KEY_FILE = "recorded.json", "ledger.jsonl", "key"


class _Server(uvicorn.Server):
    """Leaves signals to whoever started it and tells when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def recorded_models(options: RecordedOptions) -> AsyncIterator[RecordedInfo]:
    """A recorded model in this process for as long as the context lasts. Started again on the same directory it goes
    on with its ledger and its key.

    Raises BadInput for a port that is taken and for a directory that cannot be written.
    """
    with _bind(options.port) as sock:
        key = _prepare(options)
        faults = Faults(options.script.faults)
        with contextlib.closing(Ledger(options.state_dir / LEDGER_FILE)) as ledger:
            server = _Server(_config(_front(Desk(options.script, key, faults, ledger), control_app(faults, ledger))))
            serving = asyncio.create_task(server.serve([sock]))
            try:
                await _listening(server, serving)
                info = _info(f"http://127.0.0.1:{sock.getsockname()[1]}", key, options.state_dir.resolve())
                _write_private(options.state_dir / INFO_FILE, info.model_dump_json() + "\n")
                yield info
            finally:
                faults.release()
                server.should_exit = True
                await asyncio.gather(serving, return_exceptions=True)


async def _listening(server: _Server, serving: asyncio.Task[None]) -> None:
    """Raises what the server died of, if it did."""
    ready = asyncio.create_task(server.listening.wait())
    await asyncio.wait((serving, ready), return_when=asyncio.FIRST_COMPLETED)
    ready.cancel()
    if serving.done():
        serving.result()


def _front(desk: ASGIApp, control: ASGIApp) -> ASGIApp:
    async def front(scope: Scope, receive: Receive, send: Send) -> None:
        await (control if scope["path"].startswith("/_") else desk)(scope, receive, send)

    return front


def _config(app: ASGIApp) -> uvicorn.Config:
    """A quiet server that lets open calls go after a second. A cut is an exception, and nothing to tell."""
    return uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,
    )


def _bind(port: int) -> socket.socket:
    # The protocol is named because asyncio switches Nagle off only then; else each answer is 40 ms late.
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind(("127.0.0.1", port))
        sock.listen(128)
    except (OSError, OverflowError) as error:
        sock.close()
        raise BadInput(f"Port {port} cannot be taken ({error}); choose another --port or 0 for a free one.") from error
    return sock


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
