"""The way out of a sandbox that was given a gate: ports on its loopback, joined to the sockets in the gate's directory.

Each socket is named after the port it is to be found at, `<port>.sock`, so nothing else has to be agreed on.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from adapters.sandbox import forwarder, layout
from sweeper.errors import BadInput, MissingTool

NO_PYTHON = "No python3 was found among the sandbox's tools, and its way to package registries needs one; install it"
_PROGRAM_AT = f"{layout.FILES_AT}/.forwarder"


def through_gate(argv: Sequence[str], python: str | None) -> list[str]:
    """The command behind the forwarder, to run *inside*. Raises MissingTool without an interpreter."""
    if python is None:
        raise MissingTool(NO_PYTHON)
    return [python, "-I", "-S", _PROGRAM_AT, layout.GATE_AT, *argv]


def program() -> dict[str, bytes]:
    """The file that the forwarder is started from, by its path inside."""
    return {_PROGRAM_AT: Path(forwarder.__file__).read_bytes()}


def refuse_bad_gate(gate: str) -> None:
    """Raises BadInput unless it is a directory of an open gate."""
    if not Path(gate).is_dir() or not forwarder.ports(Path(gate)):
        raise BadInput(f"{gate} is not the directory of an open gate; open one and keep it open while the command runs")


@asynccontextmanager
async def joined_here(gate: str | None) -> AsyncIterator[Mapping[str, str]]:
    """Without a sandbox the ports may be taken: listen on free ones; the addresses to say instead of the usual ones."""
    async with AsyncExitStack() as stack:
        moved: dict[str, str] = {}
        for port, path in forwarder.ports(Path(gate)).items() if gate else ():
            server = await asyncio.start_server(forwarder.Joint(path).join, forwarder.LOOPBACK, 0)
            stack.callback(server.close)
            free = server.sockets[0].getsockname()[1]
            moved[f"{forwarder.LOOPBACK}:{port}"] = f"{forwarder.LOOPBACK}:{free}"
        yield moved
