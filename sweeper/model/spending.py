"""What an agent's work costs, and how much it may cost."""

from sweeper.model.base import Wire

_PRICED_TOKENS = 1_000_000


class Spent(Wire):
    """What was used. Money in millionths of a US dollar, so that sums are exact."""

    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    micro_usd: int = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Both ways together."""
        return self.input_tokens + self.output_tokens

    def plus(self, other: "Spent") -> "Spent":
        """Both together."""
        return Spent(
            model_calls=self.model_calls + other.model_calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            micro_usd=self.micro_usd + other.micro_usd,
            seconds=self.seconds + other.seconds,
        )


class Allowance(Wire):
    """The most that may be used. None: no bound of this kind."""

    model_calls: int | None = None
    tokens: int | None = None
    micro_usd: int | None = None
    seconds: float | None = None


class Budgets(Wire):
    """What agents may use: in one sweep, and on one day in its repository and in the whole installation."""

    sweep: Allowance = Allowance()
    repository_day: Allowance = Allowance()
    installation_day: Allowance = Allowance()


class Price(Wire):
    """Of one model, in millionths of a US dollar for a million tokens."""

    input_micro_usd: int
    output_micro_usd: int

    def cost(self, input_tokens: int, output_tokens: int) -> int:
        """In millionths of a dollar, rounded up: a fraction of one is not free."""
        return -(-(input_tokens * self.input_micro_usd + output_tokens * self.output_micro_usd) // _PRICED_TOKENS)
