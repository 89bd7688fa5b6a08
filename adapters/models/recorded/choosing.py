"""Which turn answers a request, by what stands in it: no counter, so a repeat is answered as before."""

import json

from pydantic import JsonValue

from adapters.models.recorded.answer import Answer, Call
from adapters.models.recorded.asked import Asked, mint
from adapters.models.recorded.patterns import first_match
from adapters.models.recorded.script import Script, ToolCall, Turn, Usage
from sweeper.model import Strict

_CHARACTERS_PER_TOKEN = 4


class Chosen(Strict):
    """A turn and its name: `3`, `title 0` (of the conversation with that `when`), or `fallback`."""

    name: str
    position: int
    turn: Turn


def choose(script: Script, asked: Asked) -> Chosen:
    """The turn that is due in the conversation the request belongs to, or the fallback."""
    prompt = asked.prompt
    whens = dict.fromkeys(turn.when for turn in script.turns if turn.when is not None)
    when = next((one for one in whens if one in prompt), None)
    turns = [turn for turn in script.turns if turn.when == when]
    due = asked.turn
    if due < len(turns) and (asked.tools or not turns[due].calls):
        return Chosen(name=str(due) if when is None else f"{when} {due}", position=due, turn=turns[due])
    return Chosen(name="fallback", position=due, turn=script.fallback)


def answer(chosen: Chosen, asked: Asked, style: str) -> Answer:
    """Its words, with what they take out of tool results. `style` is how the protocol begins an id."""
    seed, turn = asked.digest, chosen.turn
    calls = tuple(
        Call(
            id=mint(style, chosen.position, n, seed),
            name=call.name,
            arguments=_arguments(call, asked.results),
            is_plain=call.name in asked.custom_tools,
        )
        for n, call in enumerate(turn.calls)
    )
    written = len(turn.text) + sum(len(call.name) + len(call.arguments) for call in calls)
    usage = turn.usage or Usage(input=estimate(asked.size), output=estimate(written))
    said = Answer(seed=seed, model=asked.model, text=turn.text, calls=calls, usage=usage)
    return said.model_copy(update={"tells_usage": asked.wants_usage})


def estimate(characters: int) -> int:
    """Tokens of that much text, roughly, and never none."""
    return characters // _CHARACTERS_PER_TOKEN + 1


def _arguments(call: ToolCall, results: tuple[str, ...]) -> str:
    taken = {name: first_match(pattern, results) for name, pattern in call.take.items()}
    return json.dumps({name: _fill(value, taken) for name, value in call.arguments.items()})


def _fill(value: JsonValue, taken: dict[str, str]) -> JsonValue:
    if isinstance(value, str):
        for name, text in taken.items():
            value = value.replace("{{" + name + "}}", text)
        return value
    if isinstance(value, list):
        return [_fill(one, taken) for one in value]
    if isinstance(value, dict):
        return {key: _fill(one, taken) for key, one in value.items()}
    return value
