"""Chat completions, as OpenAI's API reference has them; most other servers of models speak it too."""

from collections.abc import Iterator

from pydantic import JsonValue

from adapters.models.recorded.answer import CREATED, Answer, Call, Problem, pieces
from adapters.models.recorded.asked import Asked, By, Said
from adapters.models.recorded.protocols.base import (
    Json,
    Lenient,
    Protocol,
    digest_of,
    parse,
    plain_error,
    server_sent,
    text_of,
)

_ROLES = {"system": By.SYSTEM, "developer": By.SYSTEM, "user": By.USER, "assistant": By.MODEL, "tool": By.TOOL}


class _Call(Lenient):
    id: str


class _Message(Lenient):
    role: str
    content: JsonValue = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str | None = None

    def said(self) -> Said:
        calls = [call.id for call in self.tool_calls or []] + ([self.tool_call_id] if self.tool_call_id else [])
        return Said(by=_ROLES.get(self.role, By.USER), text=text_of(self.content), calls=tuple(calls))


class _Named(Lenient):
    name: str


class _Tool(Lenient):
    function: _Named | None = None
    custom: _Named | None = None


class _Options(Lenient):
    include_usage: bool = False


class _Request(Lenient):
    model: str
    messages: list[_Message]
    stream: bool | None = None
    stream_options: _Options | None = None
    tools: list[_Tool] | None = None


class ChatCompletions(Protocol):
    """POST /v1/chat/completions."""

    style = "call"

    def read(self, body: bytes) -> Asked:
        """A request."""
        raw = parse(body)
        request = _Request.model_validate(raw)
        return Asked(
            model=request.model,
            stream=bool(request.stream),
            wants_usage=request.stream_options is not None and request.stream_options.include_usage,
            said=tuple(message.said() for message in request.messages),
            digest=digest_of(raw, "messages"),
            tools=frozenset(one.name for tool in request.tools or [] if (one := tool.function or tool.custom)),
        )

    def whole(self, answer: Answer) -> Json:
        """A chat completion."""
        message: Json = {"role": "assistant", "content": answer.text or None, "refusal": None}
        if answer.is_refusal:
            message |= {"content": None, "refusal": answer.text}
        if answer.calls:
            message["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in answer.calls
            ]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(answer)}
        return _head(answer, "chat.completion") | {"choices": [choice], "usage": _usage(answer)}

    def events(self, answer: Answer) -> Iterator[bytes]:
        """Chunks, the usage last if the client wants it, and the end mark."""
        head = _head(answer, "chat.completion.chunk")
        for delta in _deltas(answer):
            yield server_sent(head | {"choices": [_choice(delta, None)]})
        yield server_sent(head | {"choices": [_choice({}, _finish(answer))]})
        if answer.tells_usage:
            yield server_sent(head | {"choices": [], "usage": _usage(answer)})
        yield b"data: [DONE]\n\n"

    def error(self, problem: Problem) -> Json:
        """The body of an error."""
        return plain_error(problem)


def _deltas(answer: Answer) -> Iterator[Json]:
    yield {"role": "assistant", "content": None if answer.is_refusal else "", "refusal": None}
    for piece in pieces(answer.text):
        yield {"refusal" if answer.is_refusal else "content": piece}
    for index, call in enumerate(answer.calls):
        yield _call_delta(index, call)
        for piece in pieces(call.arguments):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _call_delta(index: int, call: Call) -> Json:
    function = {"name": call.name, "arguments": ""}
    return {"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]}


def _choice(delta: Json, finish: str | None) -> Json:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}


def _finish(answer: Answer) -> str:
    return "tool_calls" if answer.calls else "stop"


def _head(answer: Answer, kind: str) -> Json:
    return {"id": f"chatcmpl-{answer.seed[:24]}", "object": kind, "created": CREATED, "model": answer.model}


def _usage(answer: Answer) -> Json:
    used = answer.usage
    return {
        "prompt_tokens": used.input,
        "completion_tokens": used.output,
        "total_tokens": used.input + used.output,
        "prompt_tokens_details": {"cached_tokens": used.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }
