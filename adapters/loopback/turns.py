"""One turn of the store around a call: reading calls see whole turns, failed ones leave no trace."""

from starlette.types import ASGIApp, Receive, Scope, Send

from adapters.loopback.answer import Answer, catch, read_body
from adapters.loopback.hub import Hub

_SAFE = ("GET", "HEAD", "OPTIONS")


async def in_turn(hub: Hub, app: ASGIApp, scope: Scope, body: bytes) -> Answer:
    """The application's answer; the document is saved (or put back) and the sender woken before it is given."""
    if scope["method"] in _SAFE:
        async with hub.store.between_turns():
            return await catch(app, scope, body)
    async with hub.store.turn() as turn:
        answer = await catch(app, scope, body)
        if answer.status >= 400:
            turn.fail()
    hub.wake()
    return answer


class Turns:
    """ASGI middleware: each call is a turn."""

    def __init__(self, app: ASGIApp, hub: Hub) -> None:
        self._app = app
        self._hub = hub

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one call."""
        answer = await in_turn(self._hub, self._app, scope, await read_body(receive))
        await answer.send(send)


class ReadAsJson:
    """ASGI middleware: every body is JSON, whatever the caller says it is, as GitHub does."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one call."""
        headers = [pair for pair in scope["headers"] if pair[0] != b"content-type"]
        scope = {**scope, "headers": [*headers, (b"content-type", b"application/json")]}
        await self._app(scope, receive, send)
