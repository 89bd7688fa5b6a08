"""The doubles a scene stands on: artefacts in memory, workspaces linked to the fake GitHub, a busy agent."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import WorkflowExecutionStatus
from temporalio.api.workflowservice.v1 import DescribeWorkflowExecutionRequest
from temporalio.client import Client
from temporalio.service import RPCError

from adapters.temporal.spending import TemporalSpending
from adapters.temporal.sweeps import TemporalSweeps
from sweeper.errors import Transient
from sweeper.model import (
    ArtifactRef,
    Effect,
    EffectState,
    FixReport,
    GitAccess,
    Workspace,
)
from sweeper.model.crowd import Crowd
from sweeper.model.days import SettleRequest
from sweeper.model.task import Task
from tests.support.code_host_scene import FakeGitHub
from tests.support.workspaces import FakeWorkspaces


class MemoryArtifacts:
    """The artefact store as a dictionary."""

    def __init__(self) -> None:
        self.stored: dict[str, bytes] = {}

    async def put(self, data: bytes) -> ArtifactRef:
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        self.stored[digest] = data
        return ArtifactRef(digest=digest, size=len(data))

    async def get(self, ref: ArtifactRef) -> bytes:
        return self.stored[ref.digest]


class LinkedWorkspaces(FakeWorkspaces):
    """Its remote is the fake GitHub: what is pushed there moves the branch of the pull request.

    `before` holds a method up, by name.
    """

    def __init__(self, github: FakeGitHub, host: str = "here") -> None:
        super().__init__(host=host)
        self._github = github
        self.branches = {github.repository_id: github.branches}
        self.before: dict[str, Callable[[], Awaitable[None]]] = {}

    async def push(
        self, repository_id: int, branch: str, commit: str, expected: str | None, access: GitAccess, effect_key: str
    ) -> Effect:
        await self._held("push")
        effect = await super().push(repository_id, branch, commit, expected, access, effect_key)
        self._github.set_branch_head(branch, commit)
        return effect

    async def delete_branch(
        self, repository_id: int, branch: str, ours: str, access: GitAccess, effect_key: str
    ) -> Effect:
        await self._held("delete_branch")
        effect = await super().delete_branch(repository_id, branch, ours, access, effect_key)
        if effect.state is EffectState.CREATED:
            self._github.delete_branch(branch, "ci-sweeper[bot]")
        return effect

    async def discard(self, repository_id: int, sweep: str) -> None:
        await self._held("discard")
        await super().discard(repository_id, sweep)

    async def _held(self, method: str) -> None:
        if method in self.before:
            await self.before[method]()


class SceneSweeps(TemporalSweeps):
    """The real ones on a server that cannot list: what else goes on in the repository is up to the test."""

    def __init__(self, client: Client) -> None:
        super().__init__(client)
        self.around = Crowd()
        self.earlier: tuple[str, ...] = ()
        self._client = client

    async def is_open(self, workflow_id: str) -> bool | None:
        """Raw, because this server keeps an unset search attribute as null, which the client cannot decode."""
        request = DescribeWorkflowExecutionRequest(
            namespace=self._client.namespace, execution=WorkflowExecution(workflow_id=workflow_id)
        )
        try:
            found = await self._client.workflow_service.describe_workflow_execution(request)
        except RPCError:
            return None
        return found.workflow_execution_info.status == WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING

    async def crowd(self, repository: str, besides: str, began_at: datetime) -> Crowd:
        return self.around

    async def with_signature(self, repository: str, signature: str, besides: str) -> tuple[str, ...]:
        return self.earlier


class SceneSpending(TemporalSpending):
    """The real one; `settled` is what came through, `fails` is how many tries to settle are still to fail."""

    def __init__(self, client: Client, api_url: str) -> None:
        super().__init__(client, api_url)
        self.fails = 0
        self.settled: list[SettleRequest] = []

    async def settle(self, request: SettleRequest) -> None:
        if self.fails:
            self.fails -= 1
            raise Transient("Nobody keeps accounts now; it is tried again.")
        await super().settle(request)
        self.settled.append(request)


class BusyAgent:
    """An agent that never ends by itself."""

    name = "scripted"

    def __init__(self) -> None:
        self.started, self.stopped = asyncio.Event(), asyncio.Event()

    async def fix(self, task: Task, workspace: Workspace, timeout: timedelta) -> FixReport:
        self.started.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped.set()
        raise AssertionError("unreachable")
