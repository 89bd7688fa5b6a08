"""Takes a request, finds its answer and keeps the books."""

import hmac
from collections.abc import Mapping
from functools import partial

from pydantic import ValidationError
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from adapters.models.recorded.answer import CREATED, Problem
from adapters.models.recorded.asked import Asked, unanswered
from adapters.models.recorded.choosing import answer, choose, estimate
from adapters.models.recorded.complaint import complaint
from adapters.models.recorded.delivery import Delivery, Parcel, as_json
from adapters.models.recorded.faults import FaultKind, FaultRule, Faults
from adapters.models.recorded.ledger import Entry, KeyShown, Ledger
from adapters.models.recorded.protocols import PROTOCOLS, Protocol
from adapters.models.recorded.script import Script
from adapters.models.recorded.spoiling import problem, spoil

_COUNT = "/v1/messages/count_tokens"
_NO_KEY = Problem(status=401, kind="invalid_api_key", message="The key is missing or wrong.")
_NONSENSE = b"<!doctype html><title>It works</title>\xff\xfe{{{"
_NONSENSE_EVENT = b"event: message_start\ndata: {{{ It works\n\n"


class Desk:
    """The ASGI face of the models."""

    def __init__(self, script: Script, key: str, faults: Faults, ledger: Ledger) -> None:
        self._script = script
        self._key = key.encode()
        self._faults = faults
        self._ledger = ledger

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. A request is in the ledger before anything is done about it."""
        request = Request(scope, receive)
        body = await request.body()
        entry = Entry(method=request.method, path=request.url.path, key=self._shown(request.headers))
        protocol = PROTOCOLS.get(entry.path)
        if protocol is None or request.method != "POST":
            delivery = self._deliver(entry, self._other(entry, body))
        else:
            delivery = self._model_call(entry, protocol, body)
        await delivery.run(receive, send)

    def _shown(self, headers: Mapping[str, str]) -> KeyShown:
        bearer = headers.get("authorization", "").removeprefix("Bearer ").strip()
        shown = headers.get("x-api-key", "") or bearer
        if not shown:
            return KeyShown.MISSING
        return KeyShown.EXPECTED if hmac.compare_digest(shown.encode(), self._key) else KeyShown.OTHER

    def _model_call(self, entry: Entry, protocol: Protocol, body: bytes) -> Delivery:
        if entry.key is not KeyShown.EXPECTED:
            return self._refuse(entry, protocol, _NO_KEY)
        try:
            asked = protocol.read(body)
        except ValidationError as error:
            return self._refuse(entry, protocol, _malformed(complaint(error)))
        entry = entry.model_copy(
            update={"model": asked.model, "stream": asked.stream, "messages": len(asked.said), "digest": asked.digest}
        )
        if wrong := unanswered(asked.said):
            return self._refuse(entry, protocol, _malformed(wrong))
        return self._answer(entry, protocol, asked)

    def _answer(self, entry: Entry, protocol: Protocol, asked: Asked) -> Delivery:
        chosen = choose(self._script, asked)
        rule = self._faults.pick(chosen.position, asked.prompt)
        entry = entry.model_copy(update={"turn": chosen.name, "fault": rule and rule.kind})
        if rule and (wrong := problem(rule)):
            return self._refuse(entry, protocol, wrong)
        said = answer(chosen, asked, protocol.style)
        if rule:
            said = spoil(said, rule, chosen, protocol.style)
        if asked.stream:
            pieces = tuple(protocol.events(said))
            parcel = Parcel(status=200, headers={"content-type": "text/event-stream; charset=utf-8"}, body=pieces)
        else:
            parcel = as_json(200, protocol.whole(said))
        if rule and rule.kind is FaultKind.NONSENSE:
            parcel = parcel.model_copy(update={"body": (_NONSENSE_EVENT if asked.stream else _NONSENSE,)})
        return self._deliver(entry, parcel, rule)

    def _refuse(self, entry: Entry, protocol: Protocol, wrong: Problem) -> Delivery:
        headers = {} if wrong.retry_after is None else {"retry-after": f"{wrong.retry_after:g}"}
        return self._deliver(entry, as_json(wrong.status, protocol.error(wrong), headers))

    def _other(self, entry: Entry, body: bytes) -> Parcel:
        protocol = PROTOCOLS["/v1/messages"]
        if entry.key is not KeyShown.EXPECTED and entry.path.startswith("/v1/"):
            return as_json(401, protocol.error(_NO_KEY))
        if entry.path == _COUNT and entry.method == "POST":
            try:
                return as_json(200, {"input_tokens": estimate(protocol.read(body).size)})
            except ValidationError as error:
                return as_json(400, protocol.error(_malformed(complaint(error))))
        if entry.path == "/v1/models" and entry.method == "GET":
            return as_json(200, self._models())
        return as_json(404, protocol.error(Problem(status=404, kind="not_found", message="Not Found")))

    def _models(self) -> dict[str, object]:
        """In one shape that both kinds of clients read."""
        names = self._script.models
        common: dict[str, object] = {"object": "model", "created": CREATED, "owned_by": "recorded", "type": "model"}
        common["created_at"] = "2026-01-01T00:00:00Z"
        listed = [{"id": name, "display_name": name, **common} for name in names]
        first, last = (names[0], names[-1]) if names else (None, None)
        return {"object": "list", "data": listed, "has_more": False, "first_id": first, "last_id": last}

    def _deliver(self, entry: Entry, parcel: Parcel, rule: FaultRule | None = None) -> Delivery:
        opened = self._ledger.open(entry.model_copy(update={"status": parcel.status}))
        named = parcel.headers | {"x-request-id": f"req_{opened.n}", "request-id": f"req_{opened.n}"}
        ended = partial(self._ledger.end, opened)
        return Delivery(parcel.model_copy(update={"headers": named}), rule, self._faults, ended)


def _malformed(what: str) -> Problem:
    return Problem(status=400, kind="invalid_request", message=what)
