"""What the agent talks to: a handful of paths, each answered by the model or by one sentence."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import httpx
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from adapters.models.proxy_meter import Meter, UsedUp
from adapters.models.proxy_request import BODY_BYTES, Unfit, fitted
from adapters.models.proxy_upstream import FREE, PATHS, Upstream, passed_back
from adapters.models.proxy_usage import UsageReader, at_most

_ROOT = "/v1"
_AT_ONCE = 8
_ANSWER_BYTES = 64 << 20
_ERROR_BYTES = 64 << 10
_MOST_REQUESTS = 5000
_MAX_REFUSED, _REFUSED_LENGTH = 20, 200
_KEY_REFUSED = "The model's provider refused the operator's key ({status}); set another one in SWEEPER_MODEL_KEY"
_AWAY = "The model at {host} did not answer ({error}); look at SWEEPER_MODEL_URL, or try again in a while"
_FAILS = "The model at {host} answers with {status}; look at what its provider says of it, or try again in a while"
_REDIRECTS = "The model at {host} answers with a redirect, and a key follows none; set SWEEPER_MODEL_URL to where it is"


class Declined(Exception):
    """An answer of ours instead of the model's."""

    def __init__(self, status: int, sentence: str, refused: str = "") -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.refused = refused


class _Passing(StreamingResponse):
    """An answer that breaks off outside is left without its end, so the server cuts it and the agent sees that."""

    async def stream_response(self, send: Send) -> None:
        with contextlib.suppress(httpx.HTTPError):
            await super().stream_response(send)


