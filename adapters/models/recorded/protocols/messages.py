"""The Messages protocol: content blocks, and a stream that opens and closes each of them."""

from collections.abc import Iterator

from pydantic import JsonValue

from adapters.models.recorded.answer import Answer, Call, Problem, as_object, pieces
from adapters.models.recorded.asked import Asked, By, Said
from adapters.models.recorded.protocols.base import Json, Lenient, Protocol, digest_of, parse, server_sent, text_of

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class _Block(Lenient):
    type: str = "text"
    text: str = ""
    id: str = ""
    tool_use_id: str = ""
    content: JsonValue = None


class _Message(Lenient):
    role: str
    content: str | list[_Block]

    def said(self) -> Iterator[Said]:
        """Results of tools stand among what the user says."""
        by = {"assistant": By.MODEL, "system": By.SYSTEM}.get(self.role, By.USER)
        if isinstance(self.content, str):
            yield Said(by=by, text=self.content)
            return
        for block in self.content:
            if block.type == "tool_result":
                yield Said(by=By.TOOL, text=text_of(block.content), calls=(block.tool_use_id,))
            else:
                yield Said(by=by, text=block.text, calls=(block.id,) if block.type == "tool_use" else ())


class _Tool(Lenient):
    name: str


class _Request(Lenient):
    model: str
    messages: list[_Message]
    system: JsonValue = None
    stream: bool | None = None
    tools: list[_Tool] | None = None


class Messages(Protocol):
    """POST /v1/messages."""

    style = "toolu"

    def read(self, body: bytes) -> Asked:
        """A request; one that counts tokens is the same without an answer."""
        raw = parse(body)
        request = _Request.model_validate(raw)
        said = [one for message in request.messages for one in message.said()]
        return Asked(
            model=request.model,
            stream=bool(request.stream),
            said=(Said(by=By.SYSTEM, text=text_of(request.system)), *said),
            digest=digest_of(raw, "system", "messages"),
            tools=frozenset(tool.name for tool in request.tools or []),
        )

    def whole(self, answer: Answer) -> Json:
        """A message."""
        content: list[Json] = [{"type": "text", "text": answer.text}] if answer.text else []
        content += [_tool_use(call, as_object(call.arguments)) for call in answer.calls]
        return _message(answer, content) | _stop(answer)

    def events(self, answer: Answer) -> Iterator[bytes]:
        """From `message_start` to `message_stop`."""
        nothing_yet = {"stop_reason": None, "stop_sequence": None}
        yield _event("message_start", message=_message(answer, [], output=1) | nothing_yet)
        yield _event("ping")
        index = 0
        if answer.text:
            yield from _text_block(answer.text)
            index = 1
        for place, call in enumerate(answer.calls, start=index):
            yield from _call_block(place, call)
        yield _event("message_delta", delta=_stop(answer), usage={"output_tokens": answer.usage.output})
        yield _event("message_stop")

    def error(self, problem: Problem) -> Json:
        """The body of an error."""
        kind = _KINDS.get(problem.status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": problem.message}, "request_id": "req_recorded"}


def _event(kind: str, **data: object) -> bytes:
    return server_sent({"type": kind, **data}, kind)


def _text_block(text: str) -> Iterator[bytes]:
    yield _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    for piece in pieces(text):
        yield _event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
    yield _event("content_block_stop", index=0)


def _call_block(index: int, call: Call) -> Iterator[bytes]:
    yield _event("content_block_start", index=index, content_block=_tool_use(call, {}))
    for piece in pieces(call.arguments):
        yield _event("content_block_delta", index=index, delta={"type": "input_json_delta", "partial_json": piece})
    yield _event("content_block_stop", index=index)


def _tool_use(call: Call, arguments: Json) -> Json:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}


def _message(answer: Answer, content: list[Json], output: int | None = None) -> Json:
    used = answer.usage
    return {
        "id": f"msg_{answer.seed[:24]}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": content,
        "usage": {
            # Here, unlike in the other protocols, what came from a cache is not part of the input.
            "input_tokens": used.input - min(used.cached, used.input),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": used.cached,
            "output_tokens": used.output if output is None else output,
        },
    }


def _stop(answer: Answer) -> Json:
    reason = "refusal" if answer.is_refusal else "tool_use" if answer.calls else "end_turn"
    return {"stop_reason": reason, "stop_sequence": None}
