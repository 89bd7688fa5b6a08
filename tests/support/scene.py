"""A whole sweep in memory: the real workflows and activities on a time-skipping server, around fakes that keep state.

Tests say what people and CI do (`github`), let time pass (`sleep`), and look at where the sweep is (`until`).
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflow.v1 import WorkflowExecutionInfo
from temporalio.api.workflowservice.v1 import DescribeWorkflowExecutionRequest
from temporalio.client import WorkflowHandle
from temporalio.testing import WorkflowEnvironment

from adapters.temporal.targets import TemporalTargets
from sweeper import ids
from sweeper.activities.names import TASK_QUEUE
from sweeper.model import (
    Checkpoint,
    CheckReport,
    EffectState,
    Limits,
    MergeMode,
    Outcome,
    ReviewState,
    RunRef,
    Step,
    SweepInput,
    SweepResult,
    SweepSettings,
    Timeouts,
    Trigger,
    TriggerSource,
    Workspace,
)
from sweeper.ports import Durable, FixAgent, Ports, SandboxRun
from sweeper.worker import build_workers
from sweeper.workflows.progress import MEMO
from sweeper.workflows.sweep import SweepWorkflow
from tests.support.agents import Edit, Gate, ScriptedAgent, Turn
from tests.support.code_host import FakeCodeHost
from tests.support.code_host_state import FakeJob, FakePull
from tests.support.journals import FakeJournals
from tests.support.sandbox import FakeSandbox, Reply
from tests.support.scene_doubles import LinkedWorkspaces, MemoryArtifacts, SceneSpending, SceneSweeps
from tests.support.temporal import time_skipping_env
from tests.support.workspaces import FakeWorkspaces

REPOSITORY_ID = 4711
WORKFLOW_FILE = b"jobs: {test: {steps: [{run: pytest}]}}"
RED = {"app.py": "answer = 41\n"}
GREEN = "answer = 42\n"
PATIENCE = 30.0
SETTINGS = SweepSettings(
    agents=("scripted",),
    merge_mode=MergeMode.MERGE,
    poll_interval=timedelta(hours=3),
    checks_grace=timedelta(0),
    limits=Limits(files=3, lines=20),
    timeouts=Timeouts(heartbeat=timedelta(seconds=1), retry_first=timedelta(milliseconds=10), tries=5),
)


def job_log(script: str, *lines: str) -> bytes:
    """A job's log as GitHub keeps it: one step, what it printed, and a line of the runner's for its end."""
    shown = (f"##[group]Run {script}", script, "shell: /usr/bin/bash -e {0}", "##[endgroup]", *lines)
    ends = () if any("##[error]" in line for line in lines[-1:]) else ("##[error]Process completed with exit code 1.",)
    return "".join(f"2026-01-01T00:00:00.0000000Z {line}\n" for line in (*shown, *ends)).encode()


def edit(files: Mapping[str, str | None]) -> Callable[[FakeWorkspaces], Edit]:
    """An agent's edit: path to new text, None to delete."""

    def in_workspaces(workspaces: FakeWorkspaces) -> Edit:
        def apply(workspace: Workspace) -> None:
            tree = workspaces.tree(workspace)
            for path, text in files.items():
                if text is None:
                    tree.pop(path, None)
                else:
                    tree[path] = text.encode()

        return apply

    return in_workspaces


FIXES = edit({"app.py": GREEN})
FIXES_MORE = edit({"app.py": GREEN, "extra.py": "asked = True\n"})
CHANGES_NOTHING = edit({})
MISSES = edit({"app.py": "answer = 43\n"})


