"""A worker as the product builds it, in a process of its own that keeps a diary and can be told where to die.

Nothing in the product knows of this. A client's interceptor is put in front of the worker's own by Temporal, and a
client's payload codec sees what reaches the worker before any workflow code does.
"""

import asyncio
import logging
import os
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
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
from temporalio.exceptions import ApplicationError
from temporalio.runtime import LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter
from temporalio.worker import (
    ActivityInboundInterceptor,
    ExecuteActivityInput,
    Interceptor,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
)
from temporalio.worker._worker import load_default_build_id

from adapters.loopback.options import LoopbackInfo
from adapters.sandbox import Unsandboxed, choose_sandbox
from adapters.temporal.spending import TemporalSpending
from adapters.temporal.sweeps import TemporalSweeps
from adapters.temporal.targets import TemporalTargets
from sweeper.activities.names import TASK_QUEUE
from sweeper.cli import composition
from sweeper.cli.model_worker import model_workers
from sweeper.cli.upkeep import caretaking
from sweeper.config import Settings, prepare_state_dir
from sweeper.errors import Permanent
from sweeper.model import Strict
from sweeper.ports import Durable, Ports
from sweeper.worker import WorkerOptions, build_workers, run_workers
from tests.support.red_run import AGENT
from tests.support.short_tasks import ShortTasks

PROCESSES = get_context("forkserver")
"""Processes are forked from one that has loaded everything, because loading takes a second."""
PROCESSES.set_forkserver_preload([__name__, "tests.support.web_process"])
_LOOK_EVERY = 0.05
load_default_build_id()  # remembered by the process that is forked from; it takes a second


class Moment(StrEnum):
    """When it happens. `recorded`: the activity's answer is in the history, its workflow has not heard of it yet.
    `unrecorded`: the activity has done all it does, its answer is not sent. At these the worker dies by itself.

    These are for `Doom`: `before` and `after` its body the worker stands still, heart beating, until it is killed or
    told to go on; `denied` and `spoilt`: every try fails for good, before or after it did its work.
    """

    RECORDED = "recorded"
    UNRECORDED = "unrecorded"
    BEFORE = "before"
    AFTER = "after"
    DENIED = "denied"
    SPOILT = "spoilt"


@dataclass(frozen=True)
class Fate:
    """What happens to the first run of this activity (to each, if it fails for good)."""

    activity: str
    moment: Moment


class Doom(Strict):
    """The fate of one workflow's activity, for workers that serve many; `name` names the files it is told by.

    `activity_id`: of one call only; None: of the first that comes.
    """

    name: str
    activity: str
    moment: Moment
    activity_id: str | None = None


class Execution(Strict):
    """An activity's body that began to run: `activity_id` is the same for all tries of one call."""

    activity: str
    workflow_id: str
    activity_id: str


class Span(Strict):
    """From when to when an activity's body ran, and for which workflow."""

    activity: str
    workflow: str
    begun: datetime
    ended: datetime


@dataclass(frozen=True)
class ModelLife:
    """The model that the agent `llm` asks."""

    url: str
    key: str


@dataclass(frozen=True)
class Shared:
    """What several hosts have in common: where big texts are kept, and the key of our marks."""

    artifacts: str
    marker_key: str


@dataclass(frozen=True)
class Life:
    """What a worker process works with. `tools`: programs that are found before the machine's own; `dooms`: where
    workflows' fates stand in files, see `Dooms`; `activities`: how many may run at once.
    """

    temporal: str
    github: LoopbackInfo
    state_dir: Path
    task_queue: str
    fate: Fate | None = None
    sandboxed: bool = False
    tools: Path | None = None
    dooms: Path | None = None
    activities: int = 4
    alert_command: str | None = None
    model: ModelLife | None = None
    shared: Shared | None = None

    @property
    def diary(self) -> Path:
        """One line per execution; shared by all lives on the state directory."""
        return self.state_dir / "diary.jsonl"

    @property
    def spans(self) -> Path:
        """One line per execution that came to its end."""
        return self.state_dir / "spans.jsonl"

    def begin(self) -> BaseProcess:
        """A process of its own; forked from one that has loaded everything, because loading takes a second."""
        process = PROCESSES.Process(target=_live, args=(self,), daemon=True)
        process.start()
        return process


