"""Attempts by a model over real HTTP: both providers' clients, and all that can go wrong on the way."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr
from temporalio.client import Client

from adapters.agents.llm.agent import LONGEST_PAUSE
from adapters.agents.llm.providers import Models
from adapters.models.recorded.faults import FaultKind, FaultRule
from adapters.models.recorded.ledger import Outcome
from adapters.models.recorded.script import Script, ToolCall, Turn, Usage
from sweeper.activities.requests import FixAnswer
from sweeper.model import FixOutcome, FixReport, Price
from sweeper.model.fix import Trouble
from sweeper.policy.model_access import ModelAccess
from tests.support.model_agent import FINISH, MemoryTools, start, working
from tests.support.recorded_models import RecordedModel, recorded_here
from tests.support.temporal import time_skipping_env

pytestmark = pytest.mark.slow

USAGE = Usage(input=1000, output=100)
SCRIPT = Script(
    turns=(
        Turn(calls=(ToolCall(name="read_file", arguments={"path": "app.py"}),), usage=USAGE),
        Turn(
            calls=(ToolCall(name="edit_file", arguments={"path": "app.py", "old": "broken", "new": "fine"}),),
            usage=USAGE,
        ),
        Turn(calls=(ToolCall(name="run_check", arguments={"check": "pytest"}),), usage=USAGE),
        Turn(calls=(ToolCall(name="finish", arguments=dict(FINISH)),), usage=USAGE),
    )
)
PROVIDERS = ("openai", "anthropic")
PRICES = {"recorded": Price(input_micro_usd=1_000_000, output_micro_usd=10_000_000)}


def access(provider: str, model: RecordedModel, key: str | None = None) -> ModelAccess:
    url = model.info.openai_url if provider == "openai" else model.info.url
    return ModelAccess(
        name=f"{provider}:recorded",
        url=url,
        key=SecretStr(key or model.info.key),
        providers=("127.0.0.1",),
        prices=PRICES,
    )


@asynccontextmanager
async def attempting(
    provider: str, state: Path, *rules: FaultRule, key: str | None = None
) -> AsyncIterator[tuple[RecordedModel, MemoryTools, Client]]:
    """Workers, a model that is spoilt so, and tools with one broken file."""
    tools = MemoryTools(files={"app.py": "broken\n"})
    async with recorded_here(SCRIPT, state) as model, time_skipping_env() as env:
        await model.spoil(*rules)
        asked = access(provider, model, key)
        async with working(env.client, tools, Models(asked).named, asked):
            yield model, tools, env.client


async def report_of(client: Client) -> FixReport:
    answer: FixAnswer = await (await start(client)).result()
    return answer.report


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_model_mends_the_file_and_its_cost_is_counted(tmp_path: Path, provider: str) -> None:
    async with attempting(provider, tmp_path) as (model, tools, client):
        report = await report_of(client)
        assert (await model.ledger()).total == 4
    assert tools.at_the_end() == {"app.py": "fine\n"}
    assert (report.outcome, report.spent.model_calls) == (FixOutcome.EDITED, 4)
    assert (report.spent.input_tokens, report.spent.output_tokens, report.spent.micro_usd) == (4000, 400, 8000)


AGAIN = [
    FaultRule(kind=FaultKind.RATE_LIMITED, turn=1, retry_after=7),
    FaultRule(kind=FaultKind.SERVER_ERROR, turn=1, times=2),
    FaultRule(kind=FaultKind.OVERLOADED, turn=1),
    FaultRule(kind=FaultKind.CUT, turn=1),
    FaultRule(kind=FaultKind.OVERSIZE, turn=1, size=5_000_000),
]


@pytest.mark.parametrize("rule", AGAIN, ids=lambda rule: rule.kind.value)
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_what_passes_is_asked_again_and_counted_once(tmp_path: Path, provider: str, rule: FaultRule) -> None:
    async with attempting(provider, tmp_path, rule) as (model, tools, client):
        report = await report_of(client)
        ledger = await model.ledger()
    assert tools.at_the_end() == {"app.py": "fine\n"}
    assert (report.outcome, report.spent.model_calls) == (FixOutcome.EDITED, 4)
    assert (ledger.distinct, ledger.total) == (4, 4 + (rule.times or 0))


ODD = [
    FaultRule(kind=FaultKind.REPEATED_IDS, times=None),
    FaultRule(kind=FaultKind.STORM, turn=1, size=300),
    FaultRule(kind=FaultKind.OVERSIZE, turn=1, size=300_000),
    FaultRule(kind=FaultKind.UNKNOWN_TOOL, turn=1),
    FaultRule(kind=FaultKind.INVALID_ARGUMENTS, turn=1),
]


@pytest.mark.parametrize("rule", ODD, ids=lambda rule: rule.kind.value)
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_an_odd_answer_does_not_end_the_attempt(tmp_path: Path, provider: str, rule: FaultRule) -> None:
    async with attempting(provider, tmp_path, rule) as (_, tools, client):
        report = await report_of(client)
    assert report.outcome in (FixOutcome.EDITED, FixOutcome.NO_CHANGE)
    assert report.trouble is None
    # What is not let through counts as said, so the script's edit is lost with it.
    was_dropped = rule.kind in (FaultKind.STORM, FaultKind.OVERSIZE)
    assert ("edit_file" in tools.used) != was_dropped
    assert len(tools.used) <= 3


ENDS: list[tuple[FaultRule | None, str | None, Trouble | None, str]] = [
    (None, "sk-wrong", Trouble.MODEL_AWAY, "refuses our key"),
    (FaultRule(kind=FaultKind.CONTEXT_LENGTH, turn=1), None, Trouble.CONTEXT_FULL, "too long for the model"),
    (FaultRule(kind=FaultKind.RATE_LIMITED, times=None), None, Trouble.MODEL_AWAY, "held our rate down"),
    (FaultRule(kind=FaultKind.SERVER_ERROR, times=None), None, Trouble.MODEL_AWAY, "try again later"),
    (FaultRule(kind=FaultKind.NONSENSE, times=None), None, Trouble.MODEL_AWAY, "The model's provider"),
    (FaultRule(kind=FaultKind.REFUSAL, times=None), None, None, ""),
]


@pytest.mark.parametrize(("rule", "key", "trouble", "said"), ENDS, ids=lambda value: str(value)[:24])
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_what_does_not_pass_ends_the_attempt_with_a_sentence(
    tmp_path: Path, provider: str, rule: FaultRule | None, key: str | None, trouble: Trouble | None, said: str
) -> None:
    async with attempting(provider, tmp_path, *((rule,) if rule else ()), key=key) as (model, tools, client):
        report = await report_of(client)
        assert len(tools.reports) == 1
        assert model.info.key not in report.model_dump_json()
    assert (report.outcome, report.trouble) == (FixOutcome.FAILED, trouble)
    assert said in report.summary


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_cancelled_attempt_hangs_up_on_the_model(tmp_path: Path, provider: str) -> None:
    async with attempting(provider, tmp_path, FaultRule(kind=FaultKind.HOLD)) as (model, tools, client):
        handle = await start(client)
        await model.until(lambda ledger: ledger.open == 1)
        await handle.cancel()
        ledger = await model.until(lambda ledger: ledger.open == 0)
    assert [entry.outcome for entry in ledger.entries if entry.is_model_call] == [Outcome.GONE]
    assert tools.reports == []


@pytest.mark.parametrize(("asked_for", "least"), [(7, 7), (90_000, 60)])
async def test_a_provider_is_left_alone_as_long_as_it_asks_for_up_to_a_bound(
    tmp_path: Path, asked_for: float, least: float
) -> None:
    rule = FaultRule(kind=FaultKind.RATE_LIMITED, turn=0, retry_after=asked_for)
    async with attempting("openai", tmp_path, rule) as (_, _, client):
        handle = await start(client)
        await handle.result()
        events = (await handle.fetch_history()).events
    asked = next(
        event
        for event in events
        if event.activity_task_scheduled_event_attributes.activity_type.name.endswith("model_request")
    )
    begun = next(
        event for event in events if event.activity_task_started_event_attributes.scheduled_event_id == asked.event_id
    )
    assert begun.activity_task_started_event_attributes.attempt == 2
    passed = (begun.event_time.ToDatetime() - asked.event_time.ToDatetime()).total_seconds()
    assert least <= passed < LONGEST_PAUSE.total_seconds() + 60
