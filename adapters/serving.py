"""How every listener of ours serves: quietly, on a socket that is bound already, ended by its owner and not by signals.

It stands for nothing outside, so all adapters may know it; it knows none of them.
"""

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp
from uvicorn.config import HTTPProtocolType

from sweeper.errors import BadInput


class QuietServer(uvicorn.Server):
    """uvicorn without its signal handlers: signals belong to the process, which ends its parts in order."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._is_listening = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        self._is_listening.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing to capture."""
        yield

    async def until_listening(self, serving: asyncio.Task[None]) -> None:
        """Returns once it answers. Raises what `serving`, the task it serves in, died of."""
        ready = asyncio.create_task(self._is_listening.wait())
        await asyncio.wait((serving, ready), return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if serving.done():
            serving.result()


def quiet_server(
    app: ASGIApp,
    *,
    drain_seconds: int,
    http: type[asyncio.Protocol] | HTTPProtocolType = "auto",
    is_silent: bool = False,
    connections: int | None = None,
    idle_seconds: int = 5,
) -> QuietServer:
    """A server for one application, which tells nothing of itself in its answers. `drain_seconds`: how long open calls
    may take when it stops. `is_silent`: not even its errors are logged. `connections`: at once; None: no bound.
    `idle_seconds`: how long a connection may wait for its next call.
    """
    return QuietServer(
        uvicorn.Config(
            app,
            http=http,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical" if is_silent else None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=connections,
            timeout_graceful_shutdown=drain_seconds,
            timeout_keep_alive=idle_seconds,
        )
    )


def loopback_socket(port: int) -> socket.socket:
    """A listening socket on 127.0.0.1; port 0 takes a free one. Raises BadInput naming a port that is taken."""
    # asyncio switches Nagle off only where the protocol is named; without it each answer is 40 ms late.
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind(("127.0.0.1", port))
        sock.listen(128)
    except (OSError, OverflowError) as error:
        sock.close()
        raise BadInput(f"Port {port} cannot be taken ({error}); choose another --port or 0 for a free one.") from error
    return sock
