"""`Downloads`: the cache below one directory, and gates to it."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from adapters.egress.addresses import HostPort, Resolve, resolve
from adapters.egress.cache import Cache, Locks
from adapters.egress.desk import Desk
from adapters.egress.gate import PORT, OpenGate
from adapters.egress.registries import Registry, registries, trust
from adapters.egress.store import DownloadStore
from adapters.egress.tunnel import Tunnels
from adapters.egress.upstream import Upstream
from sweeper.ports import Gate


class RegistryDownloads:
    """`addresses`: registries by kind, with their credentials in them; the well-known ones for the rest.

    `listed`: the operator's places for CONNECT. Opening twice is safe: each gate has a directory of its own, all share
    the cache, which nobody inside can write.
    """

    def __init__(
        self,
        place: Path,
        addresses: Mapping[str, str],
        listed: Sequence[HostPort] = (),
        resolver: Resolve = resolve,
    ) -> None:
        self._registries: tuple[Registry, ...] = registries(addresses)
        self._listed = frozenset(listed)
        self._resolver = resolver
        self._place = place
        self._locks = Locks()

    def fetching(self) -> AbstractAsyncContextManager[Gate]:
        """As the port says."""
        return self._open(may_fetch=True)

    def cached(self) -> AbstractAsyncContextManager[Gate]:
        """As the port says."""
        return self._open(may_fetch=False)

    @asynccontextmanager
    async def _open(self, *, may_fetch: bool) -> AsyncIterator[Gate]:
        store = DownloadStore(self._place)
        if may_fetch:
            await asyncio.to_thread(store.trim)
        upstream = Upstream(trust(self._registries, self._listed), self._resolver)
        desk = Desk(Cache(store, upstream, self._locks), self._registries, may_fetch=may_fetch)
        gate = OpenGate(
            desk=desk,
            tunnels=Tunnels(self._listed, self._resolver) if may_fetch else None,
            env=self._env(),
        )
        try:
            yield await gate.open()
        finally:
            await gate.close()
            await upstream.close()

    def _env(self) -> Mapping[str, str]:
        address = f"http://127.0.0.1:{PORT}"
        env = {
            name: value
            for registry in self._registries
            for name, value in registry.kind.env(f"{address}/{registry.kind.name}").items()
        }
        if self._listed:
            env |= {name: address for name in ("HTTPS_PROXY", "https_proxy")}
            env |= {name: "127.0.0.1,localhost" for name in ("NO_PROXY", "no_proxy")}
        return env
