"""The one activity of this queue that others call. Asking twice is safe: it only tells what is configured."""

from temporalio import activity

from adapters.agents.llm.prompt import versions
from sweeper.activities import names, requests, toolbox
from sweeper.policy.model_access import ModelAccess


class ModelActivities:
    """Tells whether and which model can be asked here."""

    def __init__(self, access: ModelAccess) -> None:
        self._access = access

    @activity.defn(name=names.MODEL_READY.name)
    async def model_ready(self, request: requests.AttemptRequest) -> toolbox.ModelReady:
        """Also the sign that somebody serves this queue at all."""
        access = self._access
        if request.allowance.micro_usd is not None and access.price is None:
            name = access.name.partition(":")[2]
            problem = f"money is bounded and {name!r} has no price; set SWEEPER_PRICES, or no bound in money"
            return toolbox.ModelReady(problem=problem)
        return toolbox.ModelReady(versions=versions(access.name), model=access.name, price=access.price)
