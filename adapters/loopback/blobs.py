"""The second listener: job logs, under signed links that live for a minute.

In reality it is another host (a storage service): it takes the signature and refuses a token. So the link is a
secret for as long as it lives, and a client must not send its Authorization header there.
"""

import hashlib
import hmac
from datetime import timedelta

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from adapters.loopback.core.store import Store

LINK_LIFE = timedelta(seconds=60)


class Links:
    """Signs links to logs and checks them."""

    def __init__(self, store: Store, base: str, key: bytes) -> None:
        self._store = store
        self._base = base
        self._key = key

    def address(self, job_id: int) -> str:
        """A link to a job's log, good for a minute of GitHub's clock."""
        until = int((self._store.now() + LINK_LIFE).timestamp())
        return f"{self._base}/blob/{job_id}?se={until}&sig={self._sign(job_id, until)}"

    def _sign(self, job_id: int, until: int) -> str:
        return hmac.new(self._key, f"{job_id} {until}".encode(), hashlib.sha256).hexdigest()

    def holds(self, job_id: int, until: int, signature: str) -> bool:
        """Whether a link is ours and still lives."""
        return hmac.compare_digest(signature, self._sign(job_id, until)) and until >= self._store.now().timestamp()


class BlobFace:
    """The ASGI face of the logs."""

    def __init__(self, store: Store, links: Links) -> None:
        self._store = store
        self._links = links

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one call."""
        await self._answer(Request(scope))(scope, receive, send)

    def _answer(self, request: Request) -> Response:
        if "authorization" in request.headers:
            return PlainTextResponse("AuthenticationFailed: the link is signed, send no Authorization header.", 403)
        name = request.url.path.removeprefix("/blob/")
        until = request.query_params.get("se", "")
        if not (name.isdigit() and until.isdigit()):
            return PlainTextResponse("ResourceNotFound", 404)
        if not self._links.holds(int(name), int(until), request.query_params.get("sig", "")):
            return PlainTextResponse("AuthenticationFailed: the signature did not match or the link ran out.", 403)
        file = self._store.log_file(int(name))
        return Response(file.read_bytes() if file.exists() else b"", media_type="text/plain; charset=utf-8")
