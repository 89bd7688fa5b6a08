"""Tokens of an answer, read while it passes by.

Shapes: https://docs.anthropic.com/en/api/messages-streaming (usage in message_start, the running output in
message_delta) and https://platform.openai.com/docs/api-reference (chat: the last chunk; responses: the event that
completes it). All count up, so of each number the highest one holds.
"""

import json
import re
from collections.abc import Mapping

from sweeper.model import Strict

_MAX_LINE = 8 << 20
"""An event that repeats the whole answer is one line."""
_MOST_TOKENS = 1 << 40
_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_BYTES_PER_TOKEN = 4
_STREAMED_BYTES_PER_TOKEN = 32
"""An event has many bytes around each word."""
_BYTES_PER_DENSE_TOKEN = 2
_ANSWER_BOUND = re.compile(rb'"max_(?:completion_|output_)?tokens": (\d{1,9})')
_USUAL_ANSWER = 32_000


class Usage(Strict):
    """Tokens of one call. Those read from a provider's cache count in full, so money errs on the high side."""

    input_tokens: int = 0
    output_tokens: int = 0

    def at_least(self, other: "Usage") -> "Usage":
        """The higher of each."""
        return Usage(
            input_tokens=max(self.input_tokens, other.input_tokens),
            output_tokens=max(self.output_tokens, other.output_tokens),
        )


def at_most(question: bytes) -> Usage:
    """What a question may use, as far as its size and the bound it sets to its answer tell."""
    bounds = [int(found) for found in _ANSWER_BOUND.findall(question)]
    return Usage(input_tokens=len(question) // _BYTES_PER_DENSE_TOKEN, output_tokens=max(bounds, default=_USUAL_ANSWER))


class UsageReader:
    """Feed it the bytes of an answer, in any pieces."""

    def __init__(self, *, is_stream: bool) -> None:
        self._is_stream = is_stream
        self._pending = bytearray()
        self._is_too_long = False
        self._found: Usage | None = None
        self._size = 0

    def feed(self, chunk: bytes) -> None:
        """The next bytes."""
        self._size += len(chunk)
        if not self._is_stream:
            self._keep(chunk)
            return
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            self._keep(line)
            self._read_line()
        self._keep(rest)

    def end(self, asked: int, *, is_whole: bool) -> Usage:
        """Nothing more comes. `asked`: bytes of the question, from which tokens are reckoned where none were told.

        An answer that was not heard to its end has told too little: then at least its size counts.
        """
        if self._is_stream:
            self._read_line()
        elif not self._is_too_long:
            self._read(bytes(self._pending))
        self._pending.clear()
        answered = self._size // (_STREAMED_BYTES_PER_TOKEN if self._is_stream else _BYTES_PER_TOKEN)
        if self._found is None:
            return Usage(input_tokens=asked // _BYTES_PER_TOKEN, output_tokens=answered)
        return self._found if is_whole else self._found.at_least(Usage(output_tokens=answered))

    def _keep(self, part: bytes) -> None:
        if len(self._pending) + len(part) > _MAX_LINE:
            self._is_too_long = True
            self._pending.clear()
        if not self._is_too_long:
            self._pending += part

    def _read_line(self) -> None:
        line, self._is_too_long = bytes(self._pending), False
        self._pending.clear()
        if line.startswith(b"data:") and b'"usage"' in line:
            self._read(line.removeprefix(b"data:"))

    def _read(self, text: bytes) -> None:
        try:
            event = json.loads(text)
        except (ValueError, RecursionError):
            return
        if not isinstance(event, dict):
            return
        for holder in (event, event.get("message"), event.get("response")):
            usage = holder.get("usage") if isinstance(holder, dict) else None
            if isinstance(usage, dict):
                told = _usage(usage)
                self._found = told if self._found is None else self._found.at_least(told)


def _usage(told: Mapping[str, object]) -> Usage:
    chat = "prompt_tokens" in told
    into = (told.get("prompt_tokens"),) if chat else tuple(told.get(name) for name in _INPUT)
    out = told.get("completion_tokens" if chat else "output_tokens")
    return Usage(input_tokens=sum(map(_number, into)), output_tokens=_number(out))


def _number(value: object) -> int:
    return min(value, _MOST_TOKENS) if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
