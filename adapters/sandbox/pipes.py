"""Descriptors that pass between us and a command, and work that a cancellation must not cut in half.

asyncio's own process pipes are not used: `Process.wait` then waits for their end too, which a process that left the
group, or output nobody reads any more, can put off for ever.
"""

import asyncio
import os
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class Inlet:
    """What others write into `descriptor` can be read from `stream`.

    `survives_us`: the descriptor reads as well, so that its holder is not killed by SIGPIPE for writing after our
    death. bwrap would be, half-way, and would leave its child waiting for ever.
    """

    def __init__(self, survives_us: bool = False) -> None:
        self._reader, self.descriptor = os.pipe()
        if survives_us:
            writer, self.descriptor = self.descriptor, os.open(f"/proc/self/fd/{self.descriptor}", os.O_RDWR)
            os.close(writer)
        self.stream = asyncio.StreamReader()
        self._transport: asyncio.BaseTransport | None = None

    async def listen(self) -> None:
        """Begin to read, after the descriptor was handed on. Our copy of it is closed: the writers' end is the end."""
        protocol = asyncio.StreamReaderProtocol(self.stream)
        pipe = os.fdopen(self._reader, "rb", buffering=0)
        self._transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, pipe)
        os.close(self.descriptor)
        self.descriptor = -1

    def close(self) -> None:
        """Give everything back."""
        if self._transport is not None:
            self._transport.close()
        else:
            os.close(self._reader)
        if self.descriptor >= 0:
            os.close(self.descriptor)


class Gate:
    """A standard input at which first bwrap and then the command wait for our word.

    bwrap waits before it forks, so that what is set for its pid 1 holds for all that follows; but it takes the end
    of the stream for a word. The command does not, so when we die nothing starts.
    """

    WORD = b"!go\n"
    """The first byte is for bwrap, the line for the command."""

    def __init__(self) -> None:
        self.descriptor, self._writer = os.pipe()

    def open(self) -> None:
        """Say the word."""
        os.write(self._writer, self.WORD)

    def handed_on(self) -> None:
        """The reader belongs to the command now; our copy is closed."""
        os.close(self.descriptor)
        self.descriptor = -1

    def close(self) -> None:
        """No word will come: who still waits reads the end of the stream. Twice is a no-op."""
        for descriptor in (self.descriptor, self._writer):
            if descriptor >= 0:
                os.close(descriptor)
        self.descriptor = self._writer = -1


@contextmanager
def in_memory(contents: Sequence[bytes]) -> Iterator[list[int]]:
    """A descriptor to read each content from; nothing of it touches the disk."""
    descriptors: list[int] = []
    try:
        for content in contents:
            descriptor = os.memfd_create("sweeper")
            descriptors.append(descriptor)
            with open(descriptor, "wb", closefd=False) as file:
                file.write(content)
            os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptors
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


async def finish(work: Awaitable[T]) -> tuple[T, asyncio.CancelledError | None]:
    """Do `work` to its end even while we are being cancelled; its result, and the cancellation to raise later."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    return task.result(), cancelled


async def to_the_end(work: Awaitable[T]) -> T:
    """As `finish`; a cancellation is raised when the work is done."""
    result, cancelled = await finish(work)
    if cancelled is not None:
        raise cancelled
    return result
