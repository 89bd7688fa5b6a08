"""CONNECT to exactly the places that the operator listed."""

import asyncio
import contextlib
from collections.abc import Collection
from dataclasses import dataclass

from adapters.egress.addresses import HostPort, Resolve, allowed_address, resolve
from adapters.egress.wire import Refused, drain
from sweeper.errors import PolicyDenied, Transient

_CONNECT_SECONDS = 15.0
_IDLE_SECONDS = 120.0
_CHUNK = 1 << 16


def place_of(target: str) -> HostPort:
    """`host:port`, as CONNECT has it. Raises Refused."""
    host, colon, port = target.lower().rpartition(":")
    if not colon or not host or not port.isdecimal() or len(port) > 5:
        raise Refused(400, "CONNECT wants host:port", target)
    return HostPort(host.strip("[]"), int(port))


@dataclass(frozen=True)
class Tunnels:
    """Opens a way to a listed place. The address that was judged is connected to, not the name once more."""

    listed: Collection[HostPort]
    resolver: Resolve = resolve

    async def connect(self, target: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Raises Refused."""
        place = place_of(target)
        if place not in self.listed:
            raise Refused(403, f"{place} is not in the operator's list of places to reach", str(place))
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                address = await allowed_address(place, self.listed, self.resolver)
                return await asyncio.open_connection(address, place.port, limit=_CHUNK)
        except PolicyDenied as error:
            raise Refused(403, str(error), str(place)) from None
        except (Transient, OSError, TimeoutError):
            raise Refused(502, f"{place} did not answer") from None


async def join(
    near: asyncio.StreamReader, back: asyncio.StreamWriter, far: asyncio.StreamReader, out: asyncio.StreamWriter
) -> None:
    """Pass on what comes from either side until both have ended, or both are silent for too long."""
    loop = asyncio.get_running_loop()
    with contextlib.closing(out), contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(_IDLE_SECONDS) as silence:

            async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                while chunk := await reader.read(_CHUNK):
                    silence.reschedule(loop.time() + _IDLE_SECONDS)
                    writer.write(chunk)
                    await drain(writer)
                writer.write_eof()

            back.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await asyncio.gather(copy(near, out), copy(far, back))
