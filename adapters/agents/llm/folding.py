"""Keeping a conversation small: old turns and old tool answers give way to notes, always the same ones for the same
conversation. What the agent did is in its journal all the same.

The whole list of messages goes with every question, into the history too, so what is never looked at again costs with
every step. Folding happens in steps far apart, because a provider caches a beginning only while it stays as it was.
"""

from collections.abc import Sequence
from dataclasses import replace

from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    ToolReturnPart,
    UserPromptPart,
)

KEPT_BYTES = 32 << 10
"""Of the newest answers, which stay whole."""
FULL_BYTES = 80 << 10
"""Of whole answers; with more than this all but the newest are folded."""
SHORTEST = 512
"""What is shorter is not worth a note."""
FOLDED = "[An older answer, left out to save room; use the tool again if you need it.]"
MOST_TURNS, KEPT_TURNS = 60, 30
_LEFT_OUT = "sweeper_left_out"


def folded(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The conversation with what is old left out, if it is full. Folding twice is folding once."""
    return _with_short_answers(_with_few_turns(messages))


def conversation_bytes(messages: Sequence[ModelMessage]) -> int:
    """How large it is where it is recorded."""
    return len(ModelMessagesTypeAdapter.dump_json(list(messages)))


def turns_left_out(messages: Sequence[ModelMessage]) -> int:
    """How many of the model's turns are not in the conversation any more."""
    counted = (messages[0].metadata or {}).get(_LEFT_OUT, 0) if messages else 0
    return counted if isinstance(counted, int) else 0


def _with_few_turns(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The task, a note, and the newest turns. A turn goes together with its answers, or providers refuse the rest."""
    turns = [index for index, message in enumerate(messages) if isinstance(message, ModelResponse)]
    task = messages[0]
    if len(turns) <= MOST_TURNS or not isinstance(task, ModelRequest):
        return list(messages)
    left_out = turns_left_out(messages) + len(turns) - KEPT_TURNS
    parts = list(task.parts[:-1] if turns_left_out(messages) else task.parts)
    note = f"[Your first {left_out} steps are left out here to save room; the files are as you left them.]"
    first = replace(task, parts=[*parts, UserPromptPart(note)], metadata={_LEFT_OUT: left_out})
    return [first, *messages[turns[-KEPT_TURNS] :]]


def _with_short_answers(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    sizes = [_size(part) for part in _answers(messages)]
    if sum(sizes) <= FULL_BYTES:
        return list(messages)
    whole = _newest(sizes)
    shown: list[ModelMessage] = []
    seen = 0
    for message in messages:
        if isinstance(message, ModelRequest):
            answers = sum(isinstance(part, ToolReturnPart) for part in message.parts)
            message = _fold(message, whole - seen)
            seen += answers
        shown.append(message)
    return shown


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
