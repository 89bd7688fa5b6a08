"""A receiver of webhooks: keeps every delivery as it came, and lets a test wait for one."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from pydantic import JsonValue
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from adapters.loopback.sockets import listener
from adapters.serving import loopback_socket


@dataclass(frozen=True)
class Received:
    """One delivery."""

    headers: dict[str, str]
    raw: bytes

    @property
    def event(self) -> str:
        return self.headers["x-github-event"]

    @property
    def guid(self) -> str:
        return self.headers["x-github-delivery"]

    @property
    def body(self) -> dict[str, JsonValue]:
        parsed: dict[str, JsonValue] = json.loads(self.raw)
        return parsed

    @property
    def name(self) -> str:
        """`event.action`, or the event alone."""
        action = self.body.get("action")
        return f"{self.event}.{action}" if action else self.event


@dataclass
class HookReceiver:
    """Answers `status`; `url` is where it listens."""

    url: str = ""
    status: int = 202
    received: list[Received] = field(default_factory=list)
    _came: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        raw = await request.body()
        async with self._came:
            self.received.append(Received(dict(request.headers), raw))
            self._came.notify_all()
        await Response(status_code=self.status)(scope, receive, send)

    def names(self) -> list[str]:
        return [one.name for one in self.received]

    async def until(self, happened: Callable[[list[Received]], bool]) -> list[Received]:
        """Wait until what came fits."""
        async with self._came:
            await asyncio.wait_for(self._came.wait_for(lambda: happened(self.received)), 20)
        return self.received

    async def count(self, name: str, times: int = 1) -> list[Received]:
        """Wait until `name` came that often; the answer is those."""
        await self.until(lambda received: sum(one.name == name for one in received) >= times)
        return [one for one in self.received if one.name == name]


@asynccontextmanager
async def receiving_hooks() -> AsyncIterator[HookReceiver]:
    """A receiver on a free port."""
    receiver = HookReceiver()
    with loopback_socket(0) as sock:
        receiver.url = f"http://127.0.0.1:{sock.getsockname()[1]}/hook"
        server = listener(receiver)
        serving = asyncio.create_task(server.serve([sock]))
        await server.until_listening(serving)
        try:
            yield receiver
        finally:
            server.should_exit = True
            await serving
