"""The cache: answers from the store, and fills the store from the registries where that is allowed.

Asking twice is safe: a file is fetched once however many ask at the same time, and a page again only when it is old.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable
from weakref import WeakValueDictionary

from adapters.egress.kinds import Wanted
from adapters.egress.store import ABSENT, DownloadStore, Entry, Kept
from adapters.egress.upstream import Upstream
from sweeper.errors import NotFound, PolicyDenied, Transient

FRESH_SECONDS = 600.0
"""How long an index page is taken as it is; what was published since is not seen."""
PAGE_BYTES = 64 << 20
FILE_BYTES = 2 << 30
_FETCH_SECONDS = 540.0
_GONE = (404, 410)
_MEDIA_TYPE = re.compile(r"[\w.+/-]{1,100}(?:; ?charset=[\w-]{1,20})?")
Locks = WeakValueDictionary[str, asyncio.Lock]


class Cache:
    """`locks`: shared by all gates of a process, one for each address. `clock`: seconds since the epoch."""

    def __init__(
        self, store: DownloadStore, upstream: Upstream, locks: Locks, clock: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._upstream = upstream
        self._locks = locks
        self._clock = clock

    async def get(self, wanted: Wanted, *, may_fetch: bool) -> Kept:
        """What an address gives, to be closed by the caller; its `file` is None if the registry has nothing there.

        Raises NotFound if it is not kept and may not be fetched, Transient, PolicyDenied.
        """
        lock = self._locks.setdefault(wanted.url, asyncio.Lock())
        async with lock:
            kept = await asyncio.to_thread(self._store.look, wanted.url)
            if kept is not None and self._will_do(wanted, kept.entry, may_fetch):
                return kept
            try:
                if not may_fetch:
                    raise NotFound("It is not in the cache, and nothing is fetched now; let it be fetched first")
                return await self._renew(wanted, kept)
            except BaseException:
                if kept is not None:
                    kept.close()
                raise

    def _will_do(self, wanted: Wanted, entry: Entry, may_fetch: bool) -> bool:
        if not wanted.is_page and entry.digest is not None:
            return wanted.sha256 in (None, entry.digest)  # a file never changes, unless its index says so
        return not may_fetch or 0 <= self._clock() - entry.fetched_at < FRESH_SECONDS

    async def _renew(self, wanted: Wanted, kept: Kept | None) -> Kept:
        """The new one; the old page while its registry does not answer."""
        try:
            async with asyncio.timeout(_FETCH_SECONDS):
                await self._fetch(wanted)
        except (Transient, TimeoutError) as error:
            if kept is not None and kept.file is not None and wanted.is_page:
                return kept
            if isinstance(error, Transient):
                raise
            raise Transient("The registry sent too slowly; try again in a while") from None
        new = await asyncio.to_thread(self._store.look, wanted.url)
        if new is None:
            raise Transient("What was fetched could not be read again; look at the disk of the state directory")
        if kept is not None:
            kept.close()
        return new

    async def _fetch(self, wanted: Wanted) -> None:
        async with self._upstream.open(wanted.url, wanted.accept) as (response, final):
            entry = Entry(key=wanted.url, url=final, status=response.status_code, fetched_at=self._clock())
            if response.status_code in _GONE:
                await asyncio.to_thread(self._store.keep, entry.model_copy(update={"status": ABSENT}))
                return
            if response.status_code != 200:
                raise Transient(f"The registry answered {response.status_code}; look at its address and credentials")
            media = response.headers.get("content-type", "")
            known = {"content_type": media} if _MEDIA_TYPE.fullmatch(media) else {}
            await self._take(wanted, response.aiter_bytes(), entry.model_copy(update=known))

    async def _take(self, wanted: Wanted, content: AsyncIterator[bytes], entry: Entry) -> None:
        draft = self._store.draft()
        try:
            limit = PAGE_BYTES if wanted.is_page else FILE_BYTES
            async for chunk in content:
                draft.write(chunk)
                if draft.size > limit:
                    raise PolicyDenied(f"The registry sent more than {limit >> 20} MiB; take a smaller package")
            if wanted.sha256 not in (None, draft.digest):
                raise PolicyDenied("The file is not what the index says of it; look at that registry")
            await asyncio.to_thread(self._store.take, draft, entry)
        finally:
            draft.discard()
