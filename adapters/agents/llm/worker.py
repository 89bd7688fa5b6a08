"""The worker of the agent's own queue, for a process that has the extra installed.

A worker of its own, because pydantic-ai's plugin changes the workflow sandbox and the decoding of payloads for every
workflow of the worker it is given to. What it writes is plain pydantic JSON as everywhere else.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from pydantic_ai.durable_exec.temporal import PydanticAIPlugin, TemporalDurability
from temporalio.client import Client
from temporalio.worker import Interceptor, Worker, WorkflowRunner

from adapters.agents.llm.activities import ModelActivities
from adapters.agents.llm.agent import ModelFor, build_agent
from adapters.agents.llm.workflow import LlmWorkflow
from sweeper.activities import names
from sweeper.errors import Bug
from sweeper.policy.model_access import ModelAccess

CACHED_WORKFLOWS = 50
STICKY_TIMEOUT = timedelta(seconds=2)
HEARTBEATS = timedelta(seconds=2)
"""At most that far apart, because a cancellation comes back with a heartbeat's answer."""


@dataclass(frozen=True)
class WorkerKit:
    """What every worker of ours is built with. `questions`: to models, at once. `grace`: for them when it stops."""

    runner: WorkflowRunner
    interceptors: Sequence[Interceptor] = ()
    grace: timedelta = timedelta(seconds=10)
    questions: int = 8
    queue: str = field(default=names.MODEL_QUEUE)


def build_llm_worker(client: Client, access: ModelAccess, model_for: ModelFor, kit: WorkerKit) -> Worker:
    """Polls for attempts by a model, and asks it."""
    plugin = PydanticAIPlugin()
    return Worker(
        Client(**plugin.configure_client(client.config())),
        task_queue=kit.queue,
        workflows=[LlmWorkflow],
        activities=[ModelActivities(access).model_ready, *_questions(model_for)],
        workflow_runner=kit.runner,
        interceptors=kit.interceptors,
        plugins=[plugin],
        max_cached_workflows=CACHED_WORKFLOWS,
        max_concurrent_activities=kit.questions,
        sticky_queue_schedule_to_start_timeout=STICKY_TIMEOUT,
        max_heartbeat_throttle_interval=HEARTBEATS,
        graceful_shutdown_timeout=kit.grace,
    )


def _questions(model_for: ModelFor) -> list[Callable[..., Any]]:
    durability = TemporalDurability.from_agent(build_agent(model_for))
    if durability is None:
        raise Bug("The agent has lost its durability; please report this.")
    return durability.temporal_activities
