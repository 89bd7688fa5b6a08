"""What an operator decides about agents: which, with which model, and what they may cost."""

from datetime import timedelta
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Self

from pydantic import AnyHttpUrl, BeforeValidator, Field, SecretStr, TypeAdapter, model_validator
from pydantic_settings import BaseSettings, NoDecode

from sweeper.config.types import CommaList, Duration, parse_json
from sweeper.model import Allowance, Price, Strict
from sweeper.policy.model_access import OWN_URLS, ModelAccess

AGENTS = ("autofix", "command", "llm")
PROVIDERS = tuple(OWN_URLS)
_MICRO = 1_000_000


def hint(name: str, known: tuple[str, ...] | list[str], likeness: float = 0.6) -> str:
    """` (did you mean ...?)`, or nothing."""
    close = get_close_matches(name, list(known), n=1, cutoff=likeness)
    return f" (did you mean {close[0]}?)" if close else ""


def _agent_name(name: str) -> str:
    if name not in AGENTS:
        raise ValueError(f"there is no agent {name!r}{hint(name, AGENTS)}; the agents are {', '.join(AGENTS)}")
    return name


def base_url(value: object) -> object:
    """A web address without a trailing slash, so that paths can be put behind it."""
    return str(TypeAdapter(AnyHttpUrl).validate_python(value)).rstrip("/")


def _model_name(name: str) -> str:
    provider, colon, model = name.partition(":")
    if not colon or not model or provider not in PROVIDERS:
        raise ValueError(f"a model is PROVIDER:NAME; the providers are {', '.join(PROVIDERS)}")
    return name


class PriceSettings(Strict):
    """Of one model, in US dollars for a million tokens."""

    input: Decimal = Field(ge=0)
    output: Decimal = Field(ge=0)

    def price(self) -> Price:
        """In whole millionths of a dollar."""
        return Price(input_micro_usd=int(self.input * _MICRO), output_micro_usd=int(self.output * _MICRO))


class BudgetSettings(Strict):
    """The most that agents may use; what is left out has no bound. `wall` is the time agents run."""

    model_calls: int | None = Field(default=None, ge=0)
    tokens: int | None = Field(default=None, ge=0)
    usd: Decimal | None = Field(default=None, ge=0)
    wall: Duration | None = None

    def allowance(self) -> Allowance:
        """As the core counts."""
        return Allowance(
            model_calls=self.model_calls,
            tokens=self.tokens,
            micro_usd=None if self.usd is None else int(self.usd * _MICRO),
            seconds=None if self.wall is None else self.wall.total_seconds(),
        )


Budgets = Annotated[BudgetSettings, NoDecode, BeforeValidator(parse_json)]


class AgentSettings(BaseSettings):
    """The settings of agents, models and budgets."""

    agents: Annotated[tuple[Annotated[str, BeforeValidator(_agent_name)], ...], NoDecode, CommaList] = Field(
        default=("autofix",), min_length=1
    )
    agent_command: str | None = None
    agent_preset: str | None = None
    """A coding agent whose command line is known, instead of `agent_command`."""
    agent_path: Annotated[tuple[Path, ...], NoDecode, CommaList] = ()
    """Directories of programs that only this agent may use, besides those of PATH."""
    agent_timeout: Duration = Field(default=timedelta(minutes=30), gt=timedelta(0))

    model: Annotated[str, BeforeValidator(_model_name)] | None = None
    model_url: Annotated[str, BeforeValidator(base_url)] | None = None
    """Of a server that speaks the provider's protocol; None: the provider's own."""
    model_key: SecretStr | None = None
    model_providers: Annotated[tuple[str, ...], NoDecode, CommaList] = ()
    """Who may see code, by host name; empty: whoever `model` and `model_url` name."""
    prices: Annotated[dict[str, PriceSettings], NoDecode, BeforeValidator(parse_json)] = {}
    """By model name, without the provider."""

    max_attempts: int = Field(default=3, ge=1, le=20)
    budget: Budgets = BudgetSettings(model_calls=100, tokens=2_000_000)
    """Of one sweep."""
    budget_repository_day: Budgets = BudgetSettings()
    budget_installation_day: Budgets = BudgetSettings()

    def model_access(self) -> ModelAccess:
        """Which model is asked, where and at what price."""
        return ModelAccess(
            name=self.model or "",
            url=self.model_url,
            key=self.model_key,
            providers=self.model_providers,
            prices={name: price.price() for name, price in self.prices.items()},
        )

    @model_validator(mode="after")
    def _agents_have_what_they_need(self) -> Self:
        if "command" in self.agents and not (self.agent_command or self.agent_preset):
            raise ValueError(
                "the agent `command` needs SWEEPER_AGENT_COMMAND; set it to the command line to run,"
                " or SWEEPER_AGENT_PRESET to a coding agent's name"
            )
        if self.agent_command and self.agent_preset:
            raise ValueError("SWEEPER_AGENT_COMMAND and SWEEPER_AGENT_PRESET exclude each other; set one of them")
        if ("llm" in self.agents or self.agent_preset) and not self.model:
            asks = f"the preset {self.agent_preset}" if self.agent_preset else "the agent `llm`"
            raise ValueError(f"{asks} asks a model; set SWEEPER_MODEL to PROVIDER:NAME")
        return self
