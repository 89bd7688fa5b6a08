"""The worker of the agent `llm`, where it is asked for. Its library is an extra, loaded here and nowhere else."""

from collections.abc import Sequence
from importlib.util import find_spec

from temporalio.client import Client
from temporalio.worker import Worker

from sweeper.activities import names
from sweeper.config import Settings
from sweeper.errors import MissingTool
from sweeper.worker import EdgeInterceptor, workflow_runner

EXTRA = ("pydantic_ai", "openai", "anthropic")


def model_workers(client: Client, settings: Settings) -> Sequence[Worker]:
    """None, if no model is to make attempts here.

    Raises MissingTool without the extra, BadInput and PolicyDenied for a model that cannot or may not be asked.
    """
    if names.MODEL_AGENT not in settings.agents:
        return ()
    require_extra()
    from adapters.agents.llm.providers import Models
    from adapters.agents.llm.worker import WorkerKit, build_llm_worker

    access = settings.model_access()
    kit = WorkerKit(runner=workflow_runner(), interceptors=[EdgeInterceptor()], grace=settings.stop_grace)
    return (build_llm_worker(client, access, Models(access).named, kit),)


def require_extra() -> None:
    """Raises MissingTool where the extra is not installed."""
    if not all(map(_is_installed, EXTRA)):
        raise MissingTool("The agent `llm` needs more packages: pip install 'ci-sweeper[llm]'.")


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ValueError:  # it was taken out of this process
        return False
