"""One story, told to two code hosts: the fake in memory, and the GitHub adapter over HTTP to a GitHub on loopback."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import JsonValue

from adapters.loopback.core.state import Permission
from adapters.loopback.drive.answers import LedgerCall, PullSeen, RepoSeen
from adapters.loopback.drive.requests import (
    DeleteBranch,
    DismissReview,
    NewComment,
    NewJob,
    NewPush,
    NewRepo,
    NewReview,
    NewRun,
    NewStep,
    NewUser,
    OpenPull,
    PullAct,
)
from adapters.loopback.drive_client import DriveClient
from sweeper.model import ChecksState, ReviewComment, ReviewState, RunRef
from sweeper.ports import CodeHost, NewPull, OpenedPull, PullRef
from tests.support.code_host import FakeCodeHost
from tests.support.code_host_state import FakeJob

MARKER_KEY = b"contract marker key"
BRANCH = "sweeper/1-1"
KEY = "sweep-1-1/propose/1"
WORKFLOW = ".github/workflows/ci.yml"
CONCLUSION: Mapping[ChecksState, str | None] = {
    ChecksState.GREEN: "success",
    ChecksState.RED: "failure",
    ChecksState.PENDING: None,
}


@dataclass(frozen=True)
class JobSpec:
    """A job to report. `log_status` wins over `log`."""

    name: str = "test"
    conclusion: str | None = "failure"
    steps: tuple[tuple[str, str], ...] = (("Check out", "success"), ("Run tests", "failure"))
    log: str = "##[error]Process completed with exit code 1.\n"
    log_status: Literal["404", "410", "empty"] | None = None


class Scene(Protocol):
    """What people and CI do in one repository with a branch `main`, and how often we acted there.

    `maintainer` may write, everybody else has no right until `permit` gives one.
    """

    host: CodeHost
    repository: str

    async def commit(self, branch: str, files: Mapping[str, str] | None = None) -> str: ...
    async def delete_branch(self, branch: str) -> None: ...
    async def run(
        self, branch: str, conclusion: str | None = "failure", jobs: Sequence[JobSpec] = (JobSpec(),)
    ) -> RunRef: ...
    async def rerun(self, run: RunRef, conclusion: str) -> RunRef: ...
    async def checks(self, branch: str, state: ChecksState) -> None: ...
    async def permit(self, user: str, permission: str) -> None: ...
    async def open_by(self, user: str, branch: str, body: str, base: str = "main") -> int: ...
    async def comment_by(self, number: int, user: str, body: str) -> None: ...
    async def review(
        self, number: int, user: str, state: ReviewState, body: str = "", comments: Sequence[ReviewComment] = ()
    ) -> int: ...
    async def dismiss(self, number: int, review_id: int) -> None: ...
    async def close_by(self, number: int, user: str) -> None: ...
    async def merge_by(self, number: int, user: str) -> None: ...
    async def body_of(self, number: int) -> str: ...
    async def comments_of(self, number: int) -> list[str]: ...
    async def labels_of(self, number: int) -> list[str]: ...
    async def reports_on(self, sha: str) -> list[tuple[str, str | None]]: ...
    async def count(self, effect_name: str) -> int: ...


async def new_pull(scene: Scene, run: RunRef, key: str = KEY) -> NewPull:
    """A proposal to make, with its branch pushed."""
    return NewPull(
        run=run,
        branch=BRANCH,
        base="main",
        head_sha=await scene.commit(BRANCH),
        title="Mend the tests",
        body="Red before, green after.",
        patch_id="p" * 40,
        effect_key=key,
    )


async def propose(scene: Scene) -> tuple[OpenedPull, PullRef]:
    """A failing run on main and our proposal for it."""
    run = await scene.run("main")
    opened = await scene.host.open_pull(await new_pull(scene, run))
    return opened, PullRef(run=run, number=opened.proposal.number, branch=BRANCH)


class FakeScene:
    """The verbs of the fake, in the suite's words."""

    def __init__(self) -> None:
        self.fake = FakeCodeHost(marker_key=MARKER_KEY)
        self.host: CodeHost = self.fake
        self.repository = self.fake.repository
        self.fake.set_permission("maintainer", "write")

    async def commit(self, branch: str, files: Mapping[str, str] | None = None) -> str:
        sha = self.fake.commit(branch)
        for path, text in (files or {}).items():
            self.fake.set_file(path, text.encode(), sha)
        return sha

    async def delete_branch(self, branch: str) -> None:
        self.fake.delete_branch(branch)

    async def run(
        self, branch: str, conclusion: str | None = "failure", jobs: Sequence[JobSpec] = (JobSpec(),)
    ) -> RunRef:
        return self.fake.add_run(branch, conclusion=conclusion, jobs=[self._job(job) for job in jobs])

    def _job(self, job: JobSpec) -> FakeJob:
        log = None if job.log_status else job.log.encode()
        return FakeJob(job.name, job.conclusion, job.steps, log, f"no log ({job.log_status})")

    async def rerun(self, run: RunRef, conclusion: str) -> RunRef:
        return self.fake.rerun(run, conclusion)

    async def checks(self, branch: str, state: ChecksState) -> None:
        self.fake.set_checks(self.fake.branches[branch], state)

    async def permit(self, user: str, permission: str) -> None:
        self.fake.set_permission(user, permission)

    async def open_by(self, user: str, branch: str, body: str, base: str = "main") -> int:
        return self.fake.open_by(user, branch, base, body)

    async def comment_by(self, number: int, user: str, body: str) -> None:
        self.fake.comment_by(number, user, body)

    async def review(
        self, number: int, user: str, state: ReviewState, body: str = "", comments: Sequence[ReviewComment] = ()
    ) -> int:
        return self.fake.review(number, user, state, body=body, comments=comments)

    async def dismiss(self, number: int, review_id: int) -> None:
        self.fake.dismiss(number, review_id)

    async def close_by(self, number: int, user: str) -> None:
        self.fake.close_by(number, user)

    async def merge_by(self, number: int, user: str) -> None:
        self.fake.merge_by(number, user)

    async def body_of(self, number: int) -> str:
        return self.fake.pulls[number].body

    async def comments_of(self, number: int) -> list[str]:
        return [comment.body for comment in self.fake.pulls[number].comments]

    async def labels_of(self, number: int) -> list[str]:
        return self.fake.pulls[number].labels

    async def reports_on(self, sha: str) -> list[tuple[str, str | None]]:
        reports = (check.report for check in self.fake.check_runs if check.report.sha == sha)
        return [(report.external_id, report.conclusion) for report in reports]

    async def count(self, effect_name: str) -> int:
        return self.fake.count(effect_name)