class Dooms:
    """A directory by which workers are told what is to happen to whom, and by which they tell that it has come."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def tell(self, doom: Doom, *workflows: str) -> None:
        """From now on it holds for the activities of these workflows (or of their attempts, or of that target)."""
        for workflow in workflows:
            (self._place / f"{workflow}.doom").write_text(doom.model_dump_json())

    def like(self, workflow: str, other: str) -> None:
        """What holds for one holds for the other, too."""
        if (doom := self.of(workflow)) is not None:
            self.tell(doom, other)

    def of(self, workflow_id: str) -> Doom | None:
        """What is to happen to that workflow's activities."""
        key = re.sub(r"^(target-\d+)-.*$", r"\1", re.sub(r"-a\d+(?:-llm)?$", "", workflow_id))
        file = self._place / f"{key}.doom"
        return Doom.model_validate_json(file.read_bytes()) if file.exists() else None

    def stands(self, name: str) -> bool:
        """Whether it has come: a worker stands still, or has stood there before it was killed."""
        return (self._place / f"{name}.stands").exists()

    def stand(self, name: str) -> None:
        """It has come."""
        (self._place / f"{name}.stands").touch()

    def may_go(self, name: str) -> bool:
        """Whether the one who stands may go on."""
        return (self._place / f"{name}.go").exists()

    def go(self, name: str) -> None:
        """The one who stands may go on."""
        (self._place / f"{name}.go").touch()


def read_diary(diary: Path) -> tuple[Execution, ...]:
    """Every execution by any life so far, in order."""
    return tuple(Execution.model_validate_json(line) for line in _lines(diary))


