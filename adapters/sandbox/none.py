"""No sandbox at all: for the operator who opted in, and for our own sample. It says so in its name.

A command runs with the rights of the worker: it sees the network, the home directory and other processes. Only its
environment is scrubbed, its output and time are bounded, and its process group is killed at the end.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType

from adapters.sandbox import layout
from adapters.sandbox.gate import joined_here, refuse_bad_gate
from adapters.sandbox.output import CappedOutput, drain
from adapters.sandbox.pipes import Inlet, finish, to_the_end
from adapters.sandbox.tools import SYSTEM_PATH
from adapters.sandbox.underway import Underway, end_left_runs
from adapters.sandbox.versions import installed_tools
from sweeper.errors import BadInput
from sweeper.model import Tool
from sweeper.ports import SandboxFacts, SandboxLimits, SandboxResult, SandboxRun

NAME = "none"
_DRAIN_SECONDS = 2.0
Start = Callable[[int], Awaitable[asyncio.subprocess.Process]]
"""Starts a process whose output goes to the descriptor."""


class Unsandboxed:
    """`Sandbox` without isolation. A process that leaves its session outlives the run.

    What a killed worker left running is ended by the next run, before it starts.
    """

    def __init__(self, also: Sequence[Path] = ()) -> None:
        """`also`: directories of programs besides those of PATH."""
        path = [*os.environ.get("PATH", "").split(os.pathsep), *map(str, also)]
        operator = [entry for entry in path if Path(entry).is_absolute()]
        self._search_path = tuple(dict.fromkeys([str(Path(sys.prefix) / "bin"), *operator, *SYSTEM_PATH]))
        self._installed: tuple[Tool, ...] | None = None

    @property
    def search_path(self) -> tuple[str, ...]:
        """Directories where programs are looked for."""
        return self._search_path

    def installed(self) -> tuple[Tool, ...]:
        """Asked once, which takes a second; then remembered."""
        if self._installed is None:
            which = partial(shutil.which, path=os.pathsep.join(self._search_path))
            self._installed = installed_tools(which, self._search_path)
        return self._installed

    def owner(self) -> None:
        """Workspaces stay with the worker."""
        return

    async def probe(self) -> SandboxFacts:
        """Nothing to find out, and nothing held."""
        return SandboxFacts(name=NAME, held=(), problem=None)

    async def run(self, run: SandboxRun) -> SandboxResult:
        """Run to the end, to its time or to its output limit; the process group is dead afterwards."""
        layout.refuse_bad_names(run)
        if run.gate is not None:
            refuse_bad_gate(run.gate)
        if run.home is not None:
            layout.refuse_bad_home(run.home)
        await end_left_runs()
        with Underway() as underway:
            files = underway.place / "files"
            files.mkdir()
            for name, content in run.files.items():
                (files / name).write_bytes(content)
            async with joined_here(run.gate) as moved:
                return await self._execute(run.model_copy(update={"env": _readdressed(run.env, moved)}), underway)

    async def _execute(self, run: SandboxRun, underway: Underway) -> SandboxResult:
        started, output = time.monotonic(), CappedOutput()
        directory = Path(run.workspace, run.working_directory)
        if not directory.is_dir():
            return SandboxResult(exit_code=layout.NO_DIRECTORY_EXIT, seconds=0.0, output=layout.NO_DIRECTORY)
        try:
            async with _Group(self._start(run, underway, directory)) as group:
                code = await group.end(run.limits, output)
        except (FileNotFoundError, PermissionError) as error:
            said = f"{error.filename}: {error.strerror}\n".encode()
            return SandboxResult(exit_code=layout.NO_PROGRAM_EXIT, seconds=0.0, output=said)
        except OSError as error:
            raise BadInput("The command and its environment are too long; put the script into a file") from error
        seconds = time.monotonic() - started
        return SandboxResult(exit_code=code, seconds=seconds, output=output.bytes(), limit=group.ended_by)

    def _start(self, run: SandboxRun, underway: Underway, directory: Path) -> Start:
        place = underway.place
        tmp, home = place / "tmp", Path(run.home) if run.home else place / "home"
        for own in (tmp, home):
            own.mkdir(exist_ok=True)
        asked = {name: _moved(value, place) for name, value in run.env.items()}
        env = layout.environment(self.search_path, asked, str(tmp), str(home))

        async def start(output: int) -> asyncio.subprocess.Process:
            process = await asyncio.create_subprocess_exec(
                *(_moved(word, place) for word in run.argv),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=env,
                cwd=directory,
                start_new_session=True,
            )
            underway.led_by(process.pid)
            return process

        return start


class _Group:
    """A process group that is ended as a whole. Use as a context, as a `Tree`."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._output = Inlet()
        self._process: asyncio.subprocess.Process | None = None
        self.ended_by: str | None = None

    async def __aenter__(self) -> "_Group":
        try:
            self._process, cancelled = await finish(self._start(self._output.descriptor))
            if cancelled is not None:
                raise cancelled
            await to_the_end(self._output.listen())
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await to_the_end(self._destroy())

    async def end(self, limits: SandboxLimits, output: CappedOutput) -> int | None:
        """Wait for it within its limits; the exit code as a shell gives it, None if a limit ended it."""
        flood = partial(self._kill, "output")
        reading = asyncio.ensure_future(drain(self._output.stream, output, limits.output_bytes, flood))
        timer = asyncio.get_running_loop().call_later(limits.seconds, self._kill, "time")
        try:
            code = await self._wait()
            timer.cancel()
            self._kill_group()
            with contextlib.suppress(TimeoutError):  # one that left the group may hold the pipe open
                async with asyncio.timeout(_DRAIN_SECONDS):
                    await reading
        finally:
            timer.cancel()
            reading.cancel()
        return None if self.ended_by else (128 - code if code < 0 else code)

    async def _wait(self) -> int:
        return await self._process.wait() if self._process is not None else 0

    async def _destroy(self) -> None:
        self._kill_group()
        await self._wait()
        self._output.close()

    def _kill(self, reason: str) -> None:
        self.ended_by = self.ended_by or reason
        self._kill_group()

    def _kill_group(self) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)


def _readdressed(env: Mapping[str, str], moved: Mapping[str, str]) -> dict[str, str]:
    """Variables that name a port of the gate, naming the one it has here."""
    said = dict(env)
    for usual, here in moved.items():
        said = {name: value.replace(usual, here) for name, value in said.items()}
    return said


def _moved(word: str, place: Path) -> str:
    """`/sweeper/<name>` does not exist outside a sandbox; say where the file really is."""
    prefix = f"{layout.FILES_AT}/"
    return f"{place}/files/{word.removeprefix(prefix)}" if word.startswith(prefix) else word
