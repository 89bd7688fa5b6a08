"""The REST face put together: routes, refusals in GitHub's words, addresses by id, ETags and rate headers."""

import hashlib
import re

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from adapters.loopback.answer import Answer, catch, read_body
from adapters.loopback.core.refusals import Moved, Refused
from adapters.loopback.hub import Hub
from adapters.loopback.recorder import NOTES
from adapters.loopback.rest import apps, checks, graphql, issues, pulls, repos, reviews, runs
from adapters.loopback.rest.apps import LIMIT
from adapters.loopback.shapes.view import Json
from adapters.loopback.turns import ReadAsJson

_BY_ID = re.compile(r"^/repositories/(\d+)(/.*)?$")
_ALL = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
DOCUMENTATION = "https://docs.github.com/rest"


def rest_app(hub: Hub) -> ASGIApp:
    """The REST face of a hub."""
    app = FastAPI(openapi_url=None, redirect_slashes=False)
    app.state.hub = hub
    # The most general routes last: commits/{ref} would take commits/{ref}/status.
    for part in (apps, graphql, checks, runs, reviews, pulls, issues, repos):
        app.include_router(part.router)
    app.add_api_route("/{path:path}", _unknown, methods=_ALL, include_in_schema=False)
    app.add_exception_handler(Refused, _refuse)
    app.add_exception_handler(Moved, _moved)
    app.add_exception_handler(RequestValidationError, _unprocessable)
    return RestFace(ReadAsJson(app), hub)


async def _unknown(request: Request) -> Response:
    request.scope[NOTES].unknown = True
    raise Refused(404, "Not Found")


def _error(status: int, message: str, extra: Json | None = None) -> Response:
    body: Json = {"message": message, "documentation_url": DOCUMENTATION, "status": str(status)}
    return JSONResponse(body | (extra or {}), status)


async def _refuse(_: Request, refused: Exception) -> Response:
    if not isinstance(refused, Refused):
        raise refused
    return _error(refused.status, refused.message, {"errors": list(refused.errors)} if refused.errors else None)


async def _moved(request: Request, moved: Exception) -> Response:
    if not isinstance(moved, Moved):
        raise moved
    rest = "/".join(request.url.path.split("/")[4:])
    base = f"{request.url.scheme}://{request.headers['host']}/repositories/{moved.repository_id}"
    query = f"?{request.url.query}" if request.url.query else ""
    url = f"{base}/{rest}{query}" if rest else f"{base}{query}"
    # 307 keeps the method of a write; GitHub does the same.
    status = 301 if request.method in ("GET", "HEAD") else 307
    body: Json = {"message": "Moved Permanently", "url": url, "documentation_url": DOCUMENTATION}
    return JSONResponse(body, status, headers={"location": url})


async def _unprocessable(_: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    if any(one["type"] == "json_invalid" for one in error.errors()):
        return _error(400, "Problems parsing JSON")
    if any(one["loc"][0] == "path" for one in error.errors()):
        return _error(404, "Not Found")
    said = "; ".join(f"{'.'.join(str(part) for part in one['loc'][1:])}: {one['msg']}" for one in error.errors())
    return _error(422, f"Invalid request.\n\n{said}")


class RestFace:
    """Addresses by id and under /api/v3, and what GitHub puts on every answer."""

    def __init__(self, app: ASGIApp, hub: Hub) -> None:
        self._app = app
        self._hub = hub
        self._used = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one call."""
        path: str = scope["path"].removeprefix("/api/v3")
        scope = {**scope, "path": self._by_name(path)}
        answer = await catch(self._app, scope, await read_body(receive))
        self._add_headers(answer)
        if scope["method"] == "GET" and answer.status == 200:
            _set_etag(scope, answer)
        await answer.send(send)

    def _by_name(self, path: str) -> str:
        found = _BY_ID.match(path)
        repo = found and self._hub.state.repos.get(int(found[1]))
        return f"/repos/{self._hub.repo_name(repo)}{found[2] or ''}" if found and repo else path

    def _add_headers(self, answer: Answer) -> None:
        self._used = min(self._used + 1, LIMIT - 1)
        reset = int(self._hub.store.now().timestamp()) + 3600
        for name, value in {
            "limit": LIMIT,
            "remaining": LIMIT - self._used,
            "used": self._used,
            "reset": reset,
            "resource": "core",
        }.items():
            answer.set_header(f"x-ratelimit-{name}".encode(), str(value).encode())
        answer.set_header(b"x-github-media-type", b"github.v3; format=json")


def _set_etag(scope: Scope, answer: Answer) -> None:
    etag = b'W/"' + hashlib.sha256(answer.body).hexdigest().encode() + b'"'
    answer.set_header(b"etag", etag)
    if dict(scope["headers"]).get(b"if-none-match") == etag:
        answer.status, answer.body = 304, b""
        answer.set_header(b"content-length", b"0")