def read_spans(spans: Path) -> tuple[Span, ...]:
    """Every execution that came to its end, in order."""
    return tuple(Span.model_validate_json(line) for line in _lines(spans))


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class _Hand:
    """Writes the diary and knows when the time has come."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self._answered = False
        self._dooms = Dooms(life.dooms) if life.dooms else None

    async def begins(self) -> None:
        info = activity.info()
        line = Execution(activity=info.activity_type, workflow_id=info.workflow_id or "", activity_id=info.activity_id)
        with self._life.diary.open("a") as file:
            file.write(line.model_dump_json() + "\n")
        await self._comes(Moment.BEFORE)
        self._fails(Moment.DENIED)

    async def ends(self, begun: datetime) -> None:
        info = activity.info()
        span = Span(activity=info.activity_type, workflow=info.workflow_id or "", begun=begun, ended=datetime.now(UTC))
        with self._life.spans.open("a") as file:
            file.write(span.model_dump_json() + "\n")
        await self._comes(Moment.AFTER)
        self._fails(Moment.SPOILT)
        if self._is_due(Moment.UNRECORDED):
            _die()
        self._answered = self._answered or self._is_due(Moment.RECORDED)

    def something_came(self) -> None:
        """After an answer went out, the next thing to come is the workflow task that its record caused."""
        if self._answered:
            _die()

    async def _comes(self, moment: Moment) -> None:
        doom = self._doom()
        if doom is None or self._dooms is None or doom.moment is not moment or self._dooms.stands(doom.name):
            return
        self._dooms.stand(doom.name)
        while not self._dooms.may_go(doom.name):
            activity.heartbeat()
            await asyncio.sleep(_LOOK_EVERY)

    def _fails(self, moment: Moment) -> None:
        doom = self._doom()
        if doom is not None and doom.moment is moment:
            raise ApplicationError("It cannot be done; the test says so.", type=Permanent.__name__, non_retryable=True)

    def _doom(self) -> Doom | None:
        info = activity.info()
        doom = self._dooms.of(info.workflow_id or "") if self._dooms else None
        if doom is None or doom.activity != info.activity_type:
            return None
        return doom if doom.activity_id in (None, info.activity_id) else None

    def _is_due(self, moment: Moment) -> bool:
        fate = self._life.fate
        return fate is not None and fate.moment is moment and fate.activity == activity.info().activity_type


class _Watched(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, hand: _Hand) -> None:
        super().__init__(next)
        self._hand = hand

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        await self._hand.begins()
        begun = datetime.now(UTC)
        answer = await super().execute_activity(input)
        await self._hand.ends(begun)
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
    logging.getLogger("temporalio").setLevel(logging.CRITICAL)  # failing activities are what is wanted here
    if life.tools is not None:
        os.environ["PATH"] = f"{life.tools}{os.pathsep}{os.environ['PATH']}"
    asyncio.run(_work(life))


async def _work(life: Life) -> None:
    hand = _Hand(life)
    converter = replace(pydantic_data_converter, payload_codec=_Doorkeeper(hand))
    # What kills cause the SDK's core to say is nobody's news, and it would say it on stdout.
    silent = LoggingConfig(filter=TelemetryFilter(core_level="ERROR", other_level="ERROR"))
    client = await Client.connect(
        life.temporal,
        data_converter=converter,
        interceptors=[_Watch(hand)],
        runtime=Runtime(telemetry=TelemetryConfig(logging=silent)),
    )
    queue = life.task_queue
    settings = _settings(life)
    ports, sweeps = await _ports(life, settings), TemporalSweeps(client, queue)
    care = caretaking(settings, prepare_state_dir(settings), ports.code_host, sweeps)
    options = WorkerOptions(task_queue=queue, activities=life.activities)
    # Whoever has a queue of its own shares nothing: what it started there nobody would serve once it is dead.
    spending = TemporalSpending(client, life.github.url if queue == TASK_QUEUE else f"http://{queue}", queue)
    durable = Durable(sweeps, TemporalTargets(client, queue), care, spending=spending)
    await run_workers([*build_workers(client, ports, durable, options), *model_workers(client, settings)])


def _settings(life: Life) -> Settings:
    found = settings_of(life.github, life.state_dir, life.alert_command)
    if life.shared is not None:
        shared = {"artifacts_url": life.shared.artifacts, "marker_key": SecretStr(life.shared.marker_key)}
        found = found.model_copy(update=shared)
    if life.model is not None:
        asked = {"model": "openai:recorded", "model_url": life.model.url, "model_key": SecretStr(life.model.key)}
        found = found.model_copy(update={**asked, "agents": ("command", "llm")})
    return found


def settings_of(github: LoopbackInfo, state_dir: Path, alert_command: str | None = None) -> Settings:
    """Of a process that works with that GitHub."""
    return Settings.model_validate(
        {
            "state_dir": state_dir,
            "github_url": github.url,
            "github_token": SecretStr(github.token),
            "agents": ("command",),
            "agent_command": AGENT,
            "alert_command": alert_command,
        }
    )


async def _ports(life: Life, settings: Settings) -> Ports:
    """As the product's, but mostly without a sandbox: where no command is cut short it would only cost time."""
    state = prepare_state_dir(settings)
    sandbox = await choose_sandbox(allow_unsandboxed=False, private=(state.root,)) if life.sandboxed else Unsandboxed()
    store = composition.artifacts(state, settings.artifacts_url)
    return Ports(
        code_host=composition.code_host(settings, state),
        workspaces=composition.workspaces(state.worktrees, sandbox),
        journals=composition.journals(state.worktrees, sandbox),
        sandbox=sandbox,
        agents=composition.agents(settings, sandbox, store),
        artifacts=store,
    )
