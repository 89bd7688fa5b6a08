"""What a command printed, in bounded memory."""

import asyncio
from collections.abc import Callable

HEAD_BYTES = 1 << 20
TAIL_BYTES = 64 << 10
_CHUNK = 64 << 10


class CappedOutput:
    """Keeps the first MiB and the last 64 KiB; what falls between is counted and the cut is marked."""

    def __init__(self, head_bytes: int = HEAD_BYTES, tail_bytes: int = TAIL_BYTES) -> None:
        self._head_bytes = head_bytes
        self._tail_bytes = tail_bytes
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        self.total += len(chunk)
        room = self._head_bytes - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > 2 * self._tail_bytes:  # trim now and then, not at each chunk
            del self._tail[: -self._tail_bytes]

    def bytes(self) -> bytes:
        """Head, mark, tail; or all of it if nothing was cut."""
        tail = self._tail[-self._tail_bytes :]
        cut = self.total - len(self._head) - len(tail)
        mark = f"\n[... {cut} bytes left out ...]\n".encode() if cut else b""
        return bytes(self._head) + mark + bytes(tail)


async def drain(
    stream: asyncio.StreamReader, output: CappedOutput, most: int, on_flood: Callable[[], object]
) -> CappedOutput:
    """Read to the end, so that the writer never blocks; call `on_flood` when more than `most` bytes came."""
    flooded = False
    while chunk := await stream.read(_CHUNK):
        output.feed(chunk)
        if output.total > most and not flooded:
            flooded = True
            on_flood()
    return output
