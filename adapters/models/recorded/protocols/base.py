"""What every protocol does, and what they have in common."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter

from adapters.models.recorded.answer import Answer, Problem
from adapters.models.recorded.asked import Asked

Json = dict[str, object]
_BODY = TypeAdapter(dict[str, JsonValue])


class Protocol(ABC):
    """Stateless, so that a repeated request is worded as before."""

    style: ClassVar[str]
    """How the ids of calls begin."""

    @abstractmethod
    def read(self, body: bytes) -> Asked:
        """A request. Raises pydantic's ValidationError for what is none."""

    @abstractmethod
    def whole(self, answer: Answer) -> Json:
        """The answer in one piece."""

    @abstractmethod
    def events(self, answer: Answer) -> Iterator[bytes]:
        """The answer as server-sent events."""

    @abstractmethod
    def error(self, problem: Problem) -> Json:
        """The body of an error."""


class Lenient(BaseModel):
    """A part of a request: clients send far more than what decides about an answer."""

    model_config = ConfigDict(extra="ignore", frozen=True)


def parse(body: bytes) -> dict[str, JsonValue]:
    """A request's JSON object. Raises ValidationError."""
    return _BODY.validate_json(body)


def digest_of(raw: Mapping[str, JsonValue], *conversation: str) -> str:
    """SHA-256 of those fields, as hexadecimal digits."""
    kept = {name: raw.get(name) for name in conversation}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def text_of(content: JsonValue) -> str:
    """All text of a content: a string, a part that has some, or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text for one in content if (text := text_of(one)))
    if isinstance(content, dict):
        return next((text for key in ("text", "refusal", "content") if (text := text_of(content.get(key)))), "")
    return ""


def server_sent(data: object, event: str | None = None) -> bytes:
    """One event of a stream, as the WHATWG HTML standard frames it."""
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {json.dumps(data)}\n\n".encode()


def plain_error(problem: Problem) -> Json:
    """The error body that chat completions and responses share."""
    kinds = {429: "requests", 500: "server_error", 503: "server_error", 529: "server_error"}
    kind = kinds.get(problem.status, "invalid_request_error")
    return {"error": {"message": problem.message, "type": kind, "param": None, "code": problem.kind}}
