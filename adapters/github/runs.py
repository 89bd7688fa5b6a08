"""Workflow runs and their jobs. Reads only."""

from itertools import islice

from adapters.github.annotations import hit_time_limit
from adapters.github.ci_replies import JobReply, RunReply
from adapters.github.client import Client, Repository
from adapters.github.replies import PullReply, RepositoryReply
from sweeper.errors import NotFound
from sweeper.model import HeadCi, JobFacts, RunFacts, RunRef, StepFacts
from sweeper.model.run import FAILING_CONCLUSIONS, PullFacts

PULL_EVENT = "pull_request"
MOST_PULLS = 20
"""Of one head there is seldom more than one."""


def home_of(client: Client, run: RunRef) -> Repository:
    """Under its current name, because a query is lost on the way over a rename. NotFound if it is another one now."""
    home = client.repository(run.repository).get(RepositoryReply)
    if home.id != run.repository_id:
        raise NotFound(f"Trigger the run again by its new name: {run.repository} is another repository now.")
    return client.repository(home.full_name)


def find_run(client: Client, repository: str, run_id: int) -> RunFacts:
    """The newest attempt, under the name and id the repository has now."""
    there = client.repository(repository)
    return _facts(there, there.get(RunReply, f"actions/runs/{run_id}"))


def read_run(client: Client, run: RunRef) -> RunFacts:
    """Exactly that attempt. A name that now belongs to another repository is NotFound."""
    there = client.repository(run.repository)
    reply = there.get(RunReply, f"actions/runs/{run.run_id}/attempts/{run.run_attempt}")
    if reply.repository.id != run.repository_id:
        raise NotFound(f"Trigger the run again by its new name: {run.repository} is another repository now.")
    return _facts(there, reply)


def read_jobs(client: Client, run: RunRef) -> tuple[JobFacts, ...]:
    """All jobs of the attempt; a re-run of failed jobs keeps the others with their old results."""
    there = client.repository(run.repository)
    path = f"actions/runs/{run.run_id}/attempts/{run.run_attempt}/jobs"
    return tuple(_job(reply) for reply in there.pages(JobReply, path, within="jobs"))


def is_green_later(there: Repository, run: RunRef) -> bool:
    """Whether the same code passed since: the run's newest attempt, or a newer run of its workflow on that commit."""
    newest = there.find(RunReply, f"actions/runs/{run.run_id}")
    if newest is None:
        return False
    if newest.conclusion == "success":
        return True
    return any(
        other.id > newest.id and other.workflow_id == newest.workflow_id and other.conclusion == "success"
        for other in runs_of(there, newest.head_sha)
    )


def runs_of(there: Repository, sha: str) -> list[RunReply]:
    """All runs on a commit. The commit is compared here too: a query may be lost on the way over a rename."""
    runs = there.pages(RunReply, "actions/runs", {"head_sha": sha}, within="workflow_runs")
    return [run for run in runs if run.head_sha == sha]


def _job(reply: JobReply) -> JobFacts:
    steps = (StepFacts(number=step.number, name=step.name, conclusion=step.conclusion) for step in reply.steps or ())
    return JobFacts(id=reply.id, name=reply.name, conclusion=reply.conclusion, steps=tuple(steps))


def _facts(there: Repository, reply: RunReply) -> RunFacts:
    head = reply.head_repository
    branch_head = _branch_head(there, reply)
    return RunFacts(
        run=reply.ref,
        status=reply.status or "unknown",
        conclusion=reply.conclusion,
        event=reply.event,
        workflow_name=reply.name or "",
        workflow_path=reply.path.partition("@")[0],
        head_sha=reply.head_sha,
        head_branch=reply.head_branch,
        head_repository=head.full_name if head else None,
        head_repository_id=head.id if head else None,
        branch_head=branch_head,
        head_ci=_head_ci(there, reply, branch_head),
        pull=_pull(there, reply),
        hit_time_limit=hit_time_limit(there, reply),
        html_url=reply.html_url,
        created_at=reply.created_at,
    )


def _branch_head(there: Repository, reply: RunReply) -> str | None:
    """The branch in the repository the code came from, read with the rights we have on the run's own."""
    if reply.head_repository is None or not reply.head_branch:
        return None
    return there.fork(reply.head_repository.full_name).branch_head(reply.head_branch)


def _head_ci(there: Repository, reply: RunReply, branch_head: str | None) -> HeadCi:
    """Asked only once the branch has moved on; the newest run of the workflow on its head counts."""
    if branch_head is None or branch_head == reply.head_sha:
        return HeadCi.NONE
    same = [run for run in runs_of(there, branch_head) if run.workflow_id == reply.workflow_id]
    if not same:
        return HeadCi.NONE
    newest = max(same, key=lambda run: run.id)
    if newest.status != "completed":
        return HeadCi.PENDING
    if newest.conclusion == "success":
        return HeadCi.GREEN
    return HeadCi.RED if newest.conclusion in FAILING_CONCLUSIONS else HeadCi.NONE


def _pull(there: Repository, reply: RunReply) -> PullFacts | None:
    """The pull request a run is for, by the commit: a run names open ones whose branch fits, and of forks none.

    One that has moved on since is named as well, but its `base_sha` is of another moment then.
    """
    if reply.event != PULL_EVENT:
        return None
    named = sorted(reply.pull_requests or (), key=lambda pull: pull.head.sha != reply.head_sha)
    if not named:
        return _pull_of_head(there, reply)
    base_sha = named[0].base.sha if named[0].head.sha == reply.head_sha else ""
    return PullFacts(number=named[0].number, base_ref=named[0].base.ref, base_sha=base_sha)


def _pull_of_head(there: Repository, reply: RunReply) -> PullFacts | None:
    """The open one whose head is that commit of that repository. Branch names alone prove nothing: forks share them."""
    head = reply.head_repository
    if head is None or not reply.head_branch:
        return None
    query = {"state": "open", "head": f"{head.full_name.partition('/')[0]}:{reply.head_branch}", "per_page": "20"}
    for pull in islice(there.pages(PullReply, "pulls", query), MOST_PULLS):
        is_of_head = pull.head.repo is not None and pull.head.repo.id == head.id
        if is_of_head and pull.head.sha == reply.head_sha and pull.state == "open":
            return PullFacts(number=pull.number, base_ref=pull.base.ref, base_sha=pull.base.sha)
    return None
