"""The worker of the agent `llm`, where it is asked for. Its library is an extra, loaded here and nowhere else."""

from collections.abc import Sequence

from temporalio.client import Client
from temporalio.worker import Worker

from sweeper.config import Settings
from sweeper.errors import MissingTool
from sweeper.worker import EdgeInterceptor, workflow_runner

AGENT = "llm"
EXTRA = ("pydantic_ai", "pydantic_graph", "openai", "anthropic", "httpx2")


def model_workers(client: Client, settings: Settings) -> Sequence[Worker]:
    """None, if no model is to make attempts here.

    Raises MissingTool without the extra, BadInput and PolicyDenied for a model that cannot or may not be asked.
    """
    if AGENT not in settings.agents:
        return ()
    try:
        from adapters.agents.llm.access import ModelAccess
        from adapters.agents.llm.providers import Models
        from adapters.agents.llm.worker import WorkerKit, build_llm_worker
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in EXTRA:
            raise
        raise MissingTool("The agent `llm` needs more packages: pip install 'ci-sweeper[llm]'.") from error
    access = ModelAccess(
        name=settings.model or "",
        url=settings.model_url,
        key=settings.model_key,
        providers=settings.model_providers,
        prices={name: price.price() for name, price in settings.prices.items()},
    )
    kit = WorkerKit(runner=workflow_runner(), interceptors=[EdgeInterceptor()], grace=settings.stop_grace)
    return (build_llm_worker(client, access, Models(access).named, kit),)
