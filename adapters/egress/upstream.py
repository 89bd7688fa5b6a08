"""The real registries, over HTTP. Only this side knows credentials, and each is sent to its own origin alone."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.request import getproxies

import httpx

from adapters.egress.addresses import HostPort, Resolve, allowed_address, resolve
from sweeper.errors import PolicyDenied, Transient

_TIMEOUT = httpx.Timeout(30.0, connect=10.0)
_MAX_REDIRECTS = 5
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Origin:
    """Scheme, host and port: who a credential belongs to."""

    scheme: str
    place: HostPort

    @classmethod
    def of(cls, url: httpx.URL) -> "Origin":
        """Raises PolicyDenied for what is not http or https."""
        if url.scheme not in _DEFAULT_PORTS or not url.host:
            raise PolicyDenied("A registry named an address that is neither http nor https; take the package elsewhere")
        return cls(url.scheme, HostPort(url.host.lower(), url.port or _DEFAULT_PORTS[url.scheme]))


@dataclass(frozen=True)
class Trust:
    """`known`: places reached by name, the registries' own. `listed`: the operator's; for any other place they say
    which private addresses may be reached. `credentials`: the Authorization header of an origin."""

    known: Collection[HostPort]
    listed: Collection[HostPort] = ()
    credentials: Mapping[Origin, str] = field(default_factory=dict, repr=False)


class Upstream:
    """A client for all registries. Reading twice is reading twice; nothing is written."""

    def __init__(self, trust: Trust, resolver: Resolve = resolve) -> None:
        self._trust = trust
        self._resolve = resolver
        self._client = httpx.AsyncClient(timeout=_TIMEOUT, follow_redirects=False)

    async def close(self) -> None:
        """Close what is kept open."""
        await self._client.aclose()

    @asynccontextmanager
    async def open(self, url: str, accept: Sequence[str]) -> AsyncIterator[tuple[httpx.Response, str]]:
        """The final answer, its body not yet read, and the address that gave it.

        Raises Transient, PolicyDenied for an address or a redirect that leads where nothing may be fetched.
        """
        try:
            response, final = await self._follow(httpx.URL(url), accept)
            try:
                yield response, str(final)
            finally:
                await response.aclose()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Transient(f"{_host(url)} did not answer ({type(error).__name__}); try again in a while") from None

    async def _follow(self, url: httpx.URL, accept: Sequence[str]) -> tuple[httpx.Response, httpx.URL]:
        for _ in range(_MAX_REDIRECTS):
            response = await self._send(url, accept)
            if not response.has_redirect_location:
                return response, url
            await response.aclose()
            target = url.join(response.headers["location"])
            if url.scheme == "https" and target.scheme != "https":
                raise PolicyDenied(f"{url.host} redirects from https to {target.scheme}; look at that registry")
            url = target.copy_with(userinfo=b"")
        raise PolicyDenied(f"{url.host} redirects too often; look at that registry")

    async def _send(self, url: httpx.URL, accept: Sequence[str]) -> httpx.Response:
        origin = Origin.of(url)
        headers = {"Accept": ", ".join(accept) or "*/*", "User-Agent": "ci-sweeper"}
        if not accept:
            headers["Accept-Encoding"] = "identity"  # a file is kept as it is
        if (credential := self._trust.credentials.get(origin)) is not None:
            headers["Authorization"] = credential
        if origin.place in self._trust.known or getproxies().get(url.scheme):
            request = self._client.build_request("GET", url, headers=headers)  # a proxy of the operator's judges itself
        else:
            request = await self._pinned(url, origin.place, headers)
        return await self._client.send(request, stream=True)

    async def _pinned(self, url: httpx.URL, place: HostPort, headers: dict[str, str]) -> httpx.Request:
        """A request to the address that was judged, still by the name for TLS and for the server."""
        address = await allowed_address(place, self._trust.listed, self._resolve)
        return self._client.build_request(
            "GET",
            url.copy_with(host=address),
            headers={**headers, "Host": url.netloc.decode("ascii").rpartition("@")[2]},
            extensions={"sni_hostname": place.host},
        )


def _host(url: str) -> str:
    try:
        return httpx.URL(url).host
    except httpx.InvalidURL:
        return "The registry"
