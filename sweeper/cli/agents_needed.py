"""What agents cannot work without, told in one sentence before anything starts."""

from adapters.agents.command import fitting
from adapters.agents.presets import preset_of
from adapters.models.proxy_upstream import upstream
from sweeper.cli.model_worker import AGENT as MODEL_AGENT
from sweeper.cli.model_worker import require_extra
from sweeper.config import Settings
from sweeper.errors import BadInput


def require_agents(settings: Settings) -> None:
    """Raises BadInput for a model, key, price or preset that is missing or does not fit, PolicyDenied for a model that
    may not see code, MissingTool without the packages of the agent `llm`.
    """
    has_preset = settings.agent_preset is not None and "command" in settings.agents
    if not has_preset and MODEL_AGENT not in settings.agents:
        return
    if settings.model is None:
        raise BadInput("This agent asks a model; set SWEEPER_MODEL to PROVIDER:NAME.")
    there = upstream(settings.model, settings.model_url, settings.model_key, settings.model_providers)
    if settings.agent_preset is not None and has_preset:
        fitting(preset_of(settings.agent_preset), there.provider)
    if settings.model_key is None and settings.model_url is None:
        raise BadInput(f"The provider of {settings.model} wants a key; set SWEEPER_MODEL_KEY.")
    budgets = (settings.budget, settings.budget_repository_day, settings.budget_installation_day)
    if any(budget.usd is not None for budget in budgets) and there.model not in settings.prices:
        raise BadInput(f"A budget bounds money and {there.model} has no price; give it one in SWEEPER_PRICES.")
    if MODEL_AGENT in settings.agents:
        require_extra()
