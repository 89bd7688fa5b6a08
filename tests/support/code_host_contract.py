"""One story, told to two code hosts: the fake in memory, and the GitHub adapter over HTTP to a GitHub on loopback."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, Protocol

from sweeper.model import Annotation, ChecksState, ReviewComment, ReviewState, RunRef
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
    annotations: tuple[Annotation, ...] = ()


class Scene(Protocol):
    """What people and CI do in one repository with a branch `main`, and how often we acted there.

    `maintainer` may write, everybody else has no right until `permit` gives one.
    """

    host: CodeHost
    repository: str

    async def commit(self, branch: str, files: Mapping[str, str] | None = None, message: str | None = None) -> str: ...
    async def delete_branch(self, branch: str) -> None: ...
    async def run(
        self,
        branch: str,
        conclusion: str | None = "failure",
        jobs: Sequence[JobSpec] = (JobSpec(),),
        workflow: str = WORKFLOW,
    ) -> RunRef: ...
    async def run_of_pull(self, number: int, conclusion: str = "failure") -> RunRef: ...
    async def open_from_fork(self, user: str, branch: str) -> int: ...
    async def pass_time(self, by: timedelta) -> datetime: ...
    async def refuse_reruns(self) -> None: ...
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
        self._later = timedelta(0)
        self.fake = FakeCodeHost(marker_key=MARKER_KEY, clock=lambda: datetime.now(UTC) + self._later)
        self._touched: dict[str, list[str]] = defaultdict(list)
        self.host: CodeHost = self.fake
        self.repository = self.fake.repository
        self.fake.set_permission("maintainer", "write")

    async def commit(self, branch: str, files: Mapping[str, str] | None = None, message: str | None = None) -> str:
        sha = self.fake.commit(branch, message=message or "Change something")
        for path, text in (files or {}).items():
            self.fake.set_file(path, text.encode(), sha)
        self._touched[branch] += files or ()
        return sha

    async def delete_branch(self, branch: str) -> None:
        self.fake.delete_branch(branch)

    async def run(
        self,
        branch: str,
        conclusion: str | None = "failure",
        jobs: Sequence[JobSpec] = (JobSpec(),),
        workflow: str = WORKFLOW,
    ) -> RunRef:
        given = [self._job(job) for job in jobs]
        return self.fake.add_run(branch, conclusion=conclusion, jobs=given, workflow_path=workflow)

    def _job(self, job: JobSpec) -> FakeJob:
        log = None if job.log_status else job.log.encode()
        return FakeJob(job.name, job.conclusion, job.steps, log, f"no log ({job.log_status})", job.annotations)

    async def run_of_pull(self, number: int, conclusion: str = "failure") -> RunRef:
        pull = self.fake.pulls[number]
        return self.fake.add_run(
            pull.branch,
            sha=pull.head_sha,
            conclusion=conclusion,
            event="pull_request",
            fork=pull.fork,
            pull=None if pull.state == "closed" else number,
        )

    async def open_from_fork(self, user: str, branch: str) -> int:
        return self.fake.open_from_fork(user, branch)

    async def pass_time(self, by: timedelta) -> datetime:
        self._later += by
        return self.fake.clock()

    async def refuse_reruns(self) -> None:
        self.fake.may_rerun = False

    async def rerun(self, run: RunRef, conclusion: str) -> RunRef:
        return self.fake.rerun(run, conclusion)

    async def checks(self, branch: str, state: ChecksState) -> None:
        self.fake.set_checks(self.fake.branches[branch], state)

    async def permit(self, user: str, permission: str) -> None:
        self.fake.set_permission(user, permission)

    async def open_by(self, user: str, branch: str, body: str, base: str = "main") -> int:
        number = self.fake.open_by(user, branch, base, body)
        self.fake.pulls[number].files = tuple(self._touched[branch])
        return number

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
