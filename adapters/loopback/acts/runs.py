"""Workflow runs as CI would report them, and asking for a second attempt."""

import re
from collections.abc import Sequence

from adapters.loopback.core.bare import Commit
from adapters.loopback.core.refusals import Refused
from adapters.loopback.core.run_state import Attempt, HeadCommit, Job, Run, Workflow
from adapters.loopback.core.state import Repo, User
from adapters.loopback.hooks import events
from adapters.loopback.hooks.events import OfRun
from adapters.loopback.hub import Hub
from adapters.loopback.shapes.checks import check_of_job

_NAME = re.compile(r"^name:\s*['\"]?(.+?)['\"]?\s*$", re.MULTILINE)


async def workflow_at(hub: Hub, repo: Repo, path: str, sha: str) -> Workflow:
    """The workflow of a path; named by its file at `sha`, or by the path if there is no file."""
    if path not in repo.workflows:
        text = await hub.bare(repo).read(sha, path) or b""
        named = _NAME.search(text.decode(errors="replace"))
        repo.workflows[path] = Workflow(
            id=hub.store.new_id(), path=path, name=named[1] if named else path, created_at=hub.store.now()
        )
    return repo.workflows[path]


def head_commit_of(commit: Commit) -> HeadCommit:
    """What a run keeps of its commit."""
    return HeadCommit(
        tree=commit.tree,
        message=commit.message,
        date=commit.committer.date,
        name=commit.author.name,
        email=commit.author.email,
    )


def request_attempt(hub: Hub, repo: Repo, run: Run, actor: User, jobs: Sequence[Job]) -> Attempt:
    """Add the next attempt, in progress, and say that it was requested."""
    now = hub.store.now()
    attempt = Attempt(
        number=run.latest.number + 1 if run.attempts else 1,
        conclusion=None,
        actor_id=actor.id,
        started_at=now,
        updated_at=now,
        jobs=list(jobs),
    )
    run.attempts.append(attempt)
    events.workflow_run(hub, repo, OfRun(run, attempt), "requested")
    return attempt


def report(hub: Hub, repo: Repo, of: OfRun) -> list[str]:
    """Send what GitHub sends while an attempt runs and ends; the answer is the guids, workflow_run the last."""
    guids = []
    sender = hub.state.users[of.attempt.actor_id]
    for job in of.attempt.jobs:
        guids.append(events.workflow_job(hub, repo, of, job))
        check = check_of_job(hub.view(), repo, of.run, job)
        guids.append(events.check_run(hub, repo, check, "completed" if job.conclusion else "created", sender))
    action = "in_progress" if of.attempt.conclusion is None else "completed"
    guids.append(events.workflow_run(hub, repo, of, action))
    return guids


def rerun_failed(hub: Hub, repo: Repo, run: Run, actor: User) -> Attempt:
    """A new attempt whose failed jobs run again; jobs that passed keep their result. Raises Refused 403 as GitHub does.

    A passed job gets a new id in the new attempt, with the old result and log.
    """
    last = run.latest
    if last.conclusion is None:
        raise Refused(403, "This workflow run is already running")
    if last.conclusion == "success" or not any(_failed(job) for job in last.jobs):
        raise Refused(403, "This workflow run cannot be retried")
    return request_attempt(hub, repo, run, actor, [_again(hub, job) for job in last.jobs])


def _failed(job: Job) -> bool:
    return job.conclusion not in ("success", "skipped", "neutral")


def _again(hub: Hub, job: Job) -> Job:
    fresh = job.model_copy(update={"id": hub.store.new_id()}, deep=True)
    if _failed(job):
        return fresh.model_copy(
            update={"conclusion": None, "completed_at": None, "steps": [], "annotations": [], "log_status": "404"}
        )
    log = hub.store.log_file(job.id)
    if log.exists():
        hub.store.log_file(fresh.id).write_bytes(log.read_bytes())
    return fresh
