"""A request, whatever protocol it came in: who said what so far, and which turn is therefore due."""

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import groupby

from sweeper.model import Strict

_MINTED = re.compile(r"(?:call|toolu)_(?P<spoilt>x?)(?P<turn>\d+)_\d+_[0-9a-f]+\Z")


class By(StrEnum):
    """Who said something. `TOOL` gives the result of a call."""

    SYSTEM = "system"
    USER = "user"
    MODEL = "model"
    TOOL = "tool"


class Said(Strict):
    """One thing said. `calls`: the ids of the calls the model makes in it, or of the one that a tool answers."""

    by: By
    text: str = ""
    calls: tuple[str, ...] = ()


class Asked(Strict):
    """What a request holds that decides about its answer.

    `digest` is of the conversation alone: model settings, tools and streaming may change without making it another.
    `custom_tools` take a plain text instead of JSON.
    """

    model: str
    stream: bool
    wants_usage: bool = True
    said: tuple[Said, ...]
    digest: str
    tools: frozenset[str] = frozenset()
    custom_tools: frozenset[str] = frozenset()

    @property
    def prompt(self) -> str:
        """What the system prompt and the user say."""
        return "\n".join(one.text for one in self.said if one.by in (By.SYSTEM, By.USER))

    @property
    def results(self) -> tuple[str, ...]:
        """What the tools gave, the newest first."""
        return tuple(one.text for one in reversed(self.said) if one.by is By.TOOL)

    @property
    def size(self) -> int:
        """Characters of all that was said."""
        return sum(len(one.text) for one in self.said)

    @property
    def turn(self) -> int:
        """How many turns of the script this conversation holds already; the next one is due."""
        return turns_taken(self.said)


def mint(style: str, turn: int, n: int, seed: str, spoilt: bool = False) -> str:
    """The id of a call: it tells the turn when it comes back. A spoilt call does not count as its turn."""
    return f"{style}_{'x' if spoilt else ''}{turn}_{n}_{seed[:8]}"


def turns_taken(said: Iterable[Said]) -> int:
    """Times the model spoke, a turn being all it says until somebody else does.

    Our ids tell the turn: clients may put a result behind each of several calls of one turn, and leave out how a long
    conversation began. Foreign ids count by their place alone. A turn of spoilt calls is still due.
    """
    count = 0
    for is_model, run in groupby(said, key=lambda one: one.by is By.MODEL):
        if not is_model:
            continue
        marks = [_MINTED.match(call) for one in run for call in one.calls]
        minted = [mark for mark in marks if mark is not None]
        if minted and all(mark["spoilt"] for mark in minted):
            continue
        count = int(minted[0]["turn"]) + 1 if minted else count + 1
    return count


def unanswered(said: Sequence[Said]) -> str | None:
    """What the real services refuse, in a sentence: a call without a result, or a result without a call."""
    made = [call for one in said if one.by is By.MODEL for call in one.calls]
    given = [call for one in said if one.by is By.TOOL for call in one.calls]
    if lost := sorted(set(made) - set(given)):
        return f"No tool output found for function call {lost[0]}."
    if stray := sorted(set(given) - set(made)):
        return f"No tool call found for function call output with call_id {stray[0]}."
    return None
