"""The one door on the main port: checks Host and Origin, then hands over by the beginning of the path.

Binding to loopback is not enough: a page in the user's browser can reach it too, by rebinding a name (so the Host
must be a loopback address) or by posting a form (so an Origin, where there is one, must be ours).
"""

from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class Front:
    """Dispatches to the faces. `faces`: beginning of a path to the face; the first that fits is taken."""

    def __init__(self, faces: list[tuple[str, ASGIApp]]) -> None:
        self._faces = faces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one call."""
        if scope["type"] != "http":
            return
        complaint = _complaint(Request(scope))
        if complaint:
            await JSONResponse({"error": complaint, "message": complaint}, 403)(scope, receive, send)
            return
        path: str = scope["path"]
        face = next(app for start, app in self._faces if path.startswith(start))
        await face(scope, receive, send)


def _complaint(request: Request) -> str | None:
    host = urlsplit(f"//{request.headers.get('host', '')}")
    if host.hostname not in LOOPBACK:
        return "This GitHub answers only on a loopback address; use the address it printed."
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != host.netloc:
        return "A request from another site is refused; open the page itself."
    return None
