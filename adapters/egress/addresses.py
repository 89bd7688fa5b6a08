"""Where a connection may go: names are resolved here, judged, and the judged address is the one connected to.

An address that is not public (private, loopback, link-local with the clouds' metadata service, reserved) is reached
only if the operator wrote down that very address with that port: a name alone may be pointed anywhere by its owner.
Kinds of addresses: IANA's special-purpose registries, as `ipaddress` knows them.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from sweeper.errors import PolicyDenied, Transient

_RESOLVE_SECONDS = 10.0
Resolve = Callable[[str, int], Awaitable[list[str]]]
"""A host and a port to addresses, as getaddrinfo(3) orders them."""


@dataclass(frozen=True)
class HostPort:
    """Exactly one place. `host` in lower case, an IPv6 address without brackets."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


async def resolve(host: str, port: int) -> list[str]:
    """By the system's resolver, the order kept. Raises Transient."""
    try:
        async with asyncio.timeout(_RESOLVE_SECONDS):
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, TimeoutError):
        raise Transient(f"{host} has no address; look at the name, or try again") from None
    return list(dict.fromkeys(str(item[4][0]) for item in found))


def is_public(address: str) -> bool:
    """Whether anyone on the internet may mean the same machine by it. Raises ValueError for what is no address."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if any(parsed in network for network in _NOT_FOR_ALL if network.version == parsed.version):
        return False
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour or (parsed.teredo[1] if parsed.teredo else None)
        if inner is not None and not is_public(str(inner)):
            return False
        if parsed in _TRANSLATED:
            return is_public(str(ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)))
    return parsed.is_global and not parsed.is_multicast


_NOT_FOR_ALL = tuple(  # what `ipaddress` does not know in all its versions
    ipaddress.ip_network(network)
    for network in (
        "::/96",  # RFC 4291 2.5.5.1: an IPv4 address in the last 32 bits, given up
        "::ffff:0:0:0/96",  # RFC 7915 (SIIT): the same, translated within a network
        "64:ff9b:1::/48",  # RFC 8215: translated within a network
        "fec0::/10",  # RFC 3879: site-local, given up and still routed by some
        "5f00::/16",  # RFC 9602: segments of a network's own routing
        "3fff::/20",  # RFC 9637: documentation
        "192.0.0.0/24",  # RFC 6890: protocols of a network, among them a cloud's metadata service
        "168.63.129.16/32",  # Azure's own host behind each of its machines: a public number, another one for each
    )
)
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052: an IPv4 address in the last 32 bits


async def allowed_address(place: HostPort, listed: Collection[HostPort], resolver: Resolve = resolve) -> str:
    """The first address of a place that may be connected to. Raises PolicyDenied, or Transient without any address."""
    for address in await resolver(place.host, place.port):
        if is_public(address) or HostPort(address, place.port) in listed:
            return address
    raise PolicyDenied(
        f"{place} leads to a private address; an operator who means it lists that address with its port, too"
    )
