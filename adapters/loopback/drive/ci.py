"""POST runs: a workflow run as CI would have produced it."""

from datetime import datetime

from adapters.loopback.acts import runs as acts
from adapters.loopback.acts.people import known_or_new
from adapters.loopback.acts.repos import commit_named, fork_of
from adapters.loopback.core.lookup import pull_numbered
from adapters.loopback.core.refusals import Refused
from adapters.loopback.core.run_state import Annotation, Attempt, Job, Run, Step
from adapters.loopback.core.state import Repo
from adapters.loopback.drive.answers import JobMade, RunMade
from adapters.loopback.drive.requests import NewJob, NewRun
from adapters.loopback.hooks.events import OfRun
from adapters.loopback.hub import Hub

_ACTOR = "ci-actor"


async def make_run(hub: Hub, new: NewRun) -> RunMade:
    """Add a run or the next attempt of one, with jobs, logs and webhooks. Raises Refused 422.

    An attempt that a re-run of failed jobs began keeps the jobs that had passed, unless they are given anew.
    """
    repo = hub.repo(new.repo)
    seen = len(hub.state.deliveries)
    run = repo.runs.get(new.run_id or 0) or await _new_run(hub, repo, new)
    attempt = _attempt(hub, repo, run, new)
    given = {job.name for job in new.jobs}
    attempt.jobs = [job for job in attempt.jobs if job.conclusion and job.name not in given]
    attempt.jobs += [_job(hub, job) for job in new.jobs]
    attempt.conclusion, attempt.updated_at = new.conclusion, hub.store.now()
    acts.report(hub, repo, OfRun(run, attempt))
    return RunMade(
        run_id=run.id,
        attempt=attempt.number,
        sha=run.head_sha,
        jobs=[JobMade(id=job.id, name=job.name) for job in attempt.jobs],
        deliveries=list(dict.fromkeys(one.guid for one in hub.state.deliveries[seen:])),
    )


async def _new_run(hub: Hub, repo: Repo, new: NewRun) -> Run:
    head_repo, branch, sha = await _head(hub, repo, new)
    actor = known_or_new(hub.store, _ACTOR)
    await acts.workflow_at(hub, repo, new.workflow_path, sha)
    run = Run(
        id=new.run_id or hub.store.new_run_id(),
        number=len(repo.runs) + 1,
        check_suite_id=hub.store.new_id(),
        workflow_path=new.workflow_path,
        event=new.event,
        head_branch=branch,
        head_sha=sha,
        head_repo_id=head_repo.id,
        head_commit=acts.head_commit_of(await hub.bare(head_repo).commit(sha)),
        actor_id=actor.id,
        created_at=hub.store.now(),
    )
    repo.runs[run.id] = run
    return run


async def _head(hub: Hub, repo: Repo, new: NewRun) -> tuple[Repo, str | None, str]:
    """The code of the run: the pull request's head, the fork's branch, the branch, or the sha."""
    if new.pr is not None:
        pull = pull_numbered(repo, new.pr)
        return hub.state.repos[pull.head_repo_id], pull.head, pull.head_sha
    if new.fork is not None:
        fork = await fork_of(hub, repo, new.fork.repo)
        name = new.sha or new.fork.branch
        return fork, new.fork.branch, await commit_named(hub.bare(fork), name)
    bare = hub.bare(repo)
    if new.sha is None and new.branch is None:
        raise Refused(422, "Give sha, branch, pr or fork; nothing says which commit the run is for")
    sha = await commit_named(bare, new.sha or new.branch or "")
    branch = new.branch or next((name for name, tip in (await bare.branches()).items() if tip == sha), None)
    return repo, branch or repo.default_branch, sha


def _attempt(hub: Hub, repo: Repo, run: Run, new: NewRun) -> Attempt:
    """The attempt asked for; one that a re-run has requested is taken over."""
    if run.attempts and run.latest.conclusion is None and new.attempt in (None, run.latest.number):
        return run.latest
    following = run.latest.number + 1 if run.attempts else new.attempt or 1
    if new.attempt not in (None, following):
        raise Refused(422, f"The next attempt of run {run.id} is {following}, not {new.attempt}")
    attempt = acts.request_attempt(hub, repo, run, hub.state.users[run.actor_id], [])
    attempt.number = following
    return attempt


def _job(hub: Hub, new: NewJob) -> Job:
    now = hub.store.now()
    log = new.log if new.log is not None or new.log_status else _plain_log(new, now)
    job = Job(
        id=hub.store.new_id(),
        name=new.name,
        conclusion=new.conclusion,
        steps=[Step(number=at, name=one.name, conclusion=one.conclusion) for at, one in enumerate(new.steps, 1)],
        log_status=new.log_status or "200",
        annotations=[Annotation(**one.model_dump()) for one in new.annotations],
        created_at=now,
        completed_at=now if new.conclusion else None,
    )
    if log is not None:
        hub.store.log_file(job.id).write_bytes(log.encode())
    return job


def _plain_log(new: NewJob, now: datetime) -> str:
    """A job has a log, whoever made it up: its steps, and how the failing ones ended."""
    lines = []
    for step in new.steps:
        lines += [f"##[group]Run {step.name.removeprefix('Run ')}", "##[endgroup]"]
        if step.conclusion == "failure":
            lines.append("##[error]Process completed with exit code 1.")
    if new.conclusion == "failure" and not any("##[error]" in line for line in lines):
        lines.append("##[error]Process completed with exit code 1.")
    return "".join(f"{now:%Y-%m-%dT%H:%M:%S}.0000000Z {line}\n" for line in lines)
