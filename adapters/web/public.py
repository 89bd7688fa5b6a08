"""The public face: the webhook and a health probe, and nothing else.

A webhook is checked in the order size, signature, shape, so nothing unsigned is ever parsed. Delivering one twice is
safe: intake answers `duplicate`, and a ring is just another look. GitHub gives up after 10 s and does not redeliver by
itself (GitHub, "Best practices for using webhooks"), so everything here has a bound well below that.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import SecretStr
from starlette.requests import ClientDisconnect

from sweeper import __version__, events, intake
from sweeper.errors import AuthBroken, BadInput, OutcomeUnknown, OutOfReach, RateLimited, SweeperError, Transient
from sweeper.intake import Desk, Result
from sweeper.reporting import HealthReport

MAX_BODY_BYTES = 25 * 1024 * 1024
"""GitHub caps its payloads at 25 MB, so anything larger is not from there."""

RETRY_AFTER_SECONDS = 30
_COME_AGAIN = (OutOfReach, Transient, OutcomeUnknown, RateLimited, AuthBroken)
_ACTED = frozenset({Result.STARTED, Result.DELIVERED, Result.JOINED})
_LOG = logging.getLogger("sweeper.web")


@dataclass(frozen=True)
class Gate:
    """What the public face works with. Seconds: reading and acting together stay below GitHub's ten."""

    desk: Desk
    secrets: Sequence[SecretStr]
    health: Callable[[], Awaitable[HealthReport]]
    patience: float = 5.0
    reading_patience: float = 4.0


def build_public(gate: Gate) -> FastAPI:
    """POST /webhooks/github and GET /healthz; every other address is unknown here."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)

    @app.post("/webhooks/github")
    async def webhook(request: Request) -> JSONResponse:
        reply = await _receive(request, gate)
        _log(request, reply)
        return JSONResponse(reply.document, reply.status, reply.headers)

    @app.get("/healthz")
    async def healthz() -> JSONResponse:
        return health_response(await _ask_health(gate))

    return app


@dataclass(frozen=True)
class _Reply:
    status: int
    document: dict[str, str | None]
    headers: dict[str, str] | None = None


def _refusal(status: int, sentence: str, headers: dict[str, str] | None = None) -> _Reply:
    return _Reply(status, {"error": sentence}, headers)


async def _receive(request: Request, gate: Gate) -> _Reply:
    try:
        async with asyncio.timeout(gate.reading_patience):
            body = await _read_capped(request)
    except TimeoutError:
        return _refusal(408, "The body came too slowly; send it again.")
    except ClientDisconnect:
        return _refusal(400, "The body broke off; send it again.")
    if body is None:
        return _refusal(413, "The body is above 25 MB; GitHub sends nothing that large.")
    if not events.verify(body, request.headers.get("x-hub-signature-256"), gate.secrets):
        return _refusal(401, "The signature fits none of our secrets; give the webhook one of them.")
    try:
        event = events.parse(request.headers, body)
    except BadInput as error:
        return _refusal(400, str(error))
    return await _act(event, gate)


async def _read_capped(request: Request) -> bytes | None:
    """The body; None if it is too large.

    Up to twice the cap the rest is read and thrown away: a client answered while it still sends often sees only a
    reset connection. Beyond that nothing is read.
    """
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > 2 * MAX_BODY_BYTES:
        return None
    body, size = bytearray(), 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= MAX_BODY_BYTES:
            body += chunk
        elif size > 2 * MAX_BODY_BYTES:
            break
    return bytes(body) if size <= MAX_BODY_BYTES else None


async def _act(event: events.Event, gate: Gate) -> _Reply:
    try:
        async with asyncio.timeout(gate.patience):
            answer = await intake.handle(event, gate.desk)
    except (*_COME_AGAIN, TimeoutError) as error:
        sentence = str(error) or "Temporal or GitHub took too long to answer; deliver the event again."
        return _refusal(503, sentence, {"Retry-After": str(RETRY_AFTER_SECONDS)})
    return _Reply(202 if answer.result in _ACTED else 200, answer.model_dump(mode="json"))


async def _ask_health(gate: Gate) -> HealthReport:
    try:
        async with asyncio.timeout(gate.patience):
            return await gate.health()
    except (SweeperError, TimeoutError):
        return HealthReport(temporal=False, worker=False, version=__version__, ready=False)


def health_response(report: HealthReport) -> JSONResponse:
    """200 once all that was started is ready, 503 before."""
    return JSONResponse(report.model_dump(mode="json"), 200 if report.ready else 503)


def _log(request: Request, reply: _Reply) -> None:
    """Which delivery came and what became of it; nothing of its body."""
    _LOG.info(
        "webhook delivery=%s event=%s status=%d result=%s workflow=%s",
        _word(request.headers.get("x-github-delivery")),
        _word(request.headers.get("x-github-event")),
        reply.status,
        reply.document.get("result") or "refused",
        reply.document.get("workflow_id") or "-",
    )


def _word(header: str | None) -> str:
    """A header of a stranger, fit for a log line."""
    return re.sub(r"[^\w.-]", "", header or "")[:64] or "-"
