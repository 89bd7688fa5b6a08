"""The Responses protocol of OpenAI, without what it keeps on the server: each request holds its whole conversation."""

from collections.abc import Iterator
from itertools import count

from pydantic import Field, JsonValue

from adapters.models.recorded.answer import CREATED, Answer, Call, Problem, as_object, pieces
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

_ROLES = {"system": By.SYSTEM, "developer": By.SYSTEM, "assistant": By.MODEL}


class _Item(Lenient):
    type: str = "message"
    role: str = "user"
    content: JsonValue = None
    call_id: str = ""
    output: JsonValue = None

    def said(self) -> Said:
        """Whatever is neither a message nor a tool's output is the model's: calls, reasoning, references."""
        calls = (self.call_id,) if self.call_id else ()
        if self.type.endswith("_output"):
            return Said(by=By.TOOL, text=text_of(self.output), calls=calls)
        by = _ROLES.get(self.role, By.USER) if self.type == "message" else By.MODEL
        return Said(by=by, text=text_of(self.content), calls=calls)


class _Tool(Lenient):
    type: str = "function"
    name: str | None = None


class _Request(Lenient):
    model: str
    input: str | list[_Item]
    instructions: str | None = None
    stream: bool | None = None
    tools: list[_Tool] | None = None
    previous_response_id: None = Field(default=None, description="Nothing is kept that a request could go on from.")

    def said(self) -> tuple[Said, ...]:
        """Everything so far."""
        system = Said(by=By.SYSTEM, text=self.instructions or "")
        if isinstance(self.input, str):
            return (system, Said(by=By.USER, text=self.input))
        return (system, *(item.said() for item in self.input))


class Responses(Protocol):
    """POST /v1/responses."""

    style = "call"

    def read(self, body: bytes) -> Asked:
        """A request."""
        raw = parse(body)
        request = _Request.model_validate(raw)
        tools = request.tools or []
        return Asked(
            model=request.model,
            stream=bool(request.stream),
            said=request.said(),
            digest=digest_of(raw, "instructions", "input"),
            tools=frozenset(tool.name or tool.type for tool in tools),
            custom_tools=frozenset(tool.name for tool in tools if tool.type == "custom" and tool.name),
        )

    def whole(self, answer: Answer) -> Json:
        """A completed response."""
        return _response(answer, "completed", _items(answer))

    def events(self, answer: Answer) -> Iterator[bytes]:
        """From `response.created` to `response.completed`, numbered."""
        items = _items(answer)
        for number, event in zip(count(), _events(answer, items), strict=False):
            yield server_sent(event | {"sequence_number": number}, str(event["type"]))

    def error(self, problem: Problem) -> Json:
        """The body of an error."""
        return plain_error(problem)


def _events(answer: Answer, items: list[Json]) -> Iterator[Json]:
    for state in ("created", "in_progress"):
        yield {"type": f"response.{state}", "response": _response(answer, "in_progress", [])}
    for index, item in enumerate(items):
        place = {"output_index": index, "item_id": item["id"]}
        yield {"type": "response.output_item.added", "output_index": index, "item": _begun(item)}
        if item["type"] == "message":
            yield from _text_events(answer, place)
        else:
            yield from _call_events(item, place)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": _response(answer, "completed", items)}


def _text_events(answer: Answer, at: Json) -> Iterator[Json]:
    kind, field = ("refusal", "refusal") if answer.is_refusal else ("output_text", "text")
    place = at | {"content_index": 0}
    more: Json = {} if answer.is_refusal else {"logprobs": []}
    yield place | {"type": "response.content_part.added", "part": _part(answer, "")}
    for piece in pieces(answer.text):
        yield place | {"type": f"response.{kind}.delta", "delta": piece} | more
    yield place | {"type": f"response.{kind}.done", field: answer.text} | more
    yield place | {"type": "response.content_part.done", "part": _part(answer, answer.text)}


def _call_events(item: Json, place: Json) -> Iterator[Json]:
    name, field = (
        ("function_call_arguments", "arguments")
        if item["type"] == "function_call"
        else ("custom_tool_call_input", "input")
    )
    text = str(item[field])
    for piece in pieces(text):
        yield place | {"type": f"response.{name}.delta", "delta": piece}
    yield place | {"type": f"response.{name}.done", field: text}


def _begun(item: Json) -> Json:
    empty: Json = {"content": []} if item["type"] == "message" else {}
    empty |= {field: "" for field in ("arguments", "input") if field in item}
    return item | empty | {"status": "in_progress"}


def _items(answer: Answer) -> list[Json]:
    items: list[Json] = []
    if answer.text:
        items.append(
            {
                "id": f"msg_{answer.seed[:24]}",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [_part(answer, answer.text)],
            }
        )
    return items + [_call(n, call, answer) for n, call in enumerate(answer.calls)]


def _call(n: int, call: Call, answer: Answer) -> Json:
    common: Json = {"call_id": call.id, "name": call.name, "status": "completed"}
    if call.is_plain:
        text = str(as_object(call.arguments).get("input", call.arguments))
        return common | {"id": f"ctc_{answer.seed[:16]}_{n}", "type": "custom_tool_call", "input": text}
    return common | {"id": f"fc_{answer.seed[:16]}_{n}", "type": "function_call", "arguments": call.arguments}


def _part(answer: Answer, text: str) -> Json:
    if answer.is_refusal:
        return {"type": "refusal", "refusal": text}
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _response(answer: Answer, status: str, items: list[Json]) -> Json:
    used = answer.usage
    usage = {
        "input_tokens": used.input,
        "input_tokens_details": {"cached_tokens": used.cached, "cache_write_tokens": 0},
        "output_tokens": used.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": used.input + used.output,
    }
    return {
        "id": f"resp_{answer.seed[:24]}",
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": answer.model,
        "output": items,
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": usage if status == "completed" else None,
    }
