"""What agents cannot work without, told in one sentence before anything starts."""

from adapters.agents.command import fitting
from adapters.agents.presets import preset_of
from sweeper.activities.names import MODEL_AGENT
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
    access = settings.model_access()
    access.check()
    if settings.agent_preset is not None and has_preset:
        fitting(preset_of(settings.agent_preset), access.provider)
    budgets = (settings.budget, settings.budget_repository_day, settings.budget_installation_day)
    if any(budget.usd is not None for budget in budgets) and access.price is None:
        raise BadInput(f"A budget bounds money and {access.model} has no price; give it one in SWEEPER_PRICES.")
    if MODEL_AGENT in settings.agents:
        require_extra()
