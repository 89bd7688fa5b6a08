"""Every REST and git call passes here: faults before and after the effect, one turn of the store, the ledger.

The order is what crash tests stand on: effect, document saved, ledger line written, and only then an answer, which
a fault may hold, spoil or cut. A client that is killed while its answer is held changes nothing.
"""

import asyncio
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Receive, Scope, Send

from adapters.loopback.answer import Answer, catch, read_body
from adapters.loopback.drive.answers import LedgerCall
from adapters.loopback.drive.requests import FaultRule
from adapters.loopback.faults import spoilt
from adapters.loopback.hub import Hub
from adapters.loopback.turns import in_turn

NOTES = "loopback.notes"
TRANSPORT = "loopback.transport"


@dataclass
class Notes:
    """What a handler tells the ledger about its call: effects as (name, key), and whether nobody knows the call."""

    effects: list[tuple[str, str]] = field(default_factory=list)
    unknown: bool = False


class Recorder:
    """ASGI middleware around the REST face and the git door (which takes turns by itself, for pushes only)."""

    def __init__(self, app: ASGIApp, hub: Hub, takes_turns: bool = True) -> None:
        self._app = app
        self._hub = hub
        self._takes_turns = takes_turns
        self._before_last_write = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one call."""
        body = await read_body(receive)
        call = _Call(scope, body)
        rule = self._hub.faults.pick(call.method, call.path, call.query)
        answer = await self._before(rule, call) if rule and rule.when == "before" else None
        if answer is None:
            stale = rule is not None and rule.kind == "stale_read"
            answer = await (self._perform_stale(call) if stale else self._perform(call))
            if rule and rule.when == "after":
                answer = spoilt(rule) or answer
        self._write(call, 0 if rule and rule.kind in ("reset", "truncate") else answer.status, rule)
        await self._give(answer, rule, (scope, send))

    async def _before(self, rule: FaultRule, call: "_Call") -> Answer | None:
        """An answer instead of the call; None to go on with it."""
        if rule.kind == "hold":
            self._write(call, 0, rule)
            await self._hub.faults.held()
        elif rule.kind == "slow":
            await asyncio.sleep(rule.seconds)
        return Answer() if rule.kind in ("reset", "truncate") else spoilt(rule)

    async def _perform_stale(self, call: "_Call") -> Answer:
        """A read that lags behind, as GitHub's lists do: it sees the world before the last write."""
        if call.method != "GET" or not (self._takes_turns and self._before_last_write):
            return await self._perform(call)
        async with self._hub.store.as_of(self._before_last_write):
            return await catch(self._app, call.scope, call.body)

    async def _perform(self, call: "_Call") -> Answer:
        before = self._hub.store.snapshot()
        if self._takes_turns:
            answer = await in_turn(self._hub, self._app, call.scope, call.body)
        else:
            answer = await catch(self._app, call.scope, call.body)
            self._hub.wake()
        if answer.status >= 400:
            call.notes.effects.clear()
        if call.notes.effects:
            self._before_last_write = before
        return answer

    def _write(self, call: "_Call", status: int, rule: FaultRule | None) -> None:
        lines: list[tuple[str | None, str | None]] = [*call.notes.effects]
        for effect, key in lines or [(None, None)]:
            self._hub.ledger.append(
                LedgerCall(
                    method=call.method,
                    path=call.path,
                    query=call.query,
                    client=call.client,
                    status=status,
                    effect=effect,
                    key=key,
                    fault=rule.kind if rule else None,
                    unknown=call.notes.unknown,
                )
            )

    async def _give(self, answer: Answer, rule: FaultRule | None, to: tuple[Scope, Send]) -> None:
        scope, send = to
        kind = rule.kind if rule else None
        if rule and kind == "hold" and rule.when == "after":
            await self._hub.faults.held()
        elif rule and kind == "slow" and rule.when == "after":
            await asyncio.sleep(rule.seconds)
        if kind == "reset":
            scope["extensions"][TRANSPORT].reset()
        elif kind == "truncate":
            await _cut(answer, scope, send)
        else:
            await answer.send(send)


class _Call:
    def __init__(self, scope: Scope, body: bytes) -> None:
        self.scope, self.body = scope, body
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query: str = scope["query_string"].decode(errors="replace")
        headers = dict(scope["headers"])
        self.client = headers.get(b"user-agent", b"").decode(errors="replace")
        self.notes = Notes()
        scope[NOTES] = self.notes


async def _cut(answer: Answer, scope: Scope, send: Send) -> None:
    """Promise a whole body, send half, hang up."""
    body = answer.body or b" " * 64
    answer.set_header(b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": answer.status or 200, "headers": answer.headers})
    await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
    scope["extensions"][TRANSPORT].hang_up()
