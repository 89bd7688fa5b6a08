"""A GitHub in memory behind the CodeHost port: it keeps state, refuses what GitHub refuses and counts its effects.

One repository per instance. Scenario verbs (`add_run`, `commit`, `review`, `merge_by`, ...) are what people and CI do;
the async methods are the port. `fail_next` makes a port call fail before or after its effect. The contract suite
holds this and the real adapter to the same behaviour.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Literal

from sweeper import ids
from sweeper.errors import MergeRefused, NotFound, Permanent, PolicyDenied, SweeperError
from sweeper.model import (
    ChecksState,
    Effect,
    EffectState,
    GitAccess,
    JobFacts,
    Proposal,
    RunFacts,
    RunRef,
    World,
)
from sweeper.ports import LogAnswer, NewPull, OpenedPull, PullRef
from tests.support.code_host_scene import FakeGitHub
from tests.support.code_host_state import FakeComment, FakePull, FakeRun, Fault, reviews_with_rights

When = Literal["before", "after"]


class FakeCodeHost(FakeGitHub):
    """See the module. `effects` lists the writes that happened, `calls` the port methods asked, both in order."""

    def __init__(
        self,
        repository: str = "octo/app",
        repository_id: int = 4711,
        *,
        marker_key: bytes = b"fake marker key",
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__(repository, repository_id, clock)
        self.bot_login = "ci-sweeper[bot]"
        self.effects: list[Effect] = []
        self.calls: list[str] = []
        self._marker_key = marker_key
        self._faults: list[Fault] = []

    def fail_next(self, method: str, error: SweeperError, when: When = "before", times: int = 1) -> None:
        """The next `times` calls of a port method raise; `after`: although they took effect."""
        self._faults.extend([Fault(method, error, when)] * times)

    def count(self, effect_name: str) -> int:
        """How often a write of that name happened."""
        return sum(effect.name == effect_name for effect in self.effects)

    # The port

    @property
    def api_url(self) -> str:
        return "https://api.github.com"

    async def login(self) -> str:
        async with self._call("login"):
            return self.bot_login

    async def find_run(self, repository: str, run_id: int) -> RunFacts:
        async with self._call("find_run"):
            if repository != self.repository or run_id not in self.runs:
                raise NotFound(f"Check the number: {repository} has no run {run_id}.")
            return self._facts(self.runs[run_id][-1])

    async def read_run(self, run: RunRef) -> RunFacts:
        async with self._call("read_run"):
            return self._facts(self._run(run))

    async def read_jobs(self, run: RunRef) -> tuple[JobFacts, ...]:
        async with self._call("read_jobs"):
            return tuple(job.facts(number) for number, job in self._run(run).jobs.items())

    async def read_log(self, run: RunRef, job_id: int) -> LogAnswer:
        async with self._call("read_log"):
            job = self._run(run).jobs.get(job_id)
            if job is None:
                return LogAnswer(text=None, missing=f"GitHub has no log of job {job_id} (404)")
            return LogAnswer(text=job.log, missing=job.missing if job.log is None else None)

    async def read_file(self, repository: str, path: str, commit: str) -> bytes | None:
        async with self._call("read_file"):
            return self.files.get((path, commit), self.files.get((path, None)))

    async def read_world(self, pull: PullRef) -> World:
        async with self._call("read_world"):
            found = self._pull(pull)
            return World(
                read_at=self.clock(),
                state=found.state,
                merged=found.merged,
                head_sha=found.head_sha,
                branch_sha=self.branches.get(pull.branch),
                base=found.base,
                target_head=self.branches.get(found.base),
                author=found.author,
                closed_by=None if found.merged else found.closed_by,
                merged_by=found.merged_by,
                merge_sha=found.merge_sha,
                checks=self.checks.get(found.head_sha, ChecksState.NONE),
                reviews=reviews_with_rights(found.reviews, self.permissions),
                run_green_later=self._green_later(pull.run),
            )

    async def open_pull(self, new: NewPull) -> OpenedPull:
        async with self._call("open_pull"):
            found, state = self._look_for_pull(new)
            if found is None:
                if new.branch not in self.branches:
                    raise Permanent(f"Push {new.branch} first: GitHub does not know that head.")
                body = f"{new.body}\n\n{self._marker(new.effect_key)}"
                found = self.pulls[self.open_by(self.bot_login, new.branch, new.base, body)]
                found.title = new.title
            url = f"https://github.com/{self.repository}/pull/{found.number}"
            proposal = Proposal(
                number=found.number,
                url=url,
                branch=new.branch,
                base=new.base,
                head_sha=new.head_sha,
                patch_id=new.patch_id,
            )
            return OpenedPull(proposal=proposal, effect=self._effect(new.effect_key, "pull.create", state, url))

    async def update_pull(self, pull: PullRef, body: str, effect_key: str) -> Effect:
        async with self._call("update_pull"):
            found = self._pull(pull)
            opened_as = self._key_in(found.body)
            state, note = EffectState.CREATED, ""
            if found.author != self.bot_login or opened_as is None:
                state, note = EffectState.SKIPPED, "the pull request is not ours"
            elif found.body == (signed := f"{body}\n\n{self._marker(opened_as)}"):
                state = EffectState.DEDUPLICATED
            else:
                found.body = signed
            ref = f"https://github.com/{self.repository}/pull/{pull.number}"
            return self._effect(effect_key, "pull.update", state, ref, note)

    async def comment(self, pull: PullRef, body: str, effect_key: str) -> Effect:
        async with self._call("comment"):
            found = self._pull(pull)
            state = EffectState.DEDUPLICATED
            ours = [c for c in found.comments if c.user == self.bot_login and self._key_in(c.body) == effect_key]
            if not ours:
                state = EffectState.CREATED
                body = f"{body}\n\n{self._marker(effect_key)}"
                ours = [FakeComment(self.comment_by(pull.number, self.bot_login, body), self.bot_login, body)]
            found.comments = [c for c in found.comments if c.id not in {double.id for double in ours[1:]}]
            ref = f"https://github.com/{self.repository}/pull/{pull.number}#issuecomment-{ours[0].id}"
            return self._effect(effect_key, "comment.create", state, ref)

    async def close_pull(self, pull: PullRef, effect_key: str) -> Effect:
        async with self._call("close_pull"):
            found = self._pull(pull)
            state, note = EffectState.CREATED, ""
            if found.author != self.bot_login or self._key_in(found.body) is None:
                state, note = EffectState.SKIPPED, "the pull request is not ours"
            elif found.merged:
                state, note = EffectState.SKIPPED, "it is merged already"
            elif found.state == "closed":
                state = EffectState.DEDUPLICATED
            else:
                self.close_by(pull.number, self.bot_login)
            ref = f"https://github.com/{self.repository}/pull/{pull.number}"
            return self._effect(effect_key, "pull.close", state, ref, note)

    async def merge_pull(self, pull: PullRef, head_sha: str, effect_key: str) -> Effect:
        async with self._call("merge_pull"):
            found = self._pull(pull)
            if found.merged and found.head_sha == head_sha:
                return self._effect(effect_key, "pull.merge", EffectState.DEDUPLICATED, found.merge_sha or "")
            if found.state == "closed" or found.head_sha != head_sha:
                raise MergeRefused("Look at the pull request again: it is closed or its head has moved.")
            if self.merges_refused is not None:
                raise MergeRefused(f"Wait until the branch rule is met: {self.merges_refused}")
            merge_sha = self.merge_by(pull.number, self.bot_login)
            return self._effect(effect_key, "pull.merge", EffectState.CREATED, merge_sha)

    async def git_access(self, repository: str) -> GitAccess:
        async with self._call("git_access"):
            return GitAccess(url=f"https://github.com/{repository}.git")

    # Inside

    @asynccontextmanager
    async def _call(self, method: str) -> AsyncIterator[None]:
        self.calls.append(method)
        fault = next((fault for fault in self._faults if fault.method == method), None)
        if fault is not None:
            self._faults.remove(fault)
            if fault.when == "before":
                raise fault.error
        yield
        if fault is not None:
            raise fault.error

    def _run(self, ref: RunRef) -> FakeRun:
        attempts = self.runs.get(ref.run_id, [])
        if ref.repository_id != self.repository_id or not 1 <= ref.run_attempt <= len(attempts):
            raise NotFound(f"Check the number: {ref.repository} has no run {ref.run_id} attempt {ref.run_attempt}.")
        return attempts[ref.run_attempt - 1]

    def _facts(self, run: FakeRun) -> RunFacts:
        return run.facts(self.repository_id, None if run.fork else self.branches.get(run.branch))

    def _green_later(self, ref: RunRef) -> bool:
        if ref.run_id not in self.runs:
            return False
        failed = self.runs[ref.run_id][-1]
        later = (
            attempts[-1]
            for run_id, attempts in self.runs.items()
            if run_id >= ref.run_id
            and (attempts[-1].sha, attempts[-1].workflow_path) == (failed.sha, failed.workflow_path)
        )
        return any(run.conclusion == "success" for run in later)

    def _pull(self, ref: PullRef) -> FakePull:
        if ref.number not in self.pulls or ref.run.repository_id != self.repository_id:
            raise NotFound(f"Check the number: {ref.run.repository} has no pull request {ref.number}.")
        return self.pulls[ref.number]

    def _look_for_pull(self, new: NewPull) -> tuple[FakePull | None, EffectState]:
        of_head = [pull for pull in self.pulls.values() if pull.branch == new.branch]
        ours = {p.number: self._key_in(p.body) for p in of_head if p.author == self.bot_login}
        for pull in of_head:
            if ours.get(pull.number) == new.effect_key:
                return pull, EffectState.DEDUPLICATED
        still_open = self.open_of(new.branch)
        for pull in still_open:
            if ours.get(pull.number) is not None:
                return pull, EffectState.ADOPTED
        if still_open:
            raise PolicyDenied(f"Close pull request {still_open[0].number}: somebody else opened it for our branch.")
        return None, EffectState.CREATED

    def _marker(self, effect_key: str) -> str:
        return ids.marker(effect_key, self._marker_key, self.repository_id)

    def _key_in(self, body: str) -> str | None:
        return ids.effect_of_body(body, self._marker_key, self.repository_id)

    def _effect(self, key: str, name: str, state: EffectState, ref: str, note: str = "") -> Effect:
        effect = Effect(key=key, name=name, state=state, ref=ref, note=note)
        if state is EffectState.CREATED:
            self.effects.append(effect)
        return effect
