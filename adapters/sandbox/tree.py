"""A sandboxed process tree: started behind a gate, let go when its limits are set, ended as a whole.

Pid 1 of the sandbox's own pid namespace is held by a pidfd from before the command starts. When it dies the kernel
kills every process of the namespace, however detached, and only then marks it as ended. bwrap outside may return
before that, so its return is not waited for alone.
"""

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import TypeVar

from adapters.sandbox.layout import Control

T = TypeVar("T")

_SETUP_SECONDS = 20.0
_GRACE_SECONDS = 5.0


class SetupFailed(Exception):
    """bwrap ended before the command could start; what it said is in the output."""


class Gate:
    """Holds the command back. Our death does not open it: the reader is a writer too, so it never sees the end."""

    def __init__(self) -> None:
        reader, self._writer = os.pipe()
        self.descriptor = os.open(f"/proc/self/fd/{reader}", os.O_RDWR)
        os.close(reader)

    def open(self) -> None:
        """Let the command start."""
        os.write(self._writer, b"x")

    def close(self) -> None:
        """Give the descriptors back."""
        os.close(self._writer)
        os.close(self.descriptor)


class Status:
    """What bwrap reports about itself: the pid of pid 1, later the command's exit code."""

    def __init__(self) -> None:
        self._reader, self.descriptor = os.pipe()
        self._stream = asyncio.StreamReader()
        self._transport: asyncio.BaseTransport | None = None

    async def listen(self) -> None:
        """Begin to read; our copy of the writing end is closed, so the end of bwrap is the end of the stream."""
        loop = asyncio.get_running_loop()
        pipe = os.fdopen(self._reader, "rb", buffering=0)
        self._transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(self._stream), pipe)
        os.close(self.descriptor)
        self.descriptor = -1

    async def value(self, name: str) -> int | None:
        """The next report that has this field; None if bwrap ends before."""
        while line := await self._stream.readline():
            report = json.loads(line)
            if name in report:
                return int(report[name])
        return None

    def close(self) -> None:
        """Give the descriptors back."""
        if self._transport is not None:
            self._transport.close()
        else:
            os.close(self._reader)
        if self.descriptor >= 0:
            os.close(self.descriptor)


class Tree:
    """One running sandbox. Use as a context: on leaving it, by any way, no process of the tree is alive."""

    def __init__(self, command_line: Callable[[Control], Sequence[str]], descriptors: Sequence[int]) -> None:
        self._command_line = command_line
        self._descriptors = descriptors
        self._gate = Gate()
        self._status = Status()
        self._process: asyncio.subprocess.Process | None = None
        self._pidfd = -1
        self.pid = -1
        self._has_ended = False
        self.ended_by: str | None = None

    async def __aenter__(self) -> "Tree":
        try:
            await self._start()
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
        if self._process is None or self._process.stdout is None:
            raise RuntimeError("the tree has not been started")
        return self._process.stdout

    async def _start(self) -> None:
        control = Control(status=self._status.descriptor, gate=self._gate.descriptor)
        self._process = await asyncio.create_subprocess_exec(
            *self._command_line(control),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={},
            cwd="/",
            umask=0o022,
            pass_fds=(control.status, control.gate, *self._descriptors),
            start_new_session=True,
        )
        await self._status.listen()

    async def hold(self) -> int:
        """Pid of the sandbox's pid 1, which waits at the gate. Raises SetupFailed."""
        async with asyncio.timeout(_SETUP_SECONDS):
            pid = await self._status.value("child-pid")
        if pid is None:
            raise SetupFailed
        try:
            self._pidfd = os.pidfd_open(pid)
        except ProcessLookupError:
            raise SetupFailed from None
        self.pid = pid
        return pid

    def release(self) -> None:
        """Open the gate: the command starts."""
        self._gate.open()

    def kill(self, reason: str) -> None:
        """End the whole tree now; the first reason is kept. Nothing happens if it has ended by itself."""
        if self._pidfd >= 0 and not self._has_ended:
            self.ended_by = self.ended_by or reason
            self._kill_pid_1()

    async def exit_code(self) -> int | None:
        """Wait for the end. 128 + signal for a killed command; None if it was never started or was ended by us."""
        code = await self._status.value("exit-code")
        self._has_ended = True
        await self._gone()
        return None if self.ended_by else code

    def _kill_pid_1(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    async def _gone(self) -> None:
        """Return when neither bwrap nor any process of the sandbox is alive."""
        if self._process is not None:
            await self._process.wait()
        if self._pidfd >= 0:
            await _readable(self._pidfd)

    async def _destroy(self) -> None:
        if self._pidfd >= 0:
            self._kill_pid_1()
        elif self._process is not None and self._process.returncode is None:
            self._process.kill()  # it did not come as far as pid 1, so there is nothing but bwrap
        try:
            async with asyncio.timeout(_GRACE_SECONDS):
                await self._gone()
        finally:
            if self._pidfd >= 0:
                os.close(self._pidfd)
                self._pidfd = -1
            self._gate.close()
            self._status.close()


async def _readable(pidfd: int) -> None:
    """A pidfd becomes readable when its process has ended (pidfd_open(2))."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(pidfd, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(pidfd)


async def to_the_end(work: Awaitable[T]) -> T:
    """Finish `work` even while we are being cancelled; the cancellation is passed on afterwards."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
        except Exception:  # noqa: BLE001, S110  raised again by result() below
            pass
    if cancelled is not None:
        raise cancelled
    return task.result()
