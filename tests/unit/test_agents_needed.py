"""What agents cannot work without is told before anything starts."""

import pytest

from sweeper.cli.agents_needed import require_agents
from sweeper.config import only_settings
from sweeper.errors import BadInput, PolicyDenied, SweeperError

MODEL = {"agents": "llm", "model": "openai:m", "model_key": "a key"}
PRESET = {"agents": "command", "agent_preset": "claude-code", "model": "anthropic:m", "model_key": "a key"}


@pytest.mark.parametrize(
    ("wanted", "error", "says"),
    [
        ({**MODEL, "model_key": None}, BadInput, "set SWEEPER_MODEL_KEY"),
        ({**MODEL, "model_providers": "api.anthropic.com"}, PolicyDenied, "SWEEPER_MODEL_PROVIDERS"),
        ({**MODEL, "budget": '{"usd": 1}'}, BadInput, "SWEEPER_PRICES"),
        ({**MODEL, "budget_repository_day": '{"usd": 1}'}, BadInput, "SWEEPER_PRICES"),
        ({**PRESET, "agent_preset": "cursor"}, BadInput, "no preset 'cursor'"),
        ({**PRESET, "agent_preset": "codex"}, BadInput, "speaks openai"),
        ({**PRESET, "model_key": None}, BadInput, "set SWEEPER_MODEL_KEY"),
    ],
)
def test_what_is_missing_or_does_not_fit_is_one_sentence(
    wanted: dict[str, object], error: type[SweeperError], says: str
) -> None:
    with pytest.raises(error, match=says):
        require_agents(only_settings(wanted))


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"agents": "command", "agent_command": "true"},
        MODEL,
        PRESET,
        {**MODEL, "model_key": None, "model_url": "http://127.0.0.1:1/v1"},
        {**MODEL, "budget": '{"usd": 1}', "prices": '{"m": {"input": 1, "output": 2}}'},
    ],
)
def test_what_is_enough_is_not_refused(wanted: dict[str, object]) -> None:
    require_agents(only_settings(wanted))
