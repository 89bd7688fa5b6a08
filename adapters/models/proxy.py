"""`ModelDoors`: a reverse proxy to one model, reached by a socket in a directory of its own.

The socket may be written by all, for a sandbox runs as somebody else; the directory around it is ours alone, so that
nobody comes by who was not given it.
"""

import asyncio
import contextlib
import os
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from adapters.models.proxy_app import ProxyApp
from adapters.models.proxy_book import Book
from adapters.models.proxy_meter import Meter
from adapters.models.proxy_upstream import Upstream, client
from adapters.serving import quiet_server
from sweeper.errors import BadInput
from sweeper.model import Allowance, Price, Spent
from sweeper.ports.models import ModelDoor

PORT = 61181
"""Where it is found inside; above the range that Linux gives to outgoing connections."""
_PREFIX = "sweeper-model-"
_CONNECTIONS = 64
_DRAIN_SECONDS = 1
_MAX_SOCKET_PATH = 100  # unix(7): 108 bytes, less on other systems


@dataclass(frozen=True)
class OpenDoor:
    """`ModelDoor`."""

    directory: str
    app: ProxyApp

    @property
    def url(self) -> str:
        """As the port says."""
        return f"http://127.0.0.1:{PORT}"

    @property
    def spent(self) -> Spent:
        """As the port says."""
        return self.app.meter.spent

    @property
    def refused(self) -> tuple[str, ...]:
        """As the port says."""
        return tuple(self.app.refused)

    @property
    def trouble(self) -> str | None:
        """As the port says."""
        return self.app.trouble

    @property
    def is_used_up(self) -> bool:
        """As the port says."""
        return self.app.is_used_up


class ModelProxy:
    """`price` None: it is not known, so money cannot be bounded. `place`: where counts are kept; None: in memory.

    Opening twice is safe: with the same key the second one goes on counting.
    """

    def __init__(self, upstream: Upstream, price: Price | None = None, place: Path | None = None) -> None:
        self._upstream = upstream
        self._price = price
        self._book = Book(place)

    @property
    def provider(self) -> str:
        """As the port says."""
        return self._upstream.provider

    @property
    def model(self) -> str:
        """As the port says."""
        return self._upstream.model

    def spent(self, key: str) -> Spent:
        """As the port says."""
        return Meter(Allowance(), self._price, self._book.page(key)).spent

    def open(self, key: str, allowance: Allowance) -> AbstractAsyncContextManager[ModelDoor]:
        """As the port says."""
        return self._open(Meter(allowance, self._price, self._book.page(key)))

    @asynccontextmanager
    async def _open(self, meter: Meter) -> AsyncIterator[ModelDoor]:
        async with client() as outside:
            app = ProxyApp(self._upstream, outside, meter)
            with _place() as place, _socket(place / f"{PORT}.sock") as bound:
                async with _serving(app, bound):
                    yield OpenDoor(str(place), app)


@asynccontextmanager
async def _serving(app: ProxyApp, bound: socket.socket) -> AsyncIterator[None]:
    server = quiet_server(app, http="h11", drain_seconds=_DRAIN_SECONDS, connections=_CONNECTIONS)
    task = asyncio.create_task(server.serve(sockets=[bound]))  # connections wait in the socket's queue till it answers
    try:
        yield
    finally:
        server.should_exit = True
        await asyncio.shield(task)


@contextlib.contextmanager
def _socket(path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as bound:
        bound.bind(str(path))
        path.chmod(0o666)
        bound.listen(_CONNECTIONS)
        bound.setblocking(False)
        yield bound


@contextlib.contextmanager
def _place() -> Iterator[Path]:
    root = Path(tempfile.gettempdir())
    if len(str(root)) > _MAX_SOCKET_PATH - len(f"/{_PREFIX}0000000-12345678/door/{PORT}.sock"):
        raise BadInput(f"{root} is too long a path for a socket; set TMPDIR to a shorter one")
    _remove_left_over(root)
    outer = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=root))
    try:
        inner = outer / "door"
        inner.mkdir()
        inner.chmod(0o755)
        yield inner
    finally:
        shutil.rmtree(outer, ignore_errors=True)


def _remove_left_over(root: Path) -> None:
    """What a killed process left; the doors of the living are not touched."""
    for left in root.glob(f"{_PREFIX}*-*"):
        owner = left.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            shutil.rmtree(left, ignore_errors=True)
