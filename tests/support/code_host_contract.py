"""One story, told to two code hosts: the fake in memory, and the GitHub adapter over HTTP to a GitHub on loopback."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import httpx
from pydantic import JsonValue

from sweeper.model import ChecksState, ReviewComment, ReviewState, RunRef
from sweeper.ports import CodeHost
from tests.support.code_host import FakeCodeHost
from tests.support.code_host_state import FakeJob

MARKER_KEY = b"contract marker key"
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
    async def open_by(self, user: str, branch: str, body: str) -> int: ...
    async def comment_by(self, number: int, user: str, body: str) -> None: ...
    async def review(
        self, number: int, user: str, state: ReviewState, body: str = "", comments: Sequence[ReviewComment] = ()
    ) -> int: ...
    async def dismiss(self, number: int, review_id: int) -> None: ...
    async def close_by(self, number: int, user: str) -> None: ...
    async def merge_by(self, number: int, user: str) -> None: ...
    async def body_of(self, number: int) -> str: ...
    async def comments_of(self, number: int) -> list[str]: ...
    async def count(self, effect_name: str) -> int: ...


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

    async def open_by(self, user: str, branch: str, body: str) -> int:
        return self.fake.open_by(user, branch, body=body)

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

    async def count(self, effect_name: str) -> int:
        return self.fake.count(effect_name)


class LoopbackScene:
    """The drive API of a GitHub on loopback, for one repository of it."""

    def __init__(self, drive: httpx.AsyncClient, host: CodeHost, repository: str) -> None:
        self.drive = drive
        self.host = host
        self.repository = repository

    async def begin(self) -> None:
        """Make the repository, with `maintainer` as a person who may write."""
        await self.post("repos", {"name": self.repository, "files": {WORKFLOW: "on: push\n", "README": "hello\n"}})
        await self.permit("maintainer", "write")

    async def post(self, path: str, body: JsonValue) -> dict[str, JsonValue]:
        return self._answer(await self.drive.post(path, json=body))

    async def act(self, path: str, **body: JsonValue) -> dict[str, JsonValue]:
        return await self.post(path, {"repo": self.repository, **body})

    def _answer(self, response: httpx.Response) -> dict[str, JsonValue]:
        assert response.status_code == 200, response.text
        answer: dict[str, JsonValue] = response.json()
        return answer

    async def commit(self, branch: str, files: Mapping[str, str] | None = None) -> str:
        repository = await self._repository()
        branches = repository["branches"]
        assert isinstance(branches, dict)
        content: dict[str, JsonValue] = {**(files or {}), f"{branch}.txt": f"after {branches.get(branch)}\n"}
        start: dict[str, JsonValue] = {} if branch in branches else {"from": "main"}
        pushed = await self.act("pushes", branch=branch, files=content, user="maintainer", **start)
        return str(pushed["sha"])

    async def delete_branch(self, branch: str) -> None:
        await self.act("branches/delete", branch=branch, user="maintainer")

    async def run(
        self, branch: str, conclusion: str | None = "failure", jobs: Sequence[JobSpec] = (JobSpec(),)
    ) -> RunRef:
        made = await self.act(
            "runs",
            branch=branch,
            workflow_path=WORKFLOW,
            event="push",
            conclusion=conclusion,
            jobs=[self._job(job) for job in jobs],
        )
        repository = await self._repository()
        return RunRef.model_validate(
            {
                "repository": self.repository,
                "repository_id": repository["id"],
                "run_id": made["run_id"],
                "run_attempt": made["attempt"],
            }
        )

    def _job(self, job: JobSpec) -> JsonValue:
        log: dict[str, JsonValue] = {"log_status": job.log_status} if job.log_status else {"log": job.log}
        steps: list[JsonValue] = [{"name": name, "conclusion": end} for name, end in job.steps]
        return {"name": job.name, "conclusion": job.conclusion, "steps": steps, **log}

    async def rerun(self, run: RunRef, conclusion: str) -> RunRef:
        attempt = run.run_attempt + 1
        job = self._job(JobSpec(conclusion=conclusion))
        await self.act(
            "runs",
            run_id=run.run_id,
            attempt=attempt,
            workflow_path=WORKFLOW,
            event="push",
            conclusion=conclusion,
            jobs=[job],
        )
        return run.model_copy(update={"run_attempt": attempt})

    async def checks(self, branch: str, state: ChecksState) -> None:
        await self.run(branch, CONCLUSION[state], [JobSpec(conclusion=CONCLUSION[state], steps=())])

    async def permit(self, user: str, permission: str) -> None:
        await self.act("users", login=user, permission=permission)

    async def open_by(self, user: str, branch: str, body: str) -> int:
        opened = await self.act("pulls", head=branch, base="main", title="By a human", body=body, user=user)
        return int(str(opened["number"]))

    async def comment_by(self, number: int, user: str, body: str) -> None:
        await self.act("comments", pr=number, user=user, body=body)

    async def review(
        self, number: int, user: str, state: ReviewState, body: str = "", comments: Sequence[ReviewComment] = ()
    ) -> int:
        lines: list[JsonValue] = [comment.model_dump() for comment in comments]
        made = await self.act("reviews", pr=number, user=user, state=state.value, body=body, comments=lines)
        return int(str(made["review_id"]))

    async def dismiss(self, number: int, review_id: int) -> None:
        await self.act("reviews/dismiss", pr=number, review_id=review_id, user="maintainer", message="no")

    async def close_by(self, number: int, user: str) -> None:
        await self.act("pulls/close", pr=number, user=user)

    async def merge_by(self, number: int, user: str) -> None:
        await self.act("pulls/merge", pr=number, user=user)

    async def body_of(self, number: int) -> str:
        return str((await self._pull(number))["body"])

    async def comments_of(self, number: int) -> list[str]:
        comments = (await self._pull(number))["comments"]
        assert isinstance(comments, list)
        return [str(comment["body"]) for comment in comments if isinstance(comment, dict)]

    async def count(self, effect_name: str) -> int:
        return sum(call["effect"] == effect_name for call in await self.calls())

    async def calls(self) -> list[dict[str, JsonValue]]:
        """What was asked of this repository so far, drive calls left out."""
        ledger = self._answer(await self.drive.get("ledger"))
        calls = ledger["calls"]
        assert isinstance(calls, list)
        assert ledger["unknown"] == [], "the adapter asked something this GitHub does not know"
        named = [call for call in calls if isinstance(call, dict)]
        return [call for call in named if f"/repos/{self.repository}/" in f"{call['path']}/"]

    async def _repository(self) -> dict[str, JsonValue]:
        world = self._answer(await self.drive.get("world"))
        repositories = world["repos"]
        assert isinstance(repositories, list)
        return next(one for one in repositories if isinstance(one, dict) and one["name"] == self.repository)

    async def _pull(self, number: int) -> dict[str, JsonValue]:
        pulls = (await self._repository())["pulls"]
        assert isinstance(pulls, list)
        return next(one for one in pulls if isinstance(one, dict) and one["number"] == number)