@dataclass
class ProxyApp:
    """One door's application. What it keeps is in memory alone: what was spent, what was refused, what went wrong."""

    upstream: Upstream
    client: httpx.AsyncClient
    meter: Meter
    refused: list[str] = field(default_factory=list)
    trouble: str | None = None
    is_used_up: bool = False
    _requests: int = 0
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    _at_once: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI says. Whatever the agent does ends in an answer."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        async with self._at_once:
            try:
                answer = await self._answered(request)
                if answer is not None:
                    await answer(scope, receive, send)
            finally:
                self.meter.over(request)

    async def _answered(self, request: Request) -> Response | None:
        try:
            return await self._answer(request)
        except Declined as declined:
            self._note(declined.refused)
            return self._error(declined)
        except ClientDisconnect:
            return None

    async def _answer(self, request: Request) -> Response:
        self._requests += 1
        if self._requests > _MOST_REQUESTS:
            raise Declined(429, "This try has asked too often; end here with what is done")
        path = self._path(request)
        if path == "/models" or path.startswith("/models/"):
            return JSONResponse(self._models() if path == "/models" else self._one_model())
        async with self._reading:  # one at a time: a question may be large, and larger while it is looked at
            body = self._fitted(await _body(request), path)
        if path not in FREE:
            await self._begin(request, body)
        return await self._forward(request, path, body)

    def _fitted(self, body: bytes, path: str) -> bytes:
        try:
            return fitted(body, self.upstream.model, path)
        except Unfit as unfit:
            raise Declined(400, str(unfit)) from None

    def _path(self, request: Request) -> str:
        whole: str = request.scope["path"]  # that of `request.url` is what the agent's `Host` makes of it
        path = whole.removeprefix(_ROOT)
        is_model = path == "/models" or path.startswith("/models/")
        known = is_model or path in PATHS[self.upstream.provider]
        if not whole.startswith(f"{_ROOT}/") or not known:
            raise Declined(404, "Only the configured model is here", f"{request.method} {whole}")
        if request.method != ("GET" if is_model else "POST"):
            raise Declined(405, "This is not asked for in that way", f"{request.method} {whole}")
        return path

    async def _begin(self, request: Request, body: bytes) -> None:
        try:
            await self.meter.begin(request, at_most(body))
        except UsedUp as used_up:
            self.trouble, self.is_used_up = str(used_up), True
            raise Declined(429, f"{used_up}; end here with what is done") from None

    async def _forward(self, request: Request, path: str, body: bytes) -> Response:
        asked = self.client.build_request(
            "POST", self.upstream.url(path), content=body, headers=self.upstream.headers(request.headers)
        )
        if path.startswith("/messages") and request.query_params.get("beta") == "true":
            asked.url = asked.url.copy_with(params={"beta": "true"})
        try:
            answer = await self.client.send(asked, stream=True)
        except httpx.HTTPError as error:
            raise self._failed(502, _AWAY.format(host=asked.url.host, error=type(error).__name__)) from None
        if answer.is_success:
            self.trouble = self.trouble if self.is_used_up else None
            return self._streamed(answer, len(body), counts=path not in FREE)
        async with contextlib.aclosing(answer):
            return await self._failure(answer)

    def _streamed(self, answer: httpx.Response, asked: int, *, counts: bool) -> Response:
        kind = answer.headers.get("content-type", "")
        reader = UsageReader(is_stream=kind.startswith("text/event-stream"))

        async def passing() -> AsyncIterator[bytes]:
            size, is_whole = 0, False
            try:
                async for chunk in answer.aiter_bytes():
                    size += len(chunk)
                    if size > _ANSWER_BYTES:
                        self._note("an answer without end")
                        break
                    reader.feed(chunk)
                    yield chunk
                else:
                    is_whole = True
            except httpx.HTTPError as error:
                self.trouble = _AWAY.format(host=answer.url.host, error=type(error).__name__)
                raise
            finally:
                if counts:
                    self.meter.add(reader.end(asked, is_whole=is_whole))
                await answer.aclose()

        return _Passing(passing(), answer.status_code, passed_back(answer))

    async def _failure(self, answer: httpx.Response) -> Response:
        """The provider's own words, for agents that know what to do about them; not those on a refused key."""
        if answer.status_code in (401, 403):
            raise self._failed(answer.status_code, _KEY_REFUSED.format(status=answer.status_code))
        if answer.status_code < 400:
            raise self._failed(502, _REDIRECTS.format(host=answer.url.host))
        said = bytearray()
        try:
            async for chunk in answer.aiter_bytes():
                said += chunk[: _ERROR_BYTES - len(said)]
                if len(said) >= _ERROR_BYTES:
                    break
        except httpx.HTTPError as error:
            raise self._failed(502, _AWAY.format(host=answer.url.host, error=type(error).__name__)) from None
        if answer.status_code >= 500 or answer.status_code == 429:
            self.trouble = _FAILS.format(host=answer.url.host, status=answer.status_code)
        if (key := self.upstream.key) is not None and (secret := key.get_secret_value().encode()):
            said = said.replace(secret, b"[key]")
        return Response(bytes(said), answer.status_code, passed_back(answer))

    def _failed(self, status: int, sentence: str) -> Declined:
        self.trouble = sentence
        return Declined(status, sentence)

    def _error(self, declined: Declined) -> Response:
        """In the provider's shape. No client is to try again by itself what was declined on purpose."""
        error = {"type": "invalid_request_error", "message": declined.sentence}
        if self.upstream.provider == "anthropic":
            content: dict[str, object] = {"type": "error", "error": error}
        else:
            content = {"error": {**error, "param": None, "code": None}}
        return JSONResponse(content, declined.status, {"x-should-retry": "false"})

    def _one_model(self) -> dict[str, object]:
        name = self.upstream.model
        own: dict[str, object] = {"type": "model", "display_name": name, "created_at": "1970-01-01T00:00:00Z"}
        return {"id": name, "object": "model", "created": 0, "owned_by": "operator", **own}

    def _models(self) -> dict[str, object]:
        return {"object": "list", "data": [self._one_model()], "has_more": False}

    def _note(self, what: str) -> None:
        text = "".join(char for char in what[:_REFUSED_LENGTH] if char.isprintable())
        if text and text not in self.refused and len(self.refused) < _MAX_REFUSED:
            self.refused.append(text)


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_BYTES:
            raise Declined(413, f"A request may have {BODY_BYTES >> 20} MiB at most")
    return bytes(body)
