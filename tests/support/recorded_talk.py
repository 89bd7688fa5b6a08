"""Conversations with a model in each of the three protocols, by plain HTTP: the least a client of each has to do."""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import httpx

Event = tuple[str | None, dict[str, Any]]
"""Name and data of a server-sent event."""


@dataclass(frozen=True)
class Call:
    id: str
    name: str
    arguments: str


@dataclass
class Heard:
    """What a model said, put together."""

    text: str = ""
    calls: list[Call] = field(default_factory=list)
    finish: str = ""
    tokens: tuple[int, int] = (0, 0)
    refusal: str = ""


class Talk(ABC):
    """One conversation. `history` is what the protocol calls messages or input; tools are offered by name."""

    path: ClassVar[str]

    def __init__(self, user: str = "Mend it.", tools: Sequence[str] = ("read", "edit"), system: str = "") -> None:
        self.tools = tools
        self.system = system
        self.history: list[dict[str, Any]] = [{"role": "user", "content": user}]

    @abstractmethod
    def body(self, stream: bool) -> dict[str, Any]: ...

    @abstractmethod
    def read(self, answer: dict[str, Any]) -> Heard: ...

    @abstractmethod
    def read_events(self, events: list[Event]) -> Heard: ...

    @abstractmethod
    def take(self, heard: Heard, result: str) -> None:
        """Append what was heard, and that result for each call."""

    async def ask(self, http: httpx.AsyncClient, stream: bool) -> Heard:
        """The answer to the conversation as it stands; it is not appended."""
        answer = await http.post(self.path, json=self.body(stream))
        assert answer.status_code == 200, answer.text
        return self.read_events(events_of(answer.text)) if stream else self.read(answer.json())


def events_of(text: str) -> list[Event]:
    """The events of a stream but for its end mark."""
    assert text.endswith("\n\n")
    found: list[Event] = []
    for block in text.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines())
        if fields["data"] != "[DONE]":
            found.append((fields.get("event"), json.loads(fields["data"])))
    return found


class ChatTalk(Talk):
    path = "/v1/chat/completions"

    def body(self, stream: bool) -> dict[str, Any]:
        tools = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in self.tools]
        told = [{"role": "system", "content": self.system}, *self.history]
        options = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
        return {"model": "recorded", "messages": told, "tools": tools, **options}

    def read(self, answer: dict[str, Any]) -> Heard:
        (choice,) = answer["choices"]
        message, usage = choice["message"], answer["usage"]
        calls = [
            Call(call["id"], call["function"]["name"], call["function"]["arguments"])
            for call in message.get("tool_calls", [])
        ]
        tokens = (usage["prompt_tokens"], usage["completion_tokens"])
        return Heard(message["content"] or "", calls, choice["finish_reason"], tokens, message["refusal"] or "")

    def read_events(self, events: list[Event]) -> Heard:
        heard = Heard()
        calls: dict[int, Call] = {}
        *chunks, last = [data for _, data in events]
        for chunk in chunks:
            (choice,) = chunk["choices"]
            delta = choice["delta"]
            heard.text += delta.get("content") or ""
            heard.refusal += delta.get("refusal") or ""
            heard.finish = choice["finish_reason"] or heard.finish
            for part in delta.get("tool_calls", []):
                before = calls.get(part["index"]) or Call(part["id"], part["function"]["name"], "")
                calls[part["index"]] = Call(before.id, before.name, before.arguments + part["function"]["arguments"])
        heard.calls = [calls[index] for index in sorted(calls)]
        assert last["choices"] == []
        heard.tokens = (last["usage"]["prompt_tokens"], last["usage"]["completion_tokens"])
        return heard

    def take(self, heard: Heard, result: str) -> None:
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in heard.calls
        ]
        self.history.append({"role": "assistant", "content": heard.text or None, "tool_calls": calls})
        self.history += [{"role": "tool", "tool_call_id": call.id, "content": result} for call in heard.calls]


