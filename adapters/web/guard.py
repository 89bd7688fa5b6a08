"""Who may use the admin face: holders of the token, from a page of its own, under a loopback name.

The token alone would not do: a page in the operator's browser can reach loopback addresses, under a name of its own
that resolves there (DNS rebinding) or across origins. So Host and Origin are checked as well, before the token.
"""

import hashlib
import hmac
from urllib.parse import urlsplit

from fastapi import Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from pydantic import SecretStr
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "sweeper_admin"
_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Guard:
    """ASGI layer that lets only the operator through; 403 for a foreign Host or Origin, 401 without the token."""

    def __init__(self, app: ASGIApp, token: SecretStr) -> None:
        self._app = app
        self._token = token.get_secret_value().encode()
        # Browsers send cookies to every port of a host; what a neighbour sees there must not be the token itself.
        self._cookie = hmac.new(self._token, b"admin cookie", hashlib.sha256).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, log in, or pass on with headers that keep browsers from caching and embedding."""
        if scope["type"] != "http":
            return
        request = Request(scope)
        answerer = self._refuse_place(request) or self._log_in(request) or self._refuse_person(request) or self._app

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await answerer(scope, receive, send_guarded)

    def _refuse_place(self, request: Request) -> Response | None:
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or _hostname(hosts[0]) not in _LOOPBACK_NAMES:
            return _refusal(403, "This side answers under a loopback name only; open it as http://127.0.0.1:PORT/.")
        origin = request.headers.get("origin")
        if origin is not None and origin != f"http://{hosts[0]}":
            return _refusal(403, "Another site's page asked; open the page of the sweeper itself.")
        return None

    def _log_in(self, request: Request) -> Response | None:
        """`/?token=...` becomes a cookie, and leaves the address bar at once."""
        given = request.query_params.get("token")
        if request.method != "GET" or request.url.path != "/" or given is None:
            return None
        if not hmac.compare_digest(given.encode(errors="replace"), self._token):
            return _unknown()
        response = RedirectResponse("/", status_code=303)
        response.set_cookie(COOKIE, self._cookie, httponly=True, samesite="strict")
        return response

    def _refuse_person(self, request: Request) -> Response | None:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        by_header = scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self._token)
        by_cookie = hmac.compare_digest(request.cookies.get(COOKIE, "").encode(), self._cookie.encode())
        return None if by_header or by_cookie else _unknown()


def _hostname(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def _unknown() -> Response:
    return _refusal(
        401,
        "Give the token in the state directory's file admin-token, as bearer token or as /?token=... in a browser.",
        {"WWW-Authenticate": "Bearer"},
    )


def _refusal(status: int, sentence: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": sentence}, status, headers)
