"""Sending an answer, late, half or not at all, and knowing how that ended."""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping

from starlette.types import Message, Receive, Send

from adapters.models.recorded.faults import FaultKind, FaultRule, Faults
from adapters.models.recorded.ledger import Outcome
from sweeper.model import Strict


class Cut(Exception):
    """Ends a connection in the middle of an answer: the server closes what an application gives up on."""


class Parcel(Strict):
    """Status, headers, and the body in the pieces in which it is sent."""

    status: int
    headers: dict[str, str]
    body: tuple[bytes, ...]


class Delivery:
    """Sends one parcel as a fault wants it and tells `ended` once how it went."""

    def __init__(
        self, parcel: Parcel, rule: FaultRule | None, faults: Faults, ended: Callable[[Outcome], None]
    ) -> None:
        self._parcel = parcel
        self._rule = rule
        self._faults = faults
        self._ended = ended

    async def run(self, receive: Receive, send: Send) -> None:
        """Raises Cut, for the server to close the connection.

        The outcome is told before the last byte goes out, so whoever has it all finds it in the ledger.
        """
        outcome = Outcome.GONE
        leaving = asyncio.create_task(_until_gone(receive))
        try:
            if not await self._waited(leaving):
                return
            if self._rule and self._rule.kind is FaultKind.CUT:
                outcome = Outcome.CUT
                await self._send_half(send)
                raise Cut
            outcome = await self._send_all(send, leaving)
        finally:
            leaving.cancel()
            if outcome is not Outcome.SENT:
                self._ended(outcome)

    async def _waited(self, leaving: asyncio.Task[None]) -> bool:
        """Whether the client is still there after the wait of a fault."""
        if self._rule and self._rule.kind in (FaultKind.SLOW, FaultKind.HOLD):
            held = self._rule.kind is FaultKind.HOLD
            waiting = asyncio.ensure_future(self._faults.held() if held else asyncio.sleep(self._rule.seconds))
            await asyncio.wait((waiting, leaving), return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
        return not leaving.done()

    async def _send_all(self, send: Send, leaving: asyncio.Task[None]) -> Outcome:
        body = self._parcel.body
        await send(self._start())
        for piece in body[:-1]:
            await send(_piece(piece))
            if leaving.done():
                return Outcome.GONE
        self._ended(Outcome.SENT)
        await send(_piece(b"".join(body[-1:]), more=False))
        return Outcome.SENT

    async def _send_half(self, send: Send) -> None:
        await send(self._start())
        for piece in _half(self._parcel.body):
            await send(_piece(piece))

    def _start(self) -> Message:
        headers = [(name.encode(), value.encode()) for name, value in self._parcel.headers.items()]
        return {"type": "http.response.start", "status": self._parcel.status, "headers": headers}


def _half(body: tuple[bytes, ...]) -> Iterable[bytes]:
    if len(body) > 1:
        return body[: (len(body) + 1) // 2]
    return (body[0][: len(body[0]) // 2],)


def _piece(body: bytes, more: bool = True) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": more}


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def as_json(status: int, data: Mapping[str, object], headers: Mapping[str, str] | None = None) -> Parcel:
    """A parcel of JSON."""
    named = {"content-type": "application/json", **(headers or {})}
    return Parcel(status=status, headers=named, body=(json.dumps(data).encode(),))
