"""Joins ports on loopback to the sockets of a gate, then becomes the command. Run *inside*, on the standard library.

The command takes this process's place, so its exit code, its signals and its limits are its own; who forwards is no
child of it, and ends with the sandbox. A command can end or replace it: that closes its own way out, no more.
"""

import contextlib
import os
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter

SUFFIX = ".sock"
LOOPBACK = "127.0.0.1"
_BACKLOG = 128
_CHUNK = 1 << 16
_PYTHON = (sys.executable, "-I", "-S")


def ports(gate: Path) -> dict[int, str]:
    """Each port to listen on, with the socket behind it: `<port>.sock`."""
    found = {path.name.removesuffix(SUFFIX): str(path) for path in gate.iterdir() if path.name.endswith(SUFFIX)}
    return {int(name): path for name, path in sorted(found.items()) if name.isdigit()}


def forward_and_become(gate: Path, command: Sequence[str]) -> None:
    """Listen first, so that the command finds the ports open; never returns."""
    listening = [(socket.create_server((LOOPBACK, port), backlog=_BACKLOG), path) for port, path in ports(gate).items()]
    if os.fork() == 0:
        if os.fork() == 0:
            _start_over(listening)
        os._exit(0)
    os.wait()  # for the one in between: the forwarder is no child of the command
    for name in ("SIGPIPE", "SIGXFSZ"):  # Python ignores them, and the command would inherit that
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    os.execv(command[0], list(command))  # noqa: S606


def _start_over(listening: Sequence[tuple[socket.socket, str]]) -> None:
    """In a session of its own, with none of the command's streams, and without its words in the list of processes."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    pairs = []
    for server, path in listening:
        server.set_inheritable(True)
        pairs += [str(server.fileno()), path]
    os.execv(_PYTHON[0], [*_PYTHON, __file__, *pairs])  # noqa: S606


class Joint:
    """Passes on what comes from either side."""

    def __init__(self, path: str) -> None:
        self._path = path

    async def join(self, near: "StreamReader", back: "StreamWriter") -> None:
        """Serve one connection to its end."""
        import asyncio  # its loading would delay the command if it stood above

        with contextlib.closing(back), contextlib.suppress(OSError):
            far, out = await asyncio.open_unix_connection(self._path)
            with contextlib.closing(out):
                await asyncio.gather(_copy(near, out), _copy(far, back))


async def _copy(reader: "StreamReader", writer: "StreamWriter") -> None:
    while chunk := await reader.read(_CHUNK):
        writer.write(chunk)
        await writer.drain()
    writer.write_eof()


async def _serve(pairs: Sequence[str]) -> None:
    import asyncio

    for descriptor, path in zip(pairs[::2], pairs[1::2], strict=True):
        await asyncio.start_server(Joint(path).join, sock=socket.socket(fileno=int(descriptor)))
    await asyncio.Event().wait()


if __name__ == "__main__":
    if Path(sys.argv[1]).is_dir():
        forward_and_become(Path(sys.argv[1]), sys.argv[2:])
    else:
        import asyncio

        asyncio.run(_serve(sys.argv[1:]))
