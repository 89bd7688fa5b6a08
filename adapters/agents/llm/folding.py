"""Keeping a conversation small: old tool answers give way to a note, always the same ones for the same conversation.

The whole list of messages goes with every question, into the history too, so what is never looked at again costs with
every step. Folding happens in steps far apart, because a provider caches a beginning only while it stays as it was.
"""

from collections.abc import Sequence
from dataclasses import replace

from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelRequest, ToolReturnPart

KEPT_BYTES = 32 << 10
"""Of the newest answers, which stay whole."""
FULL_BYTES = 96 << 10
"""Of whole answers; with more than this all but the newest are folded."""
SHORTEST = 512
"""What is shorter is not worth a note."""
FOLDED = "[An older answer, left out to save room; use the tool again if you need it.]"


def folded(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The conversation with old tool answers left out, if it is full. Folding twice is folding once."""
    sizes = [_size(part) for part in _answers(messages)]
    if sum(sizes) <= FULL_BYTES:
        return list(messages)
    whole = _newest(sizes)
    shown, seen = [], 0
    for message in messages:
        if isinstance(message, ModelRequest):
            answers = sum(isinstance(part, ToolReturnPart) for part in message.parts)
            message = _fold(message, whole - seen)
            seen += answers
        shown.append(message)
    return shown


def conversation_bytes(messages: Sequence[ModelMessage]) -> int:
    """How large it is where it is recorded."""
    return len(ModelMessagesTypeAdapter.dump_json(list(messages)))


def _answers(messages: Sequence[ModelMessage]) -> list[ToolReturnPart]:
    requests = [message for message in messages if isinstance(message, ModelRequest)]
    return [part for request in requests for part in request.parts if isinstance(part, ToolReturnPart)]


def _size(part: ToolReturnPart) -> int:
    size = len(str(part.content).encode("utf-8", "replace"))
    return size if size >= SHORTEST else 0


def _newest(sizes: Sequence[int]) -> int:
    """From which answer on they stay whole; the last one always does."""
    room = KEPT_BYTES
    for index in range(len(sizes) - 1, -1, -1):
        room -= sizes[index]
        if room < 0:
            return min(index + 1, len(sizes) - 1)
    return 0


def _fold(request: ModelRequest, older: int) -> ModelRequest:
    """With the first `older` of its answers folded."""
    parts, seen = [], 0
    for part in request.parts:
        if isinstance(part, ToolReturnPart):
            if seen < older and _size(part):
                part = _noted(part)
            seen += 1
        parts.append(part)
    return replace(request, parts=parts)


def _noted(part: ToolReturnPart) -> ToolReturnPart:
    return replace(part, content=FOLDED)
