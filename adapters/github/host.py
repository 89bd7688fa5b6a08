"""The CodeHost port over one GitHub. Blocking parts run in threads; each writing part says why twice is safe."""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from typing import ParamSpec, TypeVar

from pydantic import SecretStr

from adapters.github import annotations, files, history, reruns, runs, world
from adapters.github.auth import tokens_for
from adapters.github.client import Client
from adapters.github.logs import Logs
from adapters.github.markers import Marks
from adapters.github.merging import Merges
from adapters.github.others import Others
from adapters.github.pacer import CALLER, Caller
from adapters.github.pulls import Pulls
from adapters.github.replies import RepositoryReply
from adapters.github.reports import Reports
from adapters.github.settings import GitHubAccess
from adapters.github.talk import Talk
from sweeper.model import (
    Annotation,
    CheckReport,
    Effect,
    GitAccess,
    JobFacts,
    OtherPull,
    Proposal,
    RunFacts,
    RunHistory,
    RunRef,
    World,
)
from sweeper.ports import LogAnswer, NewPull, OpenedPull, PullRef

WRITERS = 32
Work = ParamSpec("Work")
Answer = TypeVar("Answer")


class GitHubHost:
    """See sweeper.ports.CodeHost. Building it asks nothing of GitHub; raises AuthBroken for an unusable key file."""

    def __init__(self, access: GitHubAccess) -> None:
        self._access = access
        self._tokens = tokens_for(access)
        self._client = Client(access, self._tokens)
        self._logs = Logs(access, self._tokens)
        self._writers = ThreadPoolExecutor(WRITERS, "github-write")
        marks = Marks(self._tokens, access.marker_key.get_secret_value())
        self._pulls = Pulls(self._client, marks)
        self._others = Others(self._client, marks)
        self._talk = Talk(self._client, marks)
        self._merges = Merges(self._client)
        self._reports = Reports(self._client)

    @property
    def api_url(self) -> str:
        """Base URL of the REST face."""
        return self._access.api_url

    def close(self) -> None:
        """Close connections. A write under way still comes to its end."""
        self._writers.shutdown(wait=False, cancel_futures=True)
        self._client.close()

    async def _write(self, work: Callable[Work, Answer], *args: Work.args, **kwargs: Work.kwargs) -> Answer:
        """In a thread of its own pool: those who wait for their turn to write must not be in the way of reads."""
        caller = Caller()
        context = contextvars.copy_context()
        context.run(CALLER.set, caller)
        call = partial(context.run, work, *args, **kwargs)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._writers, call)
        except asyncio.CancelledError:
            self._client.pacer.leave(caller)
            raise

    def writes_waiting(self, repository: str) -> int:
        """How many writes wait for their turn where one on that repository would."""
        return self._client.pacer.waiting(self._tokens.payer(repository))

    async def login(self) -> str:
        """The user of the token, or `<app>[bot]`; asked once, then kept."""
        return await asyncio.to_thread(self._tokens.login)

    async def check_login(self) -> str:
        """As whom we are logged in, asked of GitHub right now; one line for a person. Raises AuthBroken if refused."""
        return await asyncio.to_thread(self._tokens.check)

    async def find_run(self, repository: str, run_id: int) -> RunFacts:
        """The newest attempt of a run. Raises NotFound."""
        return await asyncio.to_thread(runs.find_run, self._client, repository, run_id)

    async def read_run(self, run: RunRef) -> RunFacts:
        """The attempt and its branch right now. Raises NotFound."""
        return await asyncio.to_thread(runs.read_run, self._client, run)

    async def read_jobs(self, run: RunRef) -> tuple[JobFacts, ...]:
        """All jobs of the attempt."""
        return await asyncio.to_thread(runs.read_jobs, self._client, run)

    async def read_log(self, run: RunRef, job_id: int) -> LogAnswer:
        """At most 64 MiB of it: of a longer one the first 16 and the last 48."""
        return await self._logs.read(run.repository, job_id)

    async def read_annotations(self, run: RunRef, job_id: int) -> tuple[Annotation, ...]:
        """Redacted, messages cut to 1,000 characters."""
        return await asyncio.to_thread(annotations.read_annotations, self._client, run, job_id)

    async def read_history(self, facts: RunFacts) -> RunHistory:
        """Other attempts, other runs of the workflow, and the commits between."""
        return await asyncio.to_thread(history.read_history, self._client, facts)

    async def open_pulls(self, repository: str, base: str, since: datetime | None) -> tuple[OtherPull, ...]:
        """At most twenty, newest first; ours are left out."""
        return await asyncio.to_thread(self._others.open_into, repository, base, since)

    async def default_branch_file(self, repository: str, path: str) -> bytes | None:
        """A file at the head of the default branch. Raises Permanent above 1 MB."""
        return await asyncio.to_thread(files.default_branch_file, self._client, repository, path)

    async def read_file(self, repository: str, path: str, commit: str) -> bytes | None:
        """A file at a commit; None if there is none of that name. Raises Permanent above 1 MB."""
        return await asyncio.to_thread(files.read_file, self._client, repository, path, commit)

    async def read_world(self, pull: PullRef) -> World:
        """The proposal and all around it, right now."""
        return await asyncio.to_thread(world.read_world, self._client, pull)

    async def open_pull(self, new: NewPull) -> OpenedPull:
        """Twice is safe: looks by head ref first, and GitHub refuses a second one."""
        return await self._write(self._pulls.open, new)

    async def find_pull(self, run: RunRef, branch: str) -> Proposal | None:
        """Our open one of that branch, by its signed marker."""
        return await asyncio.to_thread(self._pulls.find, run, branch)

    async def update_pull(self, pull: PullRef, body: str, effect_key: str) -> Effect:
        """Twice is safe: setting the same text again changes nothing."""
        return await self._write(self._pulls.update, pull, body, effect_key)

    async def comment(self, pull: PullRef, body: str, effect_key: str) -> Effect:
        """Twice is safe: looks by signed marker first and brings doubles down to one."""
        return await self._write(self._talk.comment, pull, body, effect_key)

    async def close_pull(self, pull: PullRef, effect_key: str) -> Effect:
        """Twice is safe: closing is setting a state."""
        return await self._write(self._pulls.close, pull, effect_key)

    async def draft_pull(self, pull: PullRef, effect_key: str) -> Effect:
        """Twice is safe: being a draft is a state."""
        return await self._write(self._pulls.draft, pull, effect_key)

    async def label_pull(self, pull: PullRef, labels: tuple[str, ...], effect_key: str) -> Effect:
        """Twice is safe: labels are a set."""
        return await self._write(self._talk.label, pull, labels, effect_key)

    async def request_reviewers(self, pull: PullRef, reviewers: tuple[str, ...], effect_key: str) -> Effect:
        """Twice is safe: who was asked or has answered is not asked again."""
        return await self._write(self._talk.request, pull, reviewers, effect_key)

    async def report_check(self, run: RunRef, report: CheckReport, effect_key: str) -> Effect:
        """Twice is safe: looks for our check run of that sweep first and brings doubles down to one."""
        return await self._write(self._reports.report, run, report, effect_key)

    async def rerun_failed(self, run: RunRef, effect_key: str) -> Effect:
        """Twice is safe: a later attempt is an answer, and GitHub starts none while one runs."""
        return await self._write(reruns.rerun_failed, self._client, run, effect_key)

    async def merge_pull(self, pull: PullRef, head_sha: str, effect_key: str, target_head: str | None = None) -> Effect:
        """Twice is safe: a merged pull request is read as done, and the call names its head."""
        return await self._write(self._merges.merge, pull, head_sha, effect_key, target_head)

    async def git_access(self, repository: str) -> GitAccess:
        """Clone URL and a token for that repository, good for at least ten minutes in app mode."""
        return await asyncio.to_thread(self._git_access, repository)

    def _git_access(self, repository: str) -> GitAccess:
        there = self._client.repository(repository)
        token: SecretStr = self._tokens.token(repository)
        if self._access.git_url is not None:
            return GitAccess(url=f"{self._access.git_url.rstrip('/')}/{repository}.git", token=token)
        return GitAccess(url=there.get(RepositoryReply).clone_url, token=token)
