"""The embedded Temporal server of one state directory: one process owns it, others join.

Whoever holds the lock `temporal.lock` is the owner: it starts the server, writes where it answers to `temporal.json`,
restarts it on the same port when it dies, and takes it along when it ends. Then one of those that joined takes over.
The database stays in the directory.
"""

import asyncio
import hashlib
import socket
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from adapters.temporal.client import TemporalTarget, connect
from adapters.temporal.server import HOST, LOG_FILE, TemporalServer
from adapters.temporal.state import (
    OWNER_LOCK,
    FileLock,
    ServerAddress,
    forget_address,
    private_directory,
    read_address,
    write_address,
)
from sweeper.errors import OutOfReach, PortTaken
from sweeper.model import Strict

JOIN_SECONDS = 90.0
STAND_BY_SECONDS = 1.0
# Below the range the kernel gives to outgoing connections: there, a client that keeps trying a dead server can end up
# connected to itself and so take the very port the server is to come back on.
_FIRST_PORT, _PORTS, _PORT_TRIES = 20_000, 10_000, 20


class Restarts(Strict):
    """How often a dying server is started again: at most `most` times within `window` seconds, waiting in between."""

    most: int = 5
    window: float = 600.0
    first_wait: float = 0.2
    longest_wait: float = 5.0

    def wait_after(self, deaths: deque[float], now: float) -> float | None:
        """Seconds to wait after these deaths (times, oldest first; outdated ones are dropped); None: give up."""
        while deaths and deaths[0] < now - self.window:
            deaths.popleft()
        if len(deaths) > self.most:
            return None
        return min(self.first_wait * 2.0 ** (len(deaths) - 1), self.longest_wait)


class EmbeddedTemporal:
    """`async with EmbeddedTemporal(state_dir) as temporal:` a server answers at `temporal.address`.

    Starting twice on one directory, in this process or another, gives one server: the second joins the first, and takes
    over if the first goes. Start it from the main thread's loop, because the server ends with the thread that started
    it. Raises MissingTool, BadInput (the directory cannot be used) and OutOfReach (with the end of the server's log).
    """

    def __init__(self, state_dir: Path, restarts: Restarts | None = None) -> None:
        self._state_dir = state_dir
        self._restarts = restarts or Restarts()
        self._deaths: deque[float] = deque()
        self._lock: FileLock | None = None
        self._server: TemporalServer | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._stopped = asyncio.Event()
        self._address = ""

    @property
    def address(self) -> str:
        """host:port; the same after restarts."""
        return self._address

    @property
    def is_owner(self) -> bool:
        """Whether the server is ours; otherwise another process keeps it alive."""
        return self._server is not None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> str:
        """Own or join the directory's server; its address once it is ready. Call it once per object."""
        self._state_dir = private_directory(self._state_dir).resolve()
        self._lock = FileLock(self._state_dir / OWNER_LOCK)
        try:
            joined = await self._join_or_own(self._lock)
            if joined is None:
                self._announce(await self._launch_somewhere())
            else:
                self._address = joined
        except BaseException:
            await self.stop()
            raise
        self._keeper = asyncio.create_task(self._keep(self._lock))
        return self._address

    async def watch(self) -> None:
        """Wait until `stop`. Raises OutOfReach if the server died too often to be started again, or moved."""
        stopped = asyncio.create_task(self._stopped.wait())
        try:
            await asyncio.wait({stopped, *([self._keeper] if self._keeper else [])}, return_when="FIRST_COMPLETED")
        finally:
            stopped.cancel()
        if self._keeper and self._keeper.done() and not self._keeper.cancelled():
            self._keeper.result()

    async def stop(self) -> None:
        """End the server if it is ours, and let go of the directory. Twice is a no-op."""
        self._stopped.set()
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait({self._keeper})
        if self._server is not None:
            forget_address(self._state_dir)
            await self._server.stop()
            self._server = None
        if self._lock is not None:
            self._lock.close()

    async def _join_or_own(self, lock: FileLock) -> str | None:
        """The address to join, or None: the directory is ours now."""
        try:
            async with asyncio.timeout(JOIN_SECONDS):
                while not lock.try_exclusive():
                    found = read_address(self._state_dir)
                    if found and await _answers(found.address):
                        return found.address
                    await asyncio.sleep(0.1)
        except TimeoutError as error:
            raise OutOfReach(
                f"Another process owns {self._state_dir} but its Temporal server does not answer: end that process,"
                " or choose another SWEEPER_STATE_DIR."
            ) from error
        return None

    async def _launch_somewhere(self) -> TemporalServer:
        """On the port of a former life if it is free, so that its clients find the way back."""
        former = read_address(self._state_dir)
        forget_address(self._state_dir)
        for port in _candidate_ports(self._state_dir, former):
            with suppress(PortTaken):
                return await TemporalServer.launch(self._state_dir, port)
        raise OutOfReach("No free port was found for the embedded Temporal server: end some servers on this machine.")

    def _announce(self, server: TemporalServer) -> None:
        self._server, self._address = server, server.address
        write_address(self._state_dir, ServerAddress(address=server.address, pid=server.pid))

    async def _keep(self, lock: FileLock) -> None:
        """Start the server again when it dies; before that, if it is another's, wait for that owner to go."""
        if self._server is None:
            await self._stand_by(lock)
            await self._revive()
        while self._server is not None:
            await self._server.wait()
            await self._revive()

    async def _stand_by(self, lock: FileLock) -> None:
        while not lock.try_exclusive():
            await asyncio.sleep(STAND_BY_SECONDS)
            found = read_address(self._state_dir)
            if found and found.address != self._address:
                raise OutOfReach(
                    f"The embedded Temporal server moved from {self._address} to {found.address}: start this again."
                )

    async def _revive(self) -> None:
        """On the same port, because clients hold on to the address. A start that fails counts as one more death."""
        clock = asyncio.get_running_loop().time
        port = int(self._address.rpartition(":")[2])
        while True:
            self._deaths.append(clock())
            wait = self._restarts.wait_after(self._deaths, clock())
            if wait is None:
                words = self._server.last_words() if self._server else ""
                raise OutOfReach(
                    f"The embedded Temporal server died {len(self._deaths)} times in {self._restarts.window:g} s:"
                    f" see {self._state_dir / LOG_FILE}; its last words were {words!r}."
                )
            await asyncio.sleep(wait)
            with suppress(OutOfReach):
                self._announce(await TemporalServer.launch(self._state_dir, port))
                return


async def _answers(address: str) -> bool:
    try:
        await connect(TemporalTarget(address=address))
    except OutOfReach:
        return False
    return True


def _candidate_ports(state_dir: Path, former: ServerAddress | None) -> Iterator[int]:
    """Free ports: the former one, then some derived from the directory, so that each tends to keep its own."""
    seed = int.from_bytes(hashlib.sha256(str(state_dir).encode()).digest()[:4])
    derived = (_FIRST_PORT + (seed + step) % _PORTS for step in range(_PORT_TRIES))
    former_port = former.address.rpartition(":")[2] if former else ""
    candidates = [int(former_port)] if former_port.isdecimal() else []
    return (port for port in (*candidates, *derived) if _is_free(port))


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError):
            return False
    return True
