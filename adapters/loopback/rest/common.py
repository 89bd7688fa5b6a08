"""What every REST handler stands on: who calls, which repository, paging, and telling the ledger of effects."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar
from urllib.parse import urlencode

from fastapi import Depends, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict

from adapters.loopback.auth import Caller, Kind, identify
from adapters.loopback.core.bare import Bare
from adapters.loopback.core.lookup import may, permission_of
from adapters.loopback.core.refusals import Refused, not_found
from adapters.loopback.core.state import Permission, Repo, User
from adapters.loopback.hub import Hub
from adapters.loopback.recorder import NOTES
from adapters.loopback.shapes.view import Json, Urls, View

Item = TypeVar("Item")
MAX_PER_PAGE = 100


class Body(BaseModel):
    """A request body. GitHub ignores fields it does not know."""

    model_config = ConfigDict(extra="ignore", frozen=True)


@dataclass(frozen=True)
class Asked:
    """A call: by whom, and with the address it used."""

    hub: Hub
    request: Request
    caller: Caller

    @property
    def view(self) -> View:
        """Shapes carry the host and port of the request: PyGithub refuses any other."""
        base = f"{self.request.url.scheme}://{self.request.headers.get('host', '')}"
        return View(self.hub.state, Urls(base))

    @property
    def user(self) -> User:
        """As whom the call acts."""
        return self.caller.user

    def effect(self, name: str, key: str) -> None:
        """Note a write for the ledger."""
        self.request.scope[NOTES].effects.append((name, key))


@dataclass(frozen=True)
class At(Asked):
    """A call on a repository."""

    repo: Repo

    @property
    def bare(self) -> Bare:
        """The repository's git."""
        return self.hub.bare(self.repo)

    @property
    def name(self) -> str:
        """`owner/name`."""
        return self.hub.repo_name(self.repo)

    def key(self, number: int, rest: str = "") -> str:
        """The ledger's key of something on a pull request."""
        return f"{self.name}#{number}{rest}"


def _hub(request: Request) -> Hub:
    hub: Hub = request.app.state.hub
    return hub


def asked(request: Request) -> Asked:
    """Any caller."""
    hub = _hub(request)
    return Asked(hub, request, identify(hub, request.headers.get("authorization")))


def as_app(request: Request) -> Asked:
    """The app itself, by JWT; an installation token there is 401."""
    call = asked(request)
    if call.caller.kind is not Kind.APP:
        raise Refused(401, "A JSON web token could not be decoded")
    return call


def reader(request: Request, owner: str, name: str) -> At:
    """Somebody who may read the repository; to others it is not there."""
    call = asked(request)
    if call.caller.kind is Kind.APP:
        raise Refused(401, "Bad credentials")
    repo = call.hub.repo(f"{owner}/{name}")
    limited = call.caller.repositories
    hidden = limited is not None and repo.id not in limited
    outside = call.user.id == call.hub.app.bot_id and not (repo.installed and call.hub.app.installed)
    if hidden or outside or permission_of(call.hub.state, repo, call.user) is Permission.NONE:
        raise not_found()
    return At(call.hub, call.request, call.caller, repo)


def writer(request: Request, owner: str, name: str) -> At:
    """Somebody who may push."""
    at = reader(request, owner, name)
    if not may(at.hub.state, at.repo, at.user, Permission.WRITE):
        raise Refused(403, "Resource not accessible by personal access token")
    return at


AnyCall = Annotated[Asked, Depends(asked)]
AppCall = Annotated[Asked, Depends(as_app)]
Read = Annotated[At, Depends(reader)]
Write = Annotated[At, Depends(writer)]


def answer(shape: Json | list[Json], status: int = 200) -> Response:
    """A JSON answer."""
    return JSONResponse(shape, status)


def nothing() -> Response:
    """204."""
    return Response(status_code=204)


@dataclass(frozen=True)
class Listing:
    """How a list is answered. `under`: the field of an object with total_count; None: a bare array."""

    under: str | None = None


def paged(
    call: Asked, items: Sequence[Item], shape: Callable[[Item], Json], listing: Listing | None = None
) -> Response:
    """One page, with a Link header when there are more."""
    per_page = min(_number(call, "per_page", 30), MAX_PER_PAGE)
    page = _number(call, "page", 1)
    part = [shape(item) for item in items[(page - 1) * per_page : page * per_page]]
    under = listing.under if listing else None
    response = answer({"total_count": len(items), under: part} if under else part)
    last = max(1, -(-len(items) // per_page))
    links = {"next": page + 1, "last": last} if page < last else {}
    links |= {"prev": page - 1, "first": 1} if page > 1 else {}
    if links:
        response.headers["link"] = ", ".join(f'<{_page_url(call, to)}>; rel="{rel}"' for rel, to in links.items())
    return response


def _number(call: Asked, name: str, default: int) -> int:
    text = call.request.query_params.get(name, "")
    return int(text) if text.isdigit() and int(text) > 0 else default


def _page_url(call: Asked, page: int) -> str:
    query = dict(call.request.query_params) | {"page": str(page)}
    return f"{call.view.urls.base}{call.request.url.path}?{urlencode(query)}"
