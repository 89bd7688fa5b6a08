"""A provider of models on loopback that answers as it is told and remembers what it was asked."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from adapters.web.listener import Listener, bind_tcp

SSE = "text/event-stream"


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    path: str
    query: str
    headers: Mapping[str, str]
    body: dict[str, Any]


@dataclass
class Provider:
    """Set `answer` for JSON, `events` for a stream of events; `pause` holds a stream up after its first event.

    `recovers_after`: so many requests, after which the status is 200.
    """

    answer: Mapping[str, Any] = field(default_factory=dict)
    events: Sequence[Mapping[str, Any]] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pause: asyncio.Event | None = None
    cuts: bool = False
    recovers_after: int | None = None
    seen: list[Seen] = field(default_factory=list)
    url: str = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI says."""
        request = Request(scope, receive)
        body = await request.body()
        self.seen.append(
            Seen(request.url.path, request.url.query, dict(request.headers), json.loads(body) if body else {})
        )
        if self.recovers_after is not None and len(self.seen) > self.recovers_after:
            self.status = 200
        if self.events:
            answer: Response = StreamingResponse(self._stream(), self.status, dict(self.headers), SSE)
        else:
            answer = Response(json.dumps(self.answer), self.status, dict(self.headers), "application/json")
        await answer(scope, receive, send)

    async def _stream(self) -> AsyncIterator[bytes]:
        for n, event in enumerate(self.events):
            if n == 1 and self.pause is not None:
                await self.pause.wait()
            yield f"event: {event.get('type', 'message')}\ndata: {json.dumps(event)}\n\n".encode()
        if self.cuts:
            raise ConnectionError("the provider breaks off")


@asynccontextmanager
async def provider_on_loopback(provider: Provider) -> AsyncIterator[Provider]:
    """It answers at `provider.url`."""
    async with Listener(provider, bind_tcp("127.0.0.1", 0, "TEST")) as listener:
        provider.url = listener.url
        yield provider
