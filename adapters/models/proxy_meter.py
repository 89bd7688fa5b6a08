"""What one try of an agent has used of its model, and whether it may use more."""

import asyncio

from adapters.models.proxy_book import Page
from adapters.models.proxy_usage import Usage
from sweeper.errors import BadInput
from sweeper.model import Allowance, Price, Spent

_USED_UP = "This try has used up its {what}"


class UsedUp(Exception):
    """No more calls; the text says of what, without its full stop."""


class Meter:
    """A call counts when it is begun, so no number of calls at once can pass the bound of calls.

    Tokens and money are known at a call's end. While what is under way may use up all that is left, the next one waits
    for that end: so one call at most goes beyond, however many are asked for at once.
    """

    def __init__(self, allowance: Allowance, price: Price | None, page: Page) -> None:
        """Raises BadInput where money is bounded and has no price."""
        if allowance.micro_usd is not None and price is None:
            raise BadInput("Money is bounded and this model has no price; set it in SWEEPER_PRICES, or bound tokens")
        self._allowance = allowance
        self._price = price
        self._page = page
        self._under_way: dict[object, Usage] = {}
        self._is_over = asyncio.Event()

    @property
    def spent(self) -> Spent:
        """Up to now, in all runs of this try."""
        counted = self._page.counted
        return Spent(
            model_calls=counted.calls,
            input_tokens=counted.input_tokens,
            output_tokens=counted.output_tokens,
            micro_usd=self._price.cost(counted.input_tokens, counted.output_tokens) if self._price else 0,
        )

    async def begin(self, call: object, most: Usage) -> None:
        """Count one call when there is room for it. `most`: what it may use. Raises UsedUp."""
        while self._under_way and self._may_be_used_up():
            self._is_over.clear()
            await self._is_over.wait()
        self._count()
        self._under_way[call] = most

    def over(self, call: object) -> None:
        """Nothing more comes of it. For one that never began this does nothing."""
        self._under_way.pop(call, None)
        self._is_over.set()

    def _may_be_used_up(self) -> bool:
        """By those under way, if each uses all it may."""
        spent, bound = self.spent, self._allowance
        for most in self._under_way.values():
            spent = spent.plus(Spent(input_tokens=most.input_tokens, output_tokens=most.output_tokens))
        cost = self._price.cost(spent.input_tokens, spent.output_tokens) if self._price else 0
        most_tokens, most_money = bound.tokens, bound.micro_usd
        return (most_tokens is not None and spent.tokens >= most_tokens) or (
            most_money is not None and cost >= most_money
        )

    def _count(self) -> None:
        spent, most = self.spent, self._allowance
        for what, used, bound in (
            ("model calls", spent.model_calls, most.model_calls),
            ("tokens", spent.tokens, most.tokens),
            ("money", spent.micro_usd, most.micro_usd),
        ):
            if bound is not None and used >= bound:
                raise UsedUp(_USED_UP.format(what=what))
        self._page.add(calls=1)

    def add(self, usage: Usage) -> None:
        """What a call used."""
        self._page.add(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)
