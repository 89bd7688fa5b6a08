"""What coding agents say of themselves in the formats they print for machines. A claim, read as far as it goes."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from sweeper.model import Trouble

_MAX_LINE = 1 << 20


@dataclass(frozen=True)
class Claim:
    """Its last words, or none where its format is not understood; and what kept it from its work."""

    words: str | None = None
    trouble: Trouble | None = None


Reading = Callable[[str], Claim]


def read_plain(_output: str) -> Claim:
    """Nothing is known of the format."""
    return Claim()


def read_claude(output: str) -> Claim:
    """`--output-format stream-json`: the last event is the result, with each tool use that was not permitted.

    https://docs.claude.com/en/docs/claude-code/sdk/sdk-headless
    """
    results = [event for event in _events(output) if event.get("type") == "result"]
    if not results:
        return Claim()
    denied = results[-1].get("permission_denials")
    words = results[-1].get("result")
    return Claim(
        words=words if isinstance(words, str) else None,
        trouble=Trouble.PERMISSION if isinstance(denied, Sequence) and denied else None,
    )


def read_codex(output: str) -> Claim:
    """`exec --json`: items of kind agent_message, and an event that fails the turn."""
    words: str | None = None
    for event in _events(output):
        item = event.get("item")
        holder = item if isinstance(item, Mapping) and item.get("type") == "agent_message" else event.get("error")
        said = (holder.get("text") or holder.get("message")) if isinstance(holder, Mapping) else None
        words = said if isinstance(said, str) else words
    return Claim(words=words)


def _events(output: str) -> Iterator[Mapping[str, JsonValue]]:
    for line in output.splitlines():
        if line.startswith("{") and len(line) <= _MAX_LINE:
            try:
                event = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(event, dict):
                yield event