@dataclass
class Scene:
    """One repository with a red run, and the sweep for it."""

    env: WorkflowEnvironment
    github: FakeCodeHost = field(default_factory=lambda: FakeCodeHost(repository_id=REPOSITORY_ID))
    sandbox: FakeSandbox = field(default_factory=FakeSandbox)
    artifacts: MemoryArtifacts = field(default_factory=MemoryArtifacts)
    agent: ScriptedAgent = field(default_factory=lambda: ScriptedAgent([Turn()]))
    agents: dict[str, FixAgent] = field(default_factory=dict)
    workspaces: LinkedWorkspaces = field(init=False)
    sweeps: SceneSweeps = field(init=False)
    spending: SceneSpending = field(init=False)
    run: RunRef = field(init=False)
    handle: WorkflowHandle[SweepWorkflow, SweepResult] = field(init=False)

    def __post_init__(self) -> None:
        self.workspaces = LinkedWorkspaces(self.github)
        self.sweeps = SceneSweeps(self.env.client)
        self.spending = SceneSpending(self.env.client, self.github.api_url)
        self.agents[self.agent.name] = self.agent
        self.github.set_permission("ann", "write")
        self.github.set_file(".github/workflows/ci.yml", WORKFLOW_FILE)
        self.push("main", RED)
        self.run = self.github.add_run(jobs=[FakeJob("test", steps=(("Run pytest", "failure"),))])
        self.sandbox.on("pytest", self._pytest)
        self.agent_does(FIXES)

    @property
    def ports(self) -> Ports:
        """All fakes together."""
        return Ports(
            self.github,
            self.workspaces,
            self.sandbox,
            self.agents,
            self.artifacts,
            journals=FakeJournals(self.workspaces),
        )

    @property
    def durable(self) -> Durable:
        """The targets and what is spent are real, too."""
        return Durable(self.sweeps, TemporalTargets(self.env.client), spending=self.spending)

    @property
    def workflow_id(self) -> str:
        """The sweep's."""
        return ids.sweep_id(self.run, self.github.api_url)

    @property
    def branch(self) -> str:
        """The proposal's."""
        return ids.branch_of(self.workflow_id)

    @property
    def pull(self) -> FakePull:
        """The only pull request there is."""
        (only,) = self.github.pulls.values()
        return only

    @property
    def ours(self) -> list[FakePull]:
        """Proposals, open or not; what people opened is not among them."""
        return [pull for pull in self.github.pulls.values() if pull.author == self.github.bot_login]

    @property
    def told(self) -> CheckReport:
        """What the only check run of ours says."""
        (only,) = self.github.check_runs
        return only.report

    # What people, agents and CI do

    def fails(self, *jobs: FakeJob, **run: Any) -> None:
        """CI ends red with these jobs; the sweep will be for that. The rest as `add_run` takes it."""
        self.run = self.github.add_run(jobs=jobs, **run)

    def push(self, branch: str, files: Mapping[str, str], start: str | None = None) -> str:
        """Somebody pushes these files on top of a branch; a new one begins where `start` is, or from nothing."""
        parent = self.github.branches.get(branch) or self.github.branches.get(start or "")
        known = parent if parent in self.workspaces.commits else None
        commit = self.workspaces.seed(REPOSITORY_ID, files, branch, known)
        self.github.parents[commit], self.github.subjects[commit] = parent or "", "Change something"
        self.github.set_branch_head(branch, commit)
        return commit

    def agent_does(self, *edits: Callable[[FakeWorkspaces], Edit]) -> None:
        """What the agent edits in its first, second, ... try; the last one again and again."""
        self.agent.turns = [Turn(edit=change(self.workspaces)) for change in edits]

    def hold_agent(self) -> Gate:
        """From now on the agent waits at this gate in each try."""
        self.agent.gate = Gate()
        return self.agent.gate

    def run_ends(self, conclusion: str) -> None:
        """CI's word on the run attempt, also if it had another one before."""
        attempts = self.github.runs[self.run.run_id]
        attempts[0] = replace(attempts[0], conclusion=conclusion)

    def newest_attempt_ends(self, conclusion: str) -> None:
        """CI's word on the newest attempt of the run."""
        attempts = self.github.runs[self.run.run_id]
        attempts[-1] = replace(attempts[-1], conclusion=conclusion)

    def review(self, state: ReviewState, user: str = "ann") -> int:
        """A word on the proposal's head."""
        return self.github.review(self.pull.number, user, state)

    async def start(self, **settings: object) -> None:
        """The trigger."""
        sweep = SweepInput(
            run=self.run,
            trigger=Trigger(source=TriggerSource.WORKFLOW_RUN),
            settings=SETTINGS.model_copy(update=settings),
        )
        self.handle = await self.env.client.start_workflow(
            SweepWorkflow.run, sweep, id=self.workflow_id, task_queue=TASK_QUEUE
        )

    async def start_and_wait(self, **settings: object) -> None:
        """The trigger, and all that follows until somebody has to review the proposal."""
        await self.start(**settings)
        await self.waits_for("review")

    async def ring(self) -> None:
        """A webhook about the proposal came in."""
        await self.handle.signal("look")

    async def cancel(self, reason: str = "not wanted any more") -> None:
        """The operator's cancel. Call it while the sweep waits, or while what it does is held up: this server loses
        a workflow that cancels an activity which has just ended.
        """
        await self.handle.signal("cancel", reason)

    # Where the sweep is

    async def checkpoint(self, workflow_id: str | None = None) -> Checkpoint | None:
        """As `show` reads it: from the memo of the newest run, also after continue-as-new."""
        payload = (await self.info(workflow_id)).memo.fields.get(MEMO)
        if payload is None:
            return None
        (told,) = await self.env.client.data_converter.decode([payload], [Checkpoint])
        return Checkpoint.model_validate(told)

    async def search_attributes(self) -> dict[str, object]:
        """By name; those that are not set are left out."""
        fields = (await self.info()).search_attributes.indexed_fields
        return {name: json.loads(payload.data) for name, payload in fields.items() if payload.data}

    async def info(self, workflow_id: str | None = None) -> WorkflowExecutionInfo:
        """Raw, because this server keeps an unset search attribute as null, which the client cannot decode."""
        request = DescribeWorkflowExecutionRequest(
            namespace=self.env.client.namespace,
            execution=WorkflowExecution(workflow_id=workflow_id or self.workflow_id),
        )
        return (await self.env.client.workflow_service.describe_workflow_execution(request)).workflow_execution_info

    async def until(self, told: Callable[[Checkpoint], bool], workflow_id: str | None = None) -> Checkpoint:
        """Wait, without letting time pass, until the checkpoint says so."""
        async with asyncio.timeout(PATIENCE):
            while True:
                checkpoint = await self.checkpoint(workflow_id)
                if checkpoint is not None and told(checkpoint):
                    return checkpoint
                await asyncio.sleep(0.01)

    async def waits_for(self, what: str, workflow_id: str | None = None) -> Checkpoint:
        """Wait until the sweep, or another one, names this wait, or one that begins so."""
        return await self.until(
            lambda told: told.waiting_for is not None and told.waiting_for.what.startswith(what), workflow_id
        )

    async def until_open_pulls(self, count: int) -> None:
        """Wait, without letting time pass, until that many proposals are open."""
        async with asyncio.timeout(PATIENCE):
            while sum(pull.state == "open" for pull in self.github.pulls.values()) < count:
                await asyncio.sleep(0.01)

    async def events(self) -> list[EventType.ValueType]:
        """The newest run's history, by type."""
        history = self.env.client.get_workflow_handle(self.workflow_id).fetch_history_events()
        return [event.event_type async for event in history]

    async def until_history_has(self, *events: EventType.ValueType) -> None:
        """Wait until these events are in the history in this order, with any others between them."""
        async with asyncio.timeout(PATIENCE):
            while not _in_order(await self.events(), events):
                await asyncio.sleep(0.01)

    async def looks_again(self) -> None:
        """Ring, and wait until the sweep has looked at the world and waits again, now and for nothing but time."""
        await self.ring()
        async with asyncio.timeout(PATIENCE):
            while (await self.events())[-1] != EventType.EVENT_TYPE_TIMER_STARTED:
                await asyncio.sleep(0.01)

    async def sleep(self, span: timedelta) -> None:
        """Let time pass at once."""
        await self.env.sleep(span)

    async def result(self) -> SweepResult:
        """The end of the story; time passes as fast as it can."""
        async with asyncio.timeout(PATIENCE):
            return await self.handle.result()

    async def ends(self, outcome: Outcome, *, keeps_proposal: bool = False) -> SweepResult:
        """The end of the story, with everything tidied up; what stays open is for the test to ask."""
        result = await self.result()
        assert (result.outcome, result.state.step) == (outcome, Step.DONE), result.reason
        assert "left over" not in result.reason
        self.assert_nothing_left(except_branch=outcome is Outcome.LEFT_TO_HUMAN or keeps_proposal)
        return result

    def assert_nothing_left(self, *, except_branch: bool = False) -> None:
        """No open proposal, no branch of ours, no workspace, no recorded attempt, and no write that happened twice."""
        assert self.workspaces.trees == {}
        assert self.workspaces.records == {}
        if not except_branch:
            assert [name for name in self.github.branches if name.startswith("sweeper/")] == []
            assert [pull.number for pull in self.ours if pull.state == "open"] == []
        written = [*self.github.effects, *self.workspaces.effects]
        keys = [effect.key for effect in written if effect.state is EffectState.CREATED]
        assert len(keys) == len(set(keys)), keys

    def _pytest(self, run: SandboxRun) -> Reply:
        passes = self.workspaces.tree_at(run.workspace).get("app.py") == GREEN.encode()
        return Reply(0, b"1 passed\n") if passes else Reply(1, b"E   assert 41 == 42\n1 failed\n")


def _in_order(seen: Sequence[EventType.ValueType], events: Sequence[EventType.ValueType]) -> bool:
    rest = iter(seen)
    return all(event in rest for event in events)


def effects(result: SweepResult) -> list[tuple[str, EffectState]]:
    """The sweep's writes in order, and how each came to be; its check run has a test of its own."""
    return [(done.name, done.state) for done in result.state.effects if not done.name.startswith("check.")]


@asynccontextmanager
async def sweep_scene() -> AsyncIterator[Scene]:
    """A scene with its server and workers running."""
    async with time_skipping_env() as env:
        scene = Scene(env)
        async with working(scene):
            yield scene


@asynccontextmanager
async def working(scene: Scene) -> AsyncIterator[None]:
    """Workers of the scene's host, while this lasts."""
    async with AsyncExitStack() as stack:
        for worker in build_workers(scene.env.client, scene.ports, scene.durable):
            await stack.enter_async_context(worker)
        yield