class MessagesTalk(Talk):
    path = "/v1/messages"

    def body(self, stream: bool) -> dict[str, Any]:
        tools = [{"name": name, "input_schema": {"type": "object"}} for name in self.tools]
        told = {"system": [{"type": "text", "text": self.system}], "messages": self.history}
        return {"model": "recorded", "max_tokens": 100, "tools": tools, "stream": stream, **told}

    def read(self, answer: dict[str, Any]) -> Heard:
        text = "".join(block["text"] for block in answer["content"] if block["type"] == "text")
        calls = [
            Call(block["id"], block["name"], json.dumps(block["input"]))
            for block in answer["content"]
            if block["type"] == "tool_use"
        ]
        usage, finish = answer["usage"], answer["stop_reason"]
        tokens = (usage["input_tokens"], usage["output_tokens"])
        return Heard(text, calls, finish, tokens, text if finish == "refusal" else "")

    def read_events(self, events: list[Event]) -> Heard:
        assert all(name == data["type"] for name, data in events)
        data = [one for _, one in events if one["type"] != "ping"]
        message = data[0]["message"]
        assert (data[0]["type"], data[-1]["type"]) == ("message_start", "message_stop")
        for one in data[1:-2]:
            self._grow(message["content"], one)
        assert data[-2]["type"] == "message_delta"
        message |= data[-2]["delta"]
        message["usage"] |= data[-2]["usage"]
        return self.read(message)

    def _grow(self, content: list[dict[str, Any]], event: dict[str, Any]) -> None:
        if event["type"] == "content_block_start":
            assert event["index"] == len(content)
            content.append(event["content_block"] | {"json": ""})
            return
        block = content[event["index"]]
        if event["type"] == "content_block_delta":
            delta = event["delta"]
            field = {"text_delta": "text", "input_json_delta": "json"}[delta["type"]]
            block[field] += delta.get("text", delta.get("partial_json"))
        elif block["type"] == "tool_use":
            block["input"] = json.loads(block["json"])

    def take(self, heard: Heard, result: str) -> None:
        said: list[dict[str, Any]] = [{"type": "text", "text": heard.text}] if heard.text else []
        said += [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(call.arguments)}
            for call in heard.calls
        ]
        given = [{"type": "tool_result", "tool_use_id": call.id, "content": result} for call in heard.calls]
        self.history.append({"role": "assistant", "content": said})
        if given:
            self.history.append({"role": "user", "content": given})


class ResponsesTalk(Talk):
    path = "/v1/responses"

    def body(self, stream: bool) -> dict[str, Any]:
        tools = [{"type": "function", "name": name, "parameters": {}} for name in self.tools]
        told = {"instructions": self.system, "input": self.history}
        return {"model": "recorded", "tools": tools, "stream": stream, **told}

    def read(self, answer: dict[str, Any]) -> Heard:
        parts = [part for item in answer["output"] if item["type"] == "message" for part in item["content"]]
        calls = [
            Call(item["call_id"], item["name"], item["arguments"] if "arguments" in item else item["input"])
            for item in answer["output"]
            if item["type"] in ("function_call", "custom_tool_call")
        ]
        tokens = (answer["usage"]["input_tokens"], answer["usage"]["output_tokens"])
        refusal = "".join(part.get("refusal", "") for part in parts)
        return Heard("".join(part.get("text", "") for part in parts), calls, answer["status"], tokens, refusal)

    def read_events(self, events: list[Event]) -> Heard:
        assert [data["sequence_number"] for _, data in events] == list(range(len(events)))
        assert all(name == data["type"] for name, data in events)
        assert [name for name, _ in events[:2]] == ["response.created", "response.in_progress"]
        items: list[dict[str, Any]] = []
        said: dict[int, str] = {}
        for name, data in events[2:-1]:
            assert name is not None
            if name.endswith(".delta"):
                said[data["output_index"]] = said.get(data["output_index"], "") + data["delta"]
            elif name == "response.output_item.done":
                assert data["output_index"] == len(items)
                items.append(data["item"])
        name, last = events[-1]
        assert (name, last["response"]["output"]) == ("response.completed", items)
        assert said == {index: self._words(item) for index, item in enumerate(items)}
        return self.read(last["response"])

    def _words(self, item: dict[str, Any]) -> str:
        if item["type"] == "message":
            (part,) = item["content"]
            return str(part.get("text", part.get("refusal")))
        return str(item.get("arguments", item.get("input")))

    def take(self, heard: Heard, result: str) -> None:
        if heard.text:
            self.history.append({"role": "assistant", "content": [{"type": "output_text", "text": heard.text}]})
        for call in heard.calls:
            told = {"call_id": call.id, "name": call.name, "arguments": call.arguments}
            self.history.append({"type": "function_call", **told})
        outputs = [{"type": "function_call_output", "call_id": call.id, "output": result} for call in heard.calls]
        self.history += outputs


TALKS: tuple[type[Talk], ...] = (ChatTalk, ResponsesTalk, MessagesTalk)
