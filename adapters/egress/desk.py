"""Answers the requests for packages of one gate."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adapters.egress.cache import Cache
from adapters.egress.kinds import Page, Wanted
from adapters.egress.registries import Registry
from adapters.egress.store import Kept
from adapters.egress.wire import Answer, Refused, Request, plain_path
from sweeper.errors import NotFound, SweeperError

_NOTHING = "The registry has nothing there"


@dataclass(frozen=True)
class _PagesOf:
    """`Pages` of a registry, as far as this gate may go."""

    cache: Cache
    base: str
    may_fetch: bool

    async def read(self, wanted: Wanted) -> Page | None:
        return await _page(await self.cache.get(wanted, may_fetch=self.may_fetch))


class Desk:
    """The registries by the first part of a path. It keeps nothing: asking twice is safe."""

    def __init__(self, cache: Cache, known: Sequence[Registry], *, may_fetch: bool) -> None:
        self._cache = cache
        self._known: Mapping[str, Registry] = {registry.kind.name: registry for registry in known}
        self._may_fetch = may_fetch

    async def answer(self, request: Request) -> Answer:
        """The page or file a path stands for; the answer's file is to be closed. Raises Refused."""
        path = plain_path(request.target)
        name, _, rest = path.strip("/").partition("/")
        registry = self._known.get(name)
        if registry is None:
            raise Refused(404, f"The registries here are {', '.join(self._known)}", path)
        try:
            return await self._answer(registry, rest, f"http://{request.host}/{name}")
        except NotFound as error:
            raise Refused(404, str(error), path) from None
        except ValueError:
            raise Refused(502, "The registry's page makes no sense", path) from None
        except SweeperError as error:
            raise Refused(502, str(error), path) from None
        except OSError:
            raise Refused(502, "The download cache cannot be used; make room in the state directory", path) from None

    async def _answer(self, registry: Registry, path: str, here: str) -> Answer:
        pages = _PagesOf(self._cache, registry.base, self._may_fetch)
        wanted = await registry.kind.find(path, pages)
        if wanted is None:
            raise Refused(404, _NOTHING)
        kept = await self._cache.get(wanted, may_fetch=self._may_fetch)
        if wanted.render is None and kept.file is not None:
            return Answer(200, kept.file, kept.entry.size, kept.entry.content_type)
        page = await _page(kept)
        if page is None or wanted.render is None:
            raise Refused(404, _NOTHING)
        content, media_type = await asyncio.to_thread(wanted.render, page, here)
        return Answer(200, content, len(content), media_type)


async def _page(kept: Kept) -> Page | None:
    if kept.file is None:
        return None
    with kept.file:
        content = await asyncio.to_thread(kept.file.read)
    return Page(content, kept.entry.content_type, kept.entry.url)
