"""Rules that spoil answers. How often each fired is kept in memory: a restart begins anew."""

import asyncio
from dataclasses import dataclass
from enum import StrEnum

from pydantic import Field

from sweeper.model import Strict


class FaultKind(StrEnum):
    """What goes wrong. The second half changes what is said, the first half how it arrives."""

    RATE_LIMITED = "rate_limited"
    """429, with `Retry-After` if the rule has `retry_after`."""
    SERVER_ERROR = "server_error"
    OVERLOADED = "overloaded"
    """529."""
    CONTEXT_LENGTH = "context_length"
    """400: the conversation is too long."""
    CUT = "cut"
    """The connection ends in the middle of the answer."""
    SLOW = "slow"
    """Nothing comes for `seconds`."""
    HOLD = "hold"
    """Nothing comes until it is released."""
    NONSENSE = "nonsense"
    """200, and a body that is none."""

    OVERSIZE = "oversize"
    """`size` characters of text more."""
    REPEATED_IDS = "repeated_ids"
    """The calls of every turn are `call_0`, `call_1`, ... as some servers have it."""
    STORM = "storm"
    """The turn's first call `size` times at once, then its other calls."""
    UNKNOWN_TOOL = "unknown_tool"
    """A call of a tool that was not offered; the turn is still due afterwards."""
    INVALID_ARGUMENTS = "invalid_arguments"
    """The turn's calls with arguments that are no JSON; the turn is still due afterwards."""
    REFUSAL = "refusal"


class FaultRule(Strict):
    """Which model requests are spoilt: the `nth` one since the rules were set, those of one `turn`, or all.

    `when` limits it to requests with that text in their prompt. `times`: at most so often; None for always.
    """

    kind: FaultKind
    nth: int | None = Field(default=None, ge=1)
    turn: int | None = Field(default=None, ge=0)
    when: str | None = None
    times: int | None = Field(default=1, ge=1)
    retry_after: float | None = Field(default=None, ge=0)
    seconds: float = Field(default=1.0, ge=0)
    size: int = Field(default=10, ge=1, le=64_000_000)


@dataclass
class _Live:
    rule: FaultRule
    fired: int = 0

    def fires(self, n: int, turn: int, prompt: str) -> bool:
        rule = self.rule
        if rule.times is not None and self.fired >= rule.times:
            return False
        if (rule.nth or n) != n or (turn if rule.turn is None else rule.turn) != turn:
            return False
        if rule.when is not None and rule.when not in prompt:
            return False
        self.fired += 1
        return True


class Faults:
    """The rules in force; of several that fire the first one holds."""

    def __init__(self, rules: tuple[FaultRule, ...] = ()) -> None:
        self._released = asyncio.Event()
        self.replace(rules)

    def replace(self, rules: tuple[FaultRule, ...]) -> None:
        """Take over new rules and count from one again. What is held stays held."""
        self._live = [_Live(rule) for rule in rules]
        self._asked = 0

    def pick(self, turn: int, prompt: str) -> FaultRule | None:
        """Count a model request; the answer is the rule that spoils it, if any."""
        self._asked += 1
        return next((live.rule for live in self._live if live.fires(self._asked, turn, prompt)), None)

    def release(self) -> None:
        """Let all go that is held."""
        self._released.set()
        self._released = asyncio.Event()

    async def held(self) -> None:
        """Wait for the next release."""
        await self._released.wait()
