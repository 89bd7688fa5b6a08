"""Listening on loopback, and cutting a connection the hard way."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from adapters.loopback.recorder import TRANSPORT
from sweeper.errors import BadInput


class Line:
    """The connection of a call, for faults."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport

    def reset(self) -> None:
        """Send RST: lingering for no time makes the kernel do so."""
        sock = self._transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def hang_up(self) -> None:
        """Send what is buffered, then FIN."""
        self._transport.close()


class LineProtocol(H11Protocol):
    """HTTP/1.1 that lets the application reach its connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Put the connection into every scope."""
        super().connection_made(transport)
        application = self.app
        line = Line(transport)

        async def with_line(scope: Scope, receive: Receive, send: Send) -> None:
            scope["extensions"] = {**(scope.get("extensions") or {}), TRANSPORT: line}
            await application(scope, receive, send)

        self.app = with_line


class Listener(uvicorn.Server):
    """A server that leaves signals to whoever started it and tells when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        self.listening.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing to capture."""
        yield


def listener(app: ASGIApp) -> Listener:
    """A quiet server for one application; it lets open calls go after a second."""
    config = uvicorn.Config(
        app,
        http=LineProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,
        timeout_keep_alive=75,
    )
    return Listener(config)


def bind(port: int) -> socket.socket:
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
