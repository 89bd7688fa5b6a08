"""What the model says to a request, before a protocol words it."""

import json
from collections.abc import Iterator

from adapters.models.recorded.script import Usage
from sweeper.model import Strict

CREATED = 1_767_225_600
"""The time every answer says it was made (2026-01-01): a repeated request gets the same bytes."""
_PIECES, _LEAST = 16, 24


class Call(Strict):
    """A tool call; `arguments` is the JSON as it is sent, which may be broken on purpose.

    `is_plain`: the tool takes a text instead, the one that `arguments` has as `input`.
    """

    id: str
    name: str
    arguments: str
    is_plain: bool = False


class Answer(Strict):
    """Text and calls. `seed` makes the ids. `is_refusal`: the text is the model's refusal to answer.

    `tells_usage`: in a stream too, where some protocols leave it out.
    """

    seed: str
    model: str
    text: str = ""
    calls: tuple[Call, ...] = ()
    usage: Usage
    is_refusal: bool = False
    tells_usage: bool = True


class Problem(Strict):
    """An answer that is an error. `kind` is one of the protocols' error types, of which each words its own."""

    status: int
    kind: str
    message: str
    retry_after: float | None = None


def pieces(text: str) -> Iterator[str]:
    """A text in parts, as a stream has it."""
    step = max(_LEAST, -(-len(text) // _PIECES))
    return (text[start : start + step] for start in range(0, len(text), step))


def as_object(arguments: str) -> dict[str, object]:
    """Arguments where a protocol has no text for them; what is no JSON object becomes one that tells so."""
    try:
        value = json.loads(arguments)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"INVALID_JSON": arguments}
