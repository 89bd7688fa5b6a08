"""Serving so that a connection can be cut the hard way."""

import asyncio
import socket
import struct

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from adapters.loopback.recorder import TRANSPORT
from adapters.serving import QuietServer, quiet_server


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


def listener(app: ASGIApp) -> QuietServer:
    """For one application; it lets open calls go after a second."""
    return quiet_server(app, http=LineProtocol, drain_seconds=1, idle_seconds=75, is_silent=True)
