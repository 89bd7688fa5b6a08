"""The agent: prompt, tools, structured result, and the hooks that hold it to its allowance.

It is built twice from the same parts: once for the workflow, which never talks to a provider, and once for the worker,
which adds how a model is reached.
"""

from collections.abc import Callable
from datetime import timedelta
from enum import StrEnum

from pydantic import BaseModel, Field
from pydantic_ai import Agent, ModelSettings, ToolOutput
from pydantic_ai.capabilities import ResolveModelId
from pydantic_ai.durable_exec.temporal import TemporalDurability
from pydantic_ai.models import Model, ModelResolutionContext
from temporalio.common import RetryPolicy
from temporalio.workflow import ActivityCancellationType, ActivityConfig

from adapters.agents.llm.desk import Deps
from adapters.agents.llm.elsewhere import Elsewhere
from adapters.agents.llm.prompt import PROMPT
from adapters.agents.llm.steward import MODEL_BOUND, Steward
from adapters.agents.llm.tools import TOOLS
from sweeper.activities.names import MODEL_AGENT

NAME = MODEL_AGENT
UNDECIDED = "openai:undecided"
"""An agent has to have a model; each run names its own."""
MISTAKES = 5
"""How often a model may misuse one tool in a row, or answer with nothing that can be used."""
ANSWER_TOKENS = 16_384
MODEL_TRIES = 10
LONGEST_PAUSE = timedelta(minutes=5)
"""Between two tries, also where a provider asks for more."""


class Confidence(StrEnum):
    """How sure a model says it is."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Fix(BaseModel):
    """Say what you found and did. This ends your work."""

    cause: str = Field(max_length=2000, description="Why the check failed.")
    change: str = Field(max_length=2000, description="What you changed; if nothing, why.")
    risk: str = Field(max_length=2000, description="What could go wrong with the change.")
    confidence: Confidence = Field(description="How sure you are that the check passes now.")


ModelFor = Callable[[str], Model]


def build_agent(model_for: ModelFor = Elsewhere) -> Agent[Deps, Fix]:
    """The agent. `model_for` reaches the model of a name; without it the agent can only be run in a workflow."""
    return Agent(
        UNDECIDED,
        defer_model_check=True,
        name=NAME,
        deps_type=Deps,
        output_type=ToolOutput(Fix, name="finish"),
        system_prompt=PROMPT,
        retries={"tools": MISTAKES, "output": MISTAKES},
        model_settings=ModelSettings(max_tokens=ANSWER_TOKENS, cache=True),
        toolsets=[TOOLS],
        capabilities=[Steward(), _reaching(model_for), TemporalDurability(activity_config=_model_call())],
    )


def _reaching(model_for: ModelFor) -> ResolveModelId[Deps]:
    def resolve(_: ModelResolutionContext[Deps], model_id: str) -> Model:
        return model_for(model_id)

    return ResolveModelId(resolve)


def _model_call() -> ActivityConfig:
    return ActivityConfig(
        start_to_close_timeout=MODEL_BOUND,
        heartbeat_timeout=timedelta(seconds=5),
        retry_policy=RetryPolicy(
            initial_interval=timedelta(seconds=2), maximum_interval=LONGEST_PAUSE, maximum_attempts=MODEL_TRIES
        ),
        cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    )


AGENT = build_agent()
"""For workflows."""
