"""A bound socket with a web application behind it, stopped by its owner and not by signals."""

import asyncio
import errno
import socket
import stat
from pathlib import Path
from typing import Self

from starlette.types import ASGIApp

from adapters.serving import quiet_server
from sweeper.errors import BadInput

_DRAIN_SECONDS = 5


class Listener:
    """An application that answers from `start` to `stop`. Also an async context manager.

    `url` is where it answers, with the port it really has; for a unix socket `unix:` and its path.
    """

    def __init__(self, app: ASGIApp, bound: socket.socket) -> None:
        self.url = url_of(bound)
        self._bound = bound
        self._socket_path = Path(bound.getsockname()) if bound.family == socket.AF_UNIX else None
        self._server = quiet_server(app, drain_seconds=_DRAIN_SECONDS)
        self._serving: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Returns once it answers. Raises what the server died of."""
        self._serving = asyncio.create_task(self._server.serve(sockets=[self._bound]))
        await self._server.until_listening(self._serving)

    async def wait(self) -> None:
        """Until it stops, by `stop` or by its own death."""
        if self._serving is not None:
            await asyncio.shield(self._serving)

    async def stop(self) -> None:
        """Answer what is under way (for a few seconds), then close. Twice is a no-op."""
        self._server.should_exit = True
        if self._serving is not None:
            await self._serving
        if self._socket_path:
            self._socket_path.unlink(missing_ok=True)
        self._bound.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()


def url_of(bound: socket.socket) -> str:
    """Where a bound socket answers; for a unix socket `unix:` and its path."""
    if bound.family == socket.AF_UNIX:
        return f"unix:{bound.getsockname()}"
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if bound.family == socket.AF_INET6 else f"http://{host}:{port}"


def bind(host: str, port: int, socket_path: Path | None, setting: str) -> socket.socket:
    """A unix socket where a path is given, else TCP. Raises BadInput naming the address and the setting to change."""
    return bind_unix(socket_path, setting) if socket_path is not None else bind_tcp(host, port, setting)


def bind_tcp(host: str, port: int, setting: str) -> socket.socket:
    """A listening TCP socket; port 0 is any free one.

    Raises BadInput naming the address and the setting to change when it is taken or not ours to bind.
    """
    if not host:  # the system would take it for every address there is
        raise BadInput(f"There is no address to listen on; set {setting} to HOST:PORT.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named, because only then asyncio switches off the delay that would hold back small answers for 40 ms.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(128)
    except OSError as error:
        bound.close()
        raise _cannot_listen(f"{host}:{port}", error, setting) from None
    bound.setblocking(False)
    return bound


def bind_unix(path: Path, setting: str) -> socket.socket:
    """A listening unix socket for its owner alone. One left by a process that died is replaced, a live one is not."""
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if path.exists() and stat.S_ISSOCK(path.stat().st_mode) and not _is_alive(path):
            path.unlink()
        bound.bind(str(path))
        path.chmod(0o600)
        bound.listen(128)
    except OSError as error:
        bound.close()
        raise _cannot_listen(str(path), error, setting) from None
    bound.setblocking(False)
    return bound


def _is_alive(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(str(path)) == 0


def _cannot_listen(address: str, error: OSError, setting: str) -> BadInput:
    if error.errno == errno.EADDRINUSE:
        return BadInput(f"{address} is taken by another program; stop it, or set {setting} to another address.")
    return BadInput(f"{address} cannot be listened on ({error.strerror}); set {setting} to another address.")
