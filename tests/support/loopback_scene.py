"""The code host story on a GitHub on loopback: what people and CI do there, by its drive API."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from pydantic import JsonValue

from adapters.loopback.core.state import Permission
from adapters.loopback.drive.answers import LedgerCall, PullSeen, RepoSeen
from adapters.loopback.drive.requests import (
    DeleteBranch,
    DismissReview,
    FaultRule,
    ForkHead,
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
from sweeper.ports import CodeHost
from tests.support.code_host_contract import CONCLUSION, WORKFLOW, JobSpec


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

    async def commit(self, branch: str, files: Mapping[str, str] | None = None, message: str | None = None) -> str:
        there = (await self.seen()).branches
        content: dict[str, str | None] = {**(files or {}), f"{branch}.txt": f"after {there.get(branch)}\n"}
        start = {} if branch in there else {"from": "main"}
        push = {
            "repo": self.repository,
            "branch": branch,
            "files": content,
            "user": "maintainer",
            "message": message,
            **start,
        }
        return await self.drive.push(NewPush.model_validate(push))

    async def delete_branch(self, branch: str) -> None:
        await self.drive.delete_branch(DeleteBranch(repo=self.repository, branch=branch, user="maintainer"))

    async def run(
        self,
        branch: str,
        conclusion: str | None = "failure",
        jobs: Sequence[JobSpec] = (JobSpec(),),
        workflow: str = WORKFLOW,
    ) -> RunRef:
        return await self.report(jobs, workflow, branch=branch, conclusion=conclusion)

    async def run_of_pull(self, number: int, conclusion: str = "failure") -> RunRef:
        return await self.report(
            [JobSpec(conclusion=conclusion)], pr=number, event="pull_request", conclusion=conclusion
        )

    async def open_from_fork(self, user: str, branch: str) -> int:
        fork = f"{user}/app"
        making = {"repo": self.repository, "workflow_path": ".github/workflows/other.yml", "event": "pull_request"}
        head = ForkHead(repo=fork, branch="main")
        await self.drive.run(NewRun.model_validate({**making, "fork": head.model_dump(), "conclusion": "neutral"}))
        await self.drive.push(NewPush(repo=fork, branch=branch, files={"theirs.txt": branch}, user=user))
        wish = OpenPull(repo=self.repository, head=f"{user}:{branch}", base="main", title="From a fork", user=user)
        return await self.drive.open_pull(wish)

    async def pass_time(self, by: timedelta) -> datetime:
        return (await self.drive.advance(by.total_seconds())).now

    async def refuse_reruns(self) -> None:
        rule = {"method": "POST", "path": "/rerun-failed-jobs$", "kind": "403_resource", "when": "before"}
        await self.drive.faults(FaultRule.model_validate(rule))

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
        notes = [
            {
                "path": note.path,
                "start_line": note.line,
                "annotation_level": note.level,
                "message": note.message,
                "title": note.title,
            }
            for note in job.annotations
        ]
        wish = {"name": job.name, "conclusion": job.conclusion, "steps": steps, "annotations": notes, **log}
        return NewJob.model_validate(wish)

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
