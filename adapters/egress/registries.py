"""Which registries there are: the table of kinds, each with the operator's address or the well-known one."""

import base64
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import httpx

from adapters.egress.addresses import HostPort
from adapters.egress.cargo import Cargo
from adapters.egress.go import Go
from adapters.egress.kinds import Kind
from adapters.egress.npm import Npm
from adapters.egress.pypi import Pypi
from adapters.egress.upstream import Origin, Trust
from sweeper.errors import BadInput

KINDS: tuple[Kind, ...] = (Pypi(), Npm(), Cargo(), Go())


@dataclass(frozen=True)
class Registry:
    """A registry to fetch from. `base`: without credentials and without a slash at its end."""

    kind: Kind
    base: str
    credential: str | None = None

    @property
    def origin(self) -> Origin:
        """Who the credential belongs to."""
        return Origin.of(httpx.URL(self.base))

    @property
    def places(self) -> tuple[HostPort, ...]:
        """Where it and its files are."""
        files = self.kind.hosts if self.base == self.kind.public else ()
        return (self.origin.place, *(HostPort(host, 443) for host in files))


def registries(addresses: Mapping[str, str]) -> tuple[Registry, ...]:
    """All kinds; `addresses` by kind replace the well-known ones. Raises BadInput without showing an address."""
    known = {kind.name for kind in KINDS}
    for name in addresses:
        if name not in known:
            raise BadInput(f"There is no kind of registry {name!r}; the kinds are {', '.join(sorted(known))}")
    return tuple(_registry(kind, addresses.get(kind.name, kind.public)) for kind in KINDS)


def _registry(kind: Kind, address: str) -> Registry:
    """`https://USER:PASSWORD@host/path`; with an empty user the password is a bearer token."""
    try:
        url = httpx.URL(address)
        base = str(url.copy_with(userinfo=b"", query=None, fragment=None)).rstrip("/")
    except httpx.InvalidURL:
        raise BadInput(
            f"The address of the registry {kind.name} is none; write {kind.name}=https://host/path"
        ) from None
    if url.scheme not in ("http", "https") or not url.host:
        raise BadInput(f"The address of the registry {kind.name} must begin with https:// or http://")
    return Registry(kind, base, _credential(url))


def _credential(url: httpx.URL) -> str | None:
    if url.password and not url.username:
        return f"Bearer {url.password}"
    if url.username:
        return f"Basic {base64.b64encode(f'{url.username}:{url.password}'.encode()).decode('ascii')}"
    return None


def trust(all_of_them: Sequence[Registry], listed: Collection[HostPort]) -> Trust:
    """What the client outside may do for them."""
    return Trust(
        known=frozenset(place for registry in all_of_them for place in registry.places),
        listed=frozenset(listed),
        credentials={registry.origin: registry.credential for registry in all_of_them if registry.credential},
    )
