"""No sandbox at all: for the operator who opted in, and for our own sample. It says so in its name.

A command runs with the rights of the worker: it sees the network, the home directory and other processes. Only its
environment is scrubbed, its output and time are bounded, and its process group is killed at the end.
"""

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from adapters.sandbox import layout
from adapters.sandbox.output import CappedOutput, drain
from adapters.sandbox.tools import SYSTEM_PATH
from adapters.sandbox.tree import to_the_end
from sweeper.ports import SandboxFacts, SandboxLimits, SandboxResult, SandboxRun

NAME = "none"
_DRAIN_SECONDS = 2.0


class Unsandboxed:
    """`Sandbox` without isolation. A process that leaves its session outlives the run."""

    def __init__(self) -> None:
        operator = [entry for entry in os.environ.get("PATH", "").split(os.pathsep) if Path(entry).is_absolute()]
        self._search_path = tuple(dict.fromkeys([str(Path(sys.prefix) / "bin"), *operator, *SYSTEM_PATH]))

    @property
    def search_path(self) -> tuple[str, ...]:
        """Directories where programs are looked for."""
        return self._search_path

    def owner(self) -> None:
        """Workspaces stay with the worker."""
        return

    async def probe(self) -> SandboxFacts:
        """Nothing to find out, and nothing held."""
        return SandboxFacts(name=NAME, held=(), problem=None)

    async def run(self, run: SandboxRun) -> SandboxResult:
        """Run to the end, to its time or to its output limit; the process group is dead afterwards."""
        layout.refuse_bad_names(run)
        with tempfile.TemporaryDirectory(prefix="sweeper-") as place:
            files = Path(place, "files")
            files.mkdir()
            for name, content in run.files.items():
                (files / name).write_bytes(content)
            return await self._execute(run, Path(place))

    async def _execute(self, run: SandboxRun, place: Path) -> SandboxResult:
        started, output = time.monotonic(), CappedOutput()
        directory = Path(run.workspace, run.working_directory)
        if not directory.is_dir():
            return SandboxResult(exit_code=layout.NO_DIRECTORY_EXIT, seconds=0.0, output=layout.NO_DIRECTORY)
        home = place / "home"
        home.mkdir()
        asked = {name: _moved(value, place) for name, value in run.env.items()}
        env = {**layout.environment(self.search_path, asked), "HOME": asked.get("HOME", str(home))}
        try:
            process = await asyncio.create_subprocess_exec(
                *(_moved(word, place) for word in run.argv),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                env=env,
                cwd=directory,
                start_new_session=True,
            )
        except (FileNotFoundError, PermissionError) as error:
            said = f"{error.filename}: {error.strerror}\n".encode()
            return SandboxResult(exit_code=layout.NO_PROGRAM_EXIT, seconds=0.0, output=said)
        group = _Group(process)
        try:
            code = await group.end(run.limits, output)
        finally:
            await to_the_end(group.destroy())
        seconds = time.monotonic() - started
        return SandboxResult(exit_code=code, seconds=seconds, output=output.bytes(), limit=group.ended_by)


class _Group:
    """A process group that is ended as a whole."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.ended_by: str | None = None

    async def end(self, limits: SandboxLimits, output: CappedOutput) -> int | None:
        """Wait for it within its limits; the exit code as a shell gives it, None if a limit ended it."""
        if self._process.stdout is None:
            raise RuntimeError("the process was started without a pipe")
        flood = partial(self._kill, "output")
        reading = asyncio.ensure_future(drain(self._process.stdout, output, limits.output_bytes, flood))
        timer = asyncio.get_running_loop().call_later(limits.seconds, self._kill, "time")
        try:
            code = await self._process.wait()
            timer.cancel()
            self._kill_group()  # what is left of the group would keep the pipe open
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_DRAIN_SECONDS):
                    await reading
        finally:
            timer.cancel()
            reading.cancel()
        return None if self.ended_by else (128 - code if code < 0 else code)

    async def destroy(self) -> None:
        """Kill and reap."""
        self._kill_group()
        await self._process.wait()

    def _kill(self, reason: str) -> None:
        self.ended_by = self.ended_by or reason
        self._kill_group()

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


def _moved(word: str, place: Path) -> str:
    """`/sweeper/<name>` does not exist outside a sandbox; say where the file really is."""
    prefix = f"{layout.FILES_AT}/"
    return f"{place}/files/{word.removeprefix(prefix)}" if word.startswith(prefix) else word
