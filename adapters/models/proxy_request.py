"""What an agent asks of its model, made into what may be asked: one model, and no other way out.

A provider's servers can reach the internet for whoever asks: with tools they run themselves, with connectors, by
loading a picture from an address. A sandbox that ends at the model would leak through each of them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

BODY_BYTES = 16 << 20
"""Providers take twice as much, for pictures; read as JSON it may have twenty times its size."""

_RUN_BY_THE_AGENT = ("function", "custom", "local_shell", "apply_patch")
_RUN_BY_THE_AGENT_DATED = ("bash_", "text_editor_", "memory_", "computer_")
"""https://docs.anthropic.com/en/docs/agents-and-tools: kinds known to the provider that the client carries out."""
_DROPPED = ("mcp_servers", "web_search_options", "container", "background", "prompt", "plugins")
_ELSEWHERE = ("models", "fallbacks", "route", "provider", "api_base", "base_url")
"""Gateways of OpenAI's kind send the question by these to a model that nobody configured."""
_DEARER = ("service_tier", "speed", "inference_geo")
"""Another price for the same tokens."""
_HOLDERS = ("content", "source", "file", "output")
_MOST_DEPTH = 12


class Unfit(Exception):
    """It cannot be passed on; the text is for the agent."""


def fitted(body: bytes, model: str, path: str) -> bytes:
    """The body to send instead. Raises Unfit."""
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        raise Unfit("The request's body is no JSON") from None
    if not isinstance(asked, dict):
        raise Unfit("The request's body is no JSON object")
    if any(_addresses([asked.get(name) for name in ("messages", "input", "system")])):
        raise Unfit("A request may not make the provider load an address; put the content itself into the message")
    left_out = (*_DROPPED, *_ELSEWHERE, *_DEARER)
    kept: dict[str, JsonValue] = {name: value for name, value in asked.items() if name not in left_out}
    kept["model"] = model
    if "tools" in kept:
        tools = kept["tools"]
        kept["tools"] = own = [tool for tool in tools if _is_run_by_the_agent(tool)] if isinstance(tools, list) else []
        if not own:  # providers refuse an empty list, and a choice among none
            kept.pop("tools")
            kept.pop("tool_choice", None)
    if path == "/chat/completions" and kept.get("stream") is True:
        kept["stream_options"] = {"include_usage": True}  # else a streamed answer does not tell what it cost
    return json.dumps(kept, ensure_ascii=False).encode("utf-8", "replace")


def _is_run_by_the_agent(tool: JsonValue) -> bool:
    if not isinstance(tool, dict):
        return False
    kind = tool.get("type")
    if kind == "shell":  # https://developers.openai.com/api/docs/guides/tools-shell: else it is a provider's container
        environment = tool.get("environment")
        return isinstance(environment, dict) and environment.get("type") == "local"
    return kind is None or (
        isinstance(kind, str) and (kind in _RUN_BY_THE_AGENT or kind.startswith(_RUN_BY_THE_AGENT_DATED))
    )


def _addresses(value: JsonValue, depth: int = 0) -> Iterator[str]:
    """Addresses in parts of messages. What a tool was called with and what its schema says are no parts."""
    if depth > _MOST_DEPTH:
        raise Unfit("The request's messages are nested too deeply")
    if isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield from _addresses(item, depth + 1)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            is_pointer = name == "url" or name.endswith("_url")  # image_url, file_url; video_url, audio_url of vLLM
            if isinstance(inner, str):
                if is_pointer and not inner.startswith("data:"):
                    yield inner
            elif is_pointer or name in _HOLDERS:
                yield from _addresses(inner, depth + 1)
