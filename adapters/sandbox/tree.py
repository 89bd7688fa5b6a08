"""A sandboxed process tree: started behind a gate, let go when its limits are set, ended as a whole.

Pid 1 of the sandbox's own pid namespace is held by a pidfd from before the command starts. When it dies the kernel
kills every process of the namespace, however detached, and only then marks it as ended. bwrap outside may return
before that, so its return is not waited for alone.
"""

import asyncio
import contextlib
import errno
import json
import os
import signal
from collections.abc import Callable, Sequence
from types import TracebackType

from adapters.sandbox.layout import Control
from adapters.sandbox.pipes import Gate, Inlet, finish, to_the_end
from sweeper.errors import BadInput, Bug, MissingTool

_SETUP_SECONDS = 20.0
_GRACE_SECONDS = 10.0


def behind_gate(argv: Sequence[str]) -> list[str]:
    """The command as it waits inside for our word. No word but the end of the stream, as when we die: it gives up."""
    return ["/bin/sh", "-c", 'read -r go && exec "$@" </dev/null', "gate", *argv]


class SetupFailed(Exception):
    """bwrap ended before the command could start; what it said is in the output."""


class Tree:
    """One running sandbox. Use as a context: on leaving it, by any way, no process of the tree is alive."""

    def __init__(self, command_line: Callable[[Control], Sequence[str]], descriptors: Sequence[int]) -> None:
        self._command_line = command_line
        self._descriptors = descriptors
        self._process: asyncio.subprocess.Process | None = None
        self._pidfd = -1
        self._has_ended = False
        self.ended_by: str | None = None

    async def __aenter__(self) -> "Tree":
        self._gate, self._status, self._output = Gate(), Inlet(survives_us=True), Inlet()
        try:
            _, cancelled = await finish(self._start())
            if cancelled is not None:
                raise cancelled
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await to_the_end(self._destroy())

    @property
    def output(self) -> asyncio.StreamReader:
        """Standard output and error in one stream, in the order they were written; bwrap's own words come here too."""
        return self._output.stream

    async def _start(self) -> None:
        control = Control(status=self._status.descriptor, gate=self._gate.descriptor)
        output = self._output.descriptor
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command_line(control),
                stdin=control.gate,
                stdout=output,
                stderr=output,
                env={},
                cwd="/",
                umask=0o022,
                pass_fds=(control.status, control.gate, *self._descriptors),
                start_new_session=True,
            )
        except OSError as error:
            if error.errno == errno.E2BIG:
                raise BadInput("The command and its environment are too long; put the script into a file") from error
            raise MissingTool(f"bubblewrap could not be started ({error}); install it again") from error
        self._gate.handed_on()
        await self._status.listen()
        await self._output.listen()

    async def hold(self) -> int:
        """Pid of the sandbox's pid 1, which waits at the gate. Raises SetupFailed."""
        async with asyncio.timeout(_SETUP_SECONDS):
            pid = await self._reported("child-pid")
        if pid is None:
            raise SetupFailed
        try:
            self._pidfd = os.pidfd_open(pid)
        except ProcessLookupError:
            raise SetupFailed from None
        return pid

    def release(self) -> None:
        """Open the gate: the command starts."""
        with contextlib.suppress(BrokenPipeError):  # bwrap has given up; its end tells
            self._gate.open()

    def kill(self, reason: str) -> None:
        """End the whole tree now; the first reason is kept. Nothing happens if it has ended by itself."""
        if self._pidfd >= 0 and not self._has_ended:
            self.ended_by = self.ended_by or reason
            self._kill_pid_1()

    async def exit_code(self) -> int | None:
        """Wait for the end. 128 + signal for a killed command; None if it was never started or was ended by us."""
        code = await self._reported("exit-code")
        self._has_ended = True
        self._kill_pid_1()  # it would wait for what the command left running
        await self._gone()
        return None if self.ended_by else code

    async def _reported(self, name: str) -> int | None:
        """The next report of bwrap's that has this field; None if bwrap ends before."""
        while line := await self._status.stream.readline():
            report = json.loads(line)
            if name in report:
                return int(report[name])
        return None

    def _kill_pid_1(self) -> None:
        if self._pidfd < 0:
            return
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    async def _gone(self) -> None:
        """Return when neither bwrap nor any process of the sandbox is alive."""
        if self._pidfd >= 0:
            await _readable(self._pidfd)
            _reap(self._pidfd)
        if self._process is not None:
            await self._process.wait()

    async def _destroy(self) -> None:
        self._gate.close()  # a command still at the gate gives up; bwrap is never killed half-way, that leaves orphans
        self._kill_pid_1()
        try:
            async with asyncio.timeout(_GRACE_SECONDS):
                await self._gone()
        except TimeoutError:
            if self._process is not None:
                self._process.kill()
            raise Bug("A sandbox did not end when it was told to; look for bwrap processes and report this") from None
        finally:
            if self._pidfd >= 0:
                os.close(self._pidfd)
                self._pidfd = -1
            self._status.close()
            self._output.close()


def _reap(pidfd: int) -> None:
    """bwrap leaves its pid 1 to init. In a container that may be us; elsewhere it is not our child, and all is well."""
    with contextlib.suppress(ChildProcessError):
        os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOHANG)


async def _readable(pidfd: int) -> None:
    """A pidfd becomes readable when its process has ended (pidfd_open(2))."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(pidfd, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(pidfd)
