"""An open gate: a directory with one socket, and who answers there."""

import asyncio
import contextlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from adapters.egress.desk import Desk
from adapters.egress.tunnel import Tunnels, join
from adapters.egress.wire import HEAD_BYTES, Answer, Refused, Request, read_request, send
from sweeper.errors import BadInput

PORT = 61180
"""Where it is found inside; above the range that Linux gives to outgoing connections."""
_PREFIX = "sweeper-gate-"
_CONNECTIONS = 128
_ANSWERS = 8
"""At once: an index page is in memory until it is sent, and some that anyone may ask for have many megabytes."""
_MAX_REFUSED, _REFUSED_LENGTH = 20, 200
_MAX_SOCKET_PATH = 100  # unix(7): 108 bytes, less on other systems
_NO_ROOM = "{} is too long a path for a socket; set TMPDIR to a shorter one"


@dataclass
class OpenGate:
    """`Gate`. It serves until it is closed; then no connection is left and its directory is gone.

    The socket may be written by all, for the sandbox runs as somebody else; the directory around it is ours alone, so
    that nobody comes by who was not given it.
    """

    desk: Desk
    tunnels: Tunnels | None
    env: Mapping[str, str]
    _refused: list[str] = field(default_factory=list)
    _serving: set["asyncio.Task[None]"] = field(default_factory=set)
    _answering: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_ANSWERS))
    _place: Path | None = None
    _server: asyncio.Server | None = None

    @property
    def directory(self) -> str:
        """Holds `<port>.sock`."""
        return str(self._inner)

    @property
    def refused(self) -> tuple[str, ...]:
        """Each once, in order."""
        return tuple(self._refused)

    async def open(self) -> Self:
        """Listen. Raises BadInput where a socket's path would be too long."""
        _remove_left_over()
        self._place = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=_root()))
        self._inner.mkdir()
        self._inner.chmod(0o755)
        socket = self._inner / f"{PORT}.sock"
        self._server = await asyncio.start_unix_server(self._serve, socket, limit=HEAD_BYTES)
        socket.chmod(0o666)
        return self

    async def close(self) -> None:
        """End every connection. Twice is a no-op."""
        if self._server is not None:
            self._server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        if self._place is not None:
            shutil.rmtree(self._place, ignore_errors=True)

    @property
    def _inner(self) -> Path:
        if self._place is None:
            raise BadInput("This gate is not open; open it before you ask for its directory")
        return self._place / "gate"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(self._serving) >= _CONNECTIONS:
            writer.close()
            return
        self._serving.add(task)
        try:
            # Only `close` cancels; asyncio would log a traceback for each connection that is open then.
            with contextlib.closing(writer), contextlib.suppress(OSError, TimeoutError, asyncio.CancelledError):
                await self._answer(reader, writer)
        finally:
            self._serving.discard(task)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = Request("GET", "")
        try:
            request = await read_request(reader)
            if request.method == "CONNECT":
                far, out = await self._tunnel(request.target)
                await join(reader, writer, far, out)
            else:
                async with self._answering:
                    answer = await self.desk.answer(request)
                    with contextlib.closing(answer):
                        await send(writer, answer, with_content=request.method != "HEAD")
        except Refused as refusal:
            self._note(refusal.what)
            answer = Answer.of_text(refusal.status, refusal.sentence)
            await send(writer, answer, with_content=request.method != "HEAD")

    async def _tunnel(self, target: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self.tunnels is None:
            raise Refused(403, "Nothing is fetched now", target)
        return await self.tunnels.connect(target)

    def _note(self, what: str) -> None:
        text = "".join(char for char in what[:_REFUSED_LENGTH] if char.isprintable())
        if text and text not in self._refused and len(self._refused) < _MAX_REFUSED:
            self._refused.append(text)


def _root() -> Path:
    """A directory for sockets: the temporary one."""
    root = Path(tempfile.gettempdir())
    if len(str(root)) > _MAX_SOCKET_PATH - len(f"/{_PREFIX}0000000-12345678/gate/{PORT}.sock"):
        raise BadInput(_NO_ROOM.format(root))
    return root


def _remove_left_over() -> None:
    """What a killed process left; the gates of the living are not touched."""
    for left in _root().glob(f"{_PREFIX}*-*"):
        owner = left.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            shutil.rmtree(left, ignore_errors=True)
