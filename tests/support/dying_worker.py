"""A worker as the product builds it, in a process of its own that keeps a diary and can be told where to die.

Nothing in the product knows of this. A client's interceptor is put in front of the worker's own by Temporal, and a
client's payload codec sees what reaches the worker before any workflow code does.
"""

import asyncio
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from temporalio import activity
from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.client import Interceptor as ClientInterceptor
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.converter import PayloadCodec
from temporalio.worker import (
    ActivityInboundInterceptor,
    ExecuteActivityInput,
    Interceptor,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
)

from adapters.loopback.options import LoopbackInfo
from adapters.sandbox import Unsandboxed
from adapters.temporal.sweeps import TemporalSweeps
from adapters.temporal.targets import TemporalTargets
from sweeper.cli import composition
from sweeper.config import Settings, prepare_state_dir
from sweeper.model import Strict
from sweeper.ports import Durable, Ports
from sweeper.worker import WorkerOptions, build_workers, run_workers
from tests.support.red_run import AGENT
from tests.support.short_tasks import ShortTasks

_PROCESSES = get_context("forkserver")
_PROCESSES.set_forkserver_preload([__name__])


class Moment(StrEnum):
    """When to die. `recorded`: the activity's answer is in the history, its workflow has not heard of it yet.
    `unrecorded`: the activity has done all it does, its answer is not sent.
    """

    RECORDED = "recorded"
    UNRECORDED = "unrecorded"


@dataclass(frozen=True)
class Fate:
    """The first run of this activity is the last one that this worker sees."""

    activity: str
    moment: Moment


class Execution(Strict):
    """An activity's body that began to run: `activity_id` is the same for all tries of one call."""

    activity: str
    workflow_id: str
    activity_id: str


@dataclass(frozen=True)
class Life:
    """What a worker process works with."""

    temporal: str
    github: LoopbackInfo
    state_dir: Path
    task_queue: str
    fate: Fate | None = None

    @property
    def diary(self) -> Path:
        """One line per execution; shared by all lives on the state directory."""
        return self.state_dir / "diary.jsonl"

    def begin(self) -> BaseProcess:
        """A process of its own; forked from one that has loaded everything, because loading takes a second."""
        process = _PROCESSES.Process(target=_live, args=(self,), daemon=True)
        process.start()
        return process


def read_diary(diary: Path) -> tuple[Execution, ...]:
    """Every execution by any life so far, in order."""
    return tuple(Execution.model_validate_json(line) for line in diary.read_text().splitlines())


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class _Hand:
    """Writes the diary and knows when the time has come."""

    def __init__(self, life: Life) -> None:
        self._diary = life.diary
        self._fate = life.fate
        self._answered = False

    def begins(self) -> None:
        info = activity.info()
        line = Execution(activity=info.activity_type, workflow_id=info.workflow_id or "", activity_id=info.activity_id)
        with self._diary.open("a") as file:
            file.write(line.model_dump_json() + "\n")

    def ends(self) -> None:
        if self._fate is not None and activity.info().activity_type == self._fate.activity:
            if self._fate.moment is Moment.UNRECORDED:
                _die()
            self._answered = True

    def something_came(self) -> None:
        """After an answer went out, the next thing to come is the workflow task that its record caused."""
        if self._answered:
            _die()


class _Watched(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, hand: _Hand) -> None:
        super().__init__(next)
        self._hand = hand

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        self._hand.begins()
        answer = await super().execute_activity(input)
        self._hand.ends()
        return answer


class _Watch(ClientInterceptor, Interceptor):
    def __init__(self, hand: _Hand) -> None:
        self._hand = hand

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return _Watched(next, self._hand)

    def workflow_interceptor_class(self, input: WorkflowInterceptorClassInput) -> type[WorkflowInboundInterceptor]:
        return ShortTasks


class _Doorkeeper(PayloadCodec):
    """Changes nothing."""

    def __init__(self, hand: _Hand) -> None:
        self._hand = hand

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return list(payloads)

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        self._hand.something_came()
        return list(payloads)


def _live(life: Life) -> None:
    asyncio.run(_work(life))


async def _work(life: Life) -> None:
    hand = _Hand(life)
    converter = replace(pydantic_data_converter, payload_codec=_Doorkeeper(hand))
    client = await Client.connect(life.temporal, data_converter=converter, interceptors=[_Watch(hand)])
    queue = life.task_queue
    durable = Durable(TemporalSweeps(client, queue), TemporalTargets(client, queue))
    await run_workers(build_workers(client, _ports(life), durable, WorkerOptions(task_queue=queue)))


def _ports(life: Life) -> Ports:
    """As the product's, but without a sandbox: here it would only cost time."""
    settings = Settings.model_validate(
        {
            "state_dir": life.state_dir,
            "github_url": life.github.url,
            "github_token": SecretStr(life.github.token),
            "agents": ("command",),
            "agent_command": AGENT,
        }
    )
    state = prepare_state_dir(settings)
    sandbox, store = Unsandboxed(), composition.artifacts(state)
    return Ports(
        code_host=composition.code_host(settings, state),
        workspaces=composition.workspaces(state.worktrees, sandbox),
        sandbox=sandbox,
        agents=composition.agents(settings, sandbox, store),
        artifacts=store,
    )
