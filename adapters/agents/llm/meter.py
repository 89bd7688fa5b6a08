"""What an attempt has spent and whether it may go on: plain sums over recorded answers, so that a replay agrees."""

from datetime import timedelta

from sweeper.model import Allowance, Price, Spent

MODEL_CALLS = 60
"""Where nobody set a bound: a loop without one ends only with somebody's money."""
_MOST_TOKENS = 1 << 40
_BYTES_PER_TOKEN = 4


class Meter:
    """Counts one attempt. All input tokens cost their full price here, cached ones too: money errs to the safe side."""

    def __init__(self, allowance: Allowance, longest: timedelta, price: Price | None, spent: Spent) -> None:
        self._allowance = allowance
        self._calls = MODEL_CALLS if allowance.model_calls is None else allowance.model_calls
        whole = longest.total_seconds()
        self._seconds = whole if allowance.seconds is None else min(allowance.seconds, whole)
        self.price = price
        self.spent = spent

    def answered(self, input_tokens: int, output_tokens: int, asked: int = 0, said: int = 0) -> None:
        """The model's answer was recorded. `asked`, `said`: bytes, from which tokens are reckoned that nobody told.

        A server may tell anything: what it tells never gives back what was spent, and has a bound.
        """
        input_tokens = min(input_tokens, _MOST_TOKENS) if input_tokens > 0 else asked // _BYTES_PER_TOKEN
        output_tokens = min(output_tokens, _MOST_TOKENS) if output_tokens > 0 else said // _BYTES_PER_TOKEN
        self.spent = self.spent.plus(
            Spent(
                model_calls=1,
                input_tokens=input_tokens,
                output_tokens=output_tokens,
                micro_usd=self.price.cost(input_tokens, output_tokens) if self.price else 0,
            )
        )

    def took(self, span: timedelta, bound: timedelta) -> None:
        """A call's time. More than its bound is time without any worker, which is not the agent's."""
        self.spent = self.spent.plus(Spent(seconds=min(span, bound).total_seconds()))

    @property
    def is_out_of_time(self) -> bool:
        """Whether the time is what is used up."""
        return self.spent.seconds >= self._seconds

    def used_up(self) -> str | None:
        """Which allowance is used up, in one sentence; None: it may go on."""
        allowance, spent = self._allowance, self.spent
        if allowance.micro_usd is not None and self.price is None:
            return "Money is bounded and the model has no price: set SWEEPER_PRICES, or no bound in money."
        if spent.model_calls >= self._calls:
            return f"The allowance of {self._calls} model calls is used up."
        if allowance.tokens is not None and spent.tokens >= allowance.tokens:
            return f"The allowance of {allowance.tokens} tokens is used up ({spent.tokens} were used)."
        if allowance.micro_usd is not None and spent.micro_usd >= allowance.micro_usd:
            return f"The allowance of ${allowance.micro_usd / 1e6:.2f} is used up."
        if self.is_out_of_time:
            return f"The allowance of {self._seconds:.0f} s is used up."
        return None
