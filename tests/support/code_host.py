"""A GitHub in memory behind the CodeHost port: it keeps state, refuses what GitHub refuses and counts its effects.

One repository per instance. Scenario verbs (`add_run`, `commit`, `review`, `merge_by`, ...) are what people and CI do;
the async methods are the port. `fail_next` makes a port call fail before or after its effect. The contract suite
holds this and the real adapter to the same behaviour.
"""

from sweeper.errors import MergeRefused, NotFound, Permanent, PolicyDenied
from sweeper.model import (
    ChecksState,
    Effect,
    EffectState,
    GitAccess,
    HeadCi,
    JobFacts,
    Proposal,
    RunFacts,
    RunRef,
    World,
)
from sweeper.model.run import FAILING_CONCLUSIONS
from sweeper.ports import LogAnswer, NewPull, OpenedPull, PullRef
from tests.support.code_host_base import NOT_OURS
from tests.support.code_host_reads import FakeReads
from tests.support.code_host_state import FakeComment, FakePull, FakeRun, reviews_with_rights


class FakeCodeHost(FakeReads):
    """See the module."""

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
                draft=found.draft,
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
            of_head = [pull for pull in self.pulls.values() if pull.branch == new.branch]
            found, state = self._look_for_pull(of_head, new)
            if found is None:
                if new.branch not in self.branches:
                    raise Permanent(f"Push {new.branch} first: GitHub does not know that head.")
                body = f"{new.body}\n\n{self._marker(new.effect_key)}"
                found = self.pulls[self.open_by(self.bot_login, new.branch, new.base, body)]
                found.title = new.title
            url = f"https://github.com/{self.repository}/pull/{found.number}"
            proposal = self._proposal(found).model_copy(
                update={"base": new.base, "head_sha": new.head_sha, "patch_id": new.patch_id}
            )
            note = self._impostors(of_head)
            return OpenedPull(proposal=proposal, effect=self._effect(new.effect_key, "pull.create", state, url, note))

    async def find_pull(self, run: RunRef, branch: str) -> Proposal | None:
        async with self._call("find_pull"):
            ours = [pull for pull in self.open_of(branch) if self._is_ours(pull)]
            return self._proposal(ours[0]) if ours else None

    async def update_pull(self, pull: PullRef, body: str, effect_key: str) -> Effect:
        async with self._call("update_pull"):
            found = self._pull(pull)
            opened_as = self._key_of(found)
            state, note = EffectState.CREATED, ""
            if opened_as is None:
                state, note = EffectState.SKIPPED, NOT_OURS
            elif found.body == (signed := f"{body}\n\n{self._marker(opened_as)}"):
                state = EffectState.DEDUPLICATED
            else:
                found.body = signed
            return self._effect(effect_key, "pull.update", state, self._address(pull), note, self._impostors([found]))

    async def comment(self, pull: PullRef, body: str, effect_key: str) -> Effect:
        async with self._call("comment"):
            found = self._pull(pull)
            impostors, state = self._impostors(found.comments), EffectState.DEDUPLICATED
            ours = [comment for comment in found.comments if self._key_of(comment) == effect_key]
            if not ours:
                state = EffectState.CREATED
                body = f"{body}\n\n{self._marker(effect_key)}"
                ours = [FakeComment(self.comment_by(pull.number, self.bot_login, body), self.bot_login, body)]
            found.comments = [c for c in found.comments if c.id not in {double.id for double in ours[1:]}]
            doubles = "removed a double" if ours[1:] else ""
            ref = f"{self._address(pull)}#issuecomment-{ours[0].id}"
            return self._effect(effect_key, "comment.create", state, ref, doubles, impostors)

    async def close_pull(self, pull: PullRef, effect_key: str) -> Effect:
        async with self._call("close_pull"):
            found = self._pull(pull)
            state, note = EffectState.CREATED, ""
            if not self._is_ours(found):
                state, note = EffectState.SKIPPED, NOT_OURS
            elif found.merged:
                state, note = EffectState.SKIPPED, "it is merged already"
            elif found.state == "closed":
                state = EffectState.DEDUPLICATED
            else:
                self.close_by(pull.number, self.bot_login)
            return self._effect(effect_key, "pull.close", state, self._address(pull), note, self._impostors([found]))

    async def merge_pull(self, pull: PullRef, head_sha: str, effect_key: str, target_head: str | None = None) -> Effect:
        async with self._call("merge_pull"):
            found = self._pull(pull)
            state = EffectState.DEDUPLICATED
            if not (found.merged and found.head_sha == head_sha):
                if found.state == "closed" or found.head_sha != head_sha:
                    raise MergeRefused("Look at the pull request again: it is closed or its head has moved.")
                if self.merges_refused is not None:
                    raise MergeRefused(f"Wait until the branch rule is met: {self.merges_refused}")
                self.merge_by(pull.number, self.bot_login)
                state = EffectState.CREATED
            onto = found.merged_onto
            moved = f"merged onto {onto}, proved on {target_head}" if target_head and onto != target_head else ""
            return self._effect(effect_key, "pull.merge", state, found.merge_sha or "", moved)

    async def git_access(self, repository: str) -> GitAccess:
        async with self._call("git_access"):
            return GitAccess(url=f"https://github.com/{repository}.git")

    # Inside

    def _facts(self, run: FakeRun) -> RunFacts:
        head = None if run.fork else self.branches.get(run.branch)
        return run.facts(self.repository_id, head, self._head_ci(run, head))

    def _head_ci(self, run: FakeRun, head: str | None) -> HeadCi:
        same = [
            attempts[-1]
            for attempts in self.runs.values()
            if (attempts[-1].sha, attempts[-1].workflow_path) == (head, run.workflow_path)
        ]
        if head is None or head == run.sha or not same:
            return HeadCi.NONE
        newest = max(same, key=lambda other: other.ref.run_id)
        if newest.conclusion is None:
            return HeadCi.PENDING
        if newest.conclusion == "success":
            return HeadCi.GREEN
        return HeadCi.RED if newest.conclusion in FAILING_CONCLUSIONS else HeadCi.NONE

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

    def _proposal(self, pull: FakePull) -> Proposal:
        return Proposal(
            number=pull.number,
            url=f"https://github.com/{self.repository}/pull/{pull.number}",
            branch=pull.branch,
            base=pull.base,
            head_sha=pull.head_sha,
            patch_id="",
        )

    def _look_for_pull(self, of_head: list[FakePull], new: NewPull) -> tuple[FakePull | None, EffectState]:
        ours = {pull.number: self._key_of(pull) for pull in of_head}
        for pull in of_head:
            if ours[pull.number] == new.effect_key:
                return pull, EffectState.DEDUPLICATED
        still_open = [pull for pull in of_head if pull.state == "open"]
        for pull in still_open:
            if ours[pull.number] is not None:
                return pull, EffectState.ADOPTED
        for pull in still_open:
            if pull.base == new.base:
                raise PolicyDenied(f"Close pull request {pull.number}: {pull.author} opened it for our branch.")
        return None, EffectState.CREATED
