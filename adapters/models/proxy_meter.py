"""What one try of an agent has used of its model, and whether it may use more."""

from adapters.models.proxy_book import Page
from adapters.models.proxy_usage import Usage
from sweeper.errors import BadInput
from sweeper.model import Allowance, Price, Spent

_USED_UP = "This try has used up its {what}"


class UsedUp(Exception):
    """No more calls; the text says of what, without its full stop."""


class Meter:
    """A call counts when it is begun, so no number of calls at once can pass the bound of calls.

    Tokens and money are known at a call's end: what is under way then may go beyond, nothing is begun any more.
    """

    def __init__(self, allowance: Allowance, price: Price | None, page: Page) -> None:
        """Raises BadInput where money is bounded and has no price."""
        if allowance.micro_usd is not None and price is None:
            raise BadInput("Money is bounded and this model has no price; set it in SWEEPER_PRICES, or bound tokens")
        self._allowance = allowance
        self._price = price
        self._page = page

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

    def begin(self) -> None:
        """Count one call. Raises UsedUp."""
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