class LoopbackScene:
    """The drive API of a GitHub on loopback, for one repository of it."""

    def __init__(self, drive: DriveClient, host: CodeHost, repository: str = "octo/app") -> None:
        self.drive = drive
        self.host = host
        self.repository = repository

    async def begin(self) -> None:
        """Make the repository, with `maintainer` as a person who may write."""
        await self.drive.repo(NewRepo(name=self.repository, files={WORKFLOW: "on: push\n", "README": "hello\n"}))
        await self.permit("maintainer", "write")

    async def commit(self, branch: str, files: Mapping[str, str] | None = None) -> str:
        there = (await self.seen()).branches
        content: dict[str, str | None] = {**(files or {}), f"{branch}.txt": f"after {there.get(branch)}\n"}
        start = {} if branch in there else {"from": "main"}
        push = {"repo": self.repository, "branch": branch, "files": content, "user": "maintainer", **start}
        return await self.drive.push(NewPush.model_validate(push))

    async def delete_branch(self, branch: str) -> None:
        await self.drive.delete_branch(DeleteBranch(repo=self.repository, branch=branch, user="maintainer"))

    async def run(
        self, branch: str, conclusion: str | None = "failure", jobs: Sequence[JobSpec] = (JobSpec(),)
    ) -> RunRef:
        return await self.report(jobs, branch=branch, conclusion=conclusion)

    async def rerun(self, run: RunRef, conclusion: str) -> RunRef:
        return await self.report([JobSpec(conclusion=conclusion)], run_id=run.run_id, conclusion=conclusion)

    async def checks(self, branch: str, state: ChecksState) -> None:
        await self.run(branch, CONCLUSION[state], [JobSpec(conclusion=CONCLUSION[state], steps=())])

    async def report(
        self, jobs: Sequence[JobSpec] = (JobSpec(),), workflow_path: str = WORKFLOW, **run: JsonValue
    ) -> RunRef:
        """A run as CI reports it; `run` as in the drive API."""
        wish = {"repo": self.repository, "workflow_path": workflow_path, "event": "push", **run}
        made = await self.drive.run(NewRun.model_validate({**wish, "jobs": [self._job(job) for job in jobs]}))
        repository_id = (await self.seen()).id
        return RunRef(
            repository=self.repository, repository_id=repository_id, run_id=made.run_id, run_attempt=made.attempt
        )

    def _job(self, job: JobSpec) -> NewJob:
        steps = [NewStep.model_validate({"name": name, "conclusion": end}) for name, end in job.steps]
        log = {"log_status": job.log_status} if job.log_status else {"log": job.log}
        return NewJob.model_validate({"name": job.name, "conclusion": job.conclusion, "steps": steps, **log})

    async def permit(self, user: str, permission: str) -> None:
        await self.drive.user(NewUser(login=user, permission=Permission(permission), repo=self.repository))

    async def open_by(self, user: str, branch: str, body: str, base: str = "main") -> int:
        return await self.drive.open_pull(
            OpenPull(repo=self.repository, head=branch, base=base, title="By a human", body=body, user=user)
        )

    async def comment_by(self, number: int, user: str, body: str) -> None:
        await self.drive.comment(NewComment(repo=self.repository, pr=number, user=user, body=body))

    async def review(
        self, number: int, user: str, state: ReviewState, body: str = "", comments: Sequence[ReviewComment] = ()
    ) -> int:
        wish = {"repo": self.repository, "pr": number, "user": user, "state": state.value, "body": body}
        lines = [comment.model_dump() for comment in comments]
        return await self.drive.review(NewReview.model_validate({**wish, "comments": lines}))

    async def dismiss(self, number: int, review_id: int) -> None:
        asked = DismissReview(repo=self.repository, pr=number, review_id=review_id, user="maintainer", message="no")
        await self.drive.dismiss_review(asked)

    async def close_by(self, number: int, user: str) -> None:
        await self.drive.close_pull(PullAct(repo=self.repository, pr=number, user=user))

    async def merge_by(self, number: int, user: str) -> None:
        await self.drive.merge_pull(PullAct(repo=self.repository, pr=number, user=user))

    async def body_of(self, number: int) -> str:
        return (await self._pull(number)).body or ""

    async def comments_of(self, number: int) -> list[str]:
        return [comment.body for comment in (await self._pull(number)).comments]

    async def labels_of(self, number: int) -> list[str]:
        return (await self._pull(number)).labels

    async def reports_on(self, sha: str) -> list[tuple[str, str | None]]:
        checks = (check for check in (await self.seen()).checks if check.head_sha == sha and check.external_id)
        return [(check.external_id, check.conclusion) for check in checks]

    async def count(self, effect_name: str) -> int:
        """Writes of that name over REST: what people did through the drive API is not in the ledger."""
        return sum(call.effect == effect_name for call in await self.calls())

    async def calls(self) -> list[LedgerCall]:
        """All REST calls so far."""
        ledger = await self.drive.ledger()
        assert ledger.unknown == [], "the adapter asked something this GitHub does not know"
        return ledger.calls

    async def seen(self) -> RepoSeen:
        """The repository as it is now."""
        return next(one for one in (await self.drive.world()).repos if one.name == self.repository)

    async def _pull(self, number: int) -> PullSeen:
        return next(one for one in (await self.seen()).pulls if one.number == number)
