"""Workflow runs, their jobs, check runs and commit statuses."""

from dataclasses import dataclass
from datetime import datetime

from adapters.loopback.core.state import Annotation, App, Attempt, CheckRun, Job, Pull, Repo, Run, Status, Workflow
from adapters.loopback.shapes.people import actions_app, app, user_by_id
from adapters.loopback.shapes.pulls import minimal_pull
from adapters.loopback.shapes.repos import minimal_repo
from adapters.loopback.shapes.view import Json, View, iso, node_id


def status_of(conclusion: str | None) -> str:
    """GitHub's status for a conclusion."""
    return "in_progress" if conclusion is None else "completed"


def run(view: View, repo: Repo, found: Run, attempt: Attempt) -> Json:
    """GitHub's `workflow-run`, as of one attempt."""
    workflow = repo.workflows[found.workflow_path]
    return {
        **_run_addresses(view, repo, found, attempt),
        "id": found.id,
        "node_id": node_id("WFR", found.id),
        "name": workflow.name,
        "path": found.workflow_path,
        "workflow_id": workflow.id,
        "head_branch": found.head_branch,
        "head_sha": found.head_sha,
        "display_title": found.head_commit.message.split("\n", 1)[0],
        "run_number": found.number,
        "run_attempt": attempt.number,
        "event": found.event,
        "status": status_of(attempt.conclusion),
        "conclusion": attempt.conclusion,
        "check_suite_id": found.check_suite_id,
        "check_suite_node_id": node_id("CS", found.check_suite_id),
        "created_at": iso(found.created_at),
        "updated_at": iso(attempt.updated_at),
        "run_started_at": iso(attempt.started_at),
        "actor": user_by_id(view, found.actor_id),
        "triggering_actor": user_by_id(view, attempt.actor_id),
        "pull_requests": [minimal_pull(view, repo, pull) for pull in open_pulls_of(repo, found)],
        "referenced_workflows": [],
        "head_commit": _head_commit(found),
        "repository": minimal_repo(view, repo),
        "head_repository": minimal_repo(view, view.state.repos[found.head_repo_id]),
    }


def open_pulls_of(repo: Repo, found: Run) -> list[Pull]:
    """Open pulls of the run's branch; none for a fork, as GitHub answers."""
    if found.head_repo_id != repo.id:
        return []
    return [
        pull
        for pull in repo.pulls.values()
        if pull.open and pull.head == found.head_branch and pull.head_repo_id == repo.id
    ]


def _head_commit(found: Run) -> Json:
    commit = found.head_commit
    person = {"name": commit.name, "email": commit.email}
    return {
        "id": found.head_sha,
        "tree_id": commit.tree,
        "message": commit.message,
        "timestamp": commit.date,
        "author": person,
        "committer": person,
    }


def _run_addresses(view: View, repo: Repo, found: Run, attempt: Attempt) -> Json:
    api = f"{view.api(repo)}/actions/runs/{found.id}"
    previous = f"{api}/attempts/{attempt.number - 1}" if attempt.number > 1 else None
    return {
        "url": api,
        "html_url": f"{view.html(repo)}/actions/runs/{found.id}",
        "jobs_url": f"{api}/jobs",
        "logs_url": f"{api}/logs",
        "check_suite_url": f"{view.api(repo)}/check-suites/{found.check_suite_id}",
        "artifacts_url": f"{api}/artifacts",
        "cancel_url": f"{api}/cancel",
        "rerun_url": f"{api}/rerun",
        "previous_attempt_url": previous,
        "workflow_url": f"{view.api(repo)}/actions/workflows/{repo.workflows[found.workflow_path].id}",
    }


def workflow(view: View, repo: Repo, found: Workflow) -> Json:
    """GitHub's `workflow`."""
    return {
        "id": found.id,
        "node_id": node_id("W", found.id),
        "name": found.name,
        "path": found.path,
        "state": "active",
        "created_at": iso(found.created_at),
        "updated_at": iso(found.created_at),
        "url": f"{view.api(repo)}/actions/workflows/{found.id}",
        "html_url": f"{view.html(repo)}/blob/{repo.default_branch}/{found.path}",
        "badge_url": f"{view.html(repo)}/actions/workflows/{found.path.rsplit('/', 1)[-1]}/badge.svg",
    }


def job(view: View, repo: Repo, parts: tuple[Run, Attempt], found: Job) -> Json:
    """GitHub's `job`."""
    made_by, attempt = parts
    started, ended = iso(found.created_at), iso(found.completed_at)
    api = view.api(repo)
    return {
        "id": found.id,
        "run_id": made_by.id,
        "workflow_name": repo.workflows[made_by.workflow_path].name,
        "head_branch": made_by.head_branch,
        "run_url": f"{api}/actions/runs/{made_by.id}",
        "run_attempt": attempt.number,
        "node_id": node_id("CR", found.id),
        "head_sha": made_by.head_sha,
        "url": f"{api}/actions/jobs/{found.id}",
        "html_url": f"{view.html(repo)}/actions/runs/{made_by.id}/job/{found.id}",
        "status": status_of(found.conclusion),
        "conclusion": found.conclusion,
        "created_at": started,
        "started_at": started,
        "completed_at": ended,
        "name": found.name,
        "steps": [
            {
                "name": step.name,
                "status": status_of(step.conclusion),
                "conclusion": step.conclusion,
                "number": step.number,
                "started_at": started,
                "completed_at": ended,
            }
            for step in found.steps
        ],
        "check_run_url": f"{api}/check-runs/{found.id}",
        "labels": ["ubuntu-latest"],
        "runner_id": 1,
        "runner_name": "GitHub Actions 1",
        "runner_group_id": 2,
        "runner_group_name": "GitHub Actions",
    }


@dataclass(frozen=True)
class Check:
    """A check run, whoever made it. `app` None: GitHub Actions, for a job."""

    id: int
    suite_id: int
    name: str
    head_sha: str
    status: str
    conclusion: str | None
    started_at: datetime
    completed_at: datetime | None
    external_id: str
    details_url: str
    output: Json
    annotations: list[Annotation]
    app: App | None


def check_of_job(view: View, repo: Repo, made_by: Run, found: Job) -> Check:
    """Each job of a run is a check run of the same id."""
    return Check(
        id=found.id,
        suite_id=made_by.check_suite_id,
        name=found.name,
        head_sha=made_by.head_sha,
        status=status_of(found.conclusion),
        conclusion=found.conclusion,
        started_at=found.created_at,
        completed_at=found.completed_at,
        external_id="",
        details_url=f"{view.html(repo)}/actions/runs/{made_by.id}/job/{found.id}",
        output={"title": None, "summary": None, "text": None},
        annotations=found.annotations,
        app=None,
    )


def check_of_app(view: View, repo: Repo, found: CheckRun) -> Check:
    """A check run our app made."""
    return Check(
        id=found.id,
        suite_id=found.suite_id,
        name=found.name,
        head_sha=found.head_sha,
        status=found.status,
        conclusion=found.conclusion,
        started_at=found.started_at,
        completed_at=found.completed_at,
        external_id=found.external_id,
        details_url=found.details_url or f"{view.html(repo)}/runs/{found.id}",
        output={"title": found.title, "summary": found.summary, "text": found.text},
        annotations=found.annotations,
        app=view.state.app,
    )


def check(view: View, repo: Repo, found: Check) -> Json:
    """GitHub's `check-run`."""
    api = f"{view.api(repo)}/check-runs/{found.id}"
    ours = view.state.app
    counts = {"annotations_count": len(found.annotations), "annotations_url": f"{api}/annotations"}
    owner = app(view, found.app) if found.app else ours and actions_app(view, ours)
    pulls = [pull for pull in repo.pulls.values() if pull.open and pull.head_sha == found.head_sha]
    return {
        "id": found.id,
        "node_id": node_id("CR", found.id),
        "name": found.name,
        "head_sha": found.head_sha,
        "external_id": found.external_id,
        "url": api,
        "html_url": f"{view.html(repo)}/runs/{found.id}",
        "details_url": found.details_url,
        "status": found.status,
        "conclusion": found.conclusion,
        "started_at": iso(found.started_at),
        "completed_at": iso(found.completed_at),
        "output": found.output | counts,
        "check_suite": {"id": found.suite_id},
        "app": owner,
        "pull_requests": [minimal_pull(view, repo, pull) for pull in pulls],
    }


def annotation(view: View, repo: Repo, sha: str, found: Annotation) -> Json:
    """GitHub's `check-annotation`."""
    return found.model_dump() | {"blob_href": f"{view.html(repo)}/blob/{sha}/{found.path}"}


def status(view: View, repo: Repo, found: Status) -> Json:
    """GitHub's `status`."""
    return {
        "url": f"{view.api(repo)}/statuses/{found.sha}",
        "id": found.id,
        "node_id": node_id("SC", found.id),
        "avatar_url": None,
        "state": found.state,
        "description": found.description,
        "target_url": found.target_url,
        "context": found.context,
        "created_at": iso(found.created_at),
        "updated_at": iso(found.created_at),
        "creator": user_by_id(view, found.user_id),
    }


def latest_statuses(repo: Repo, sha: str) -> list[Status]:
    """The newest status of each context."""
    return list({found.context: found for found in repo.statuses if found.sha == sha}.values())


def combined_state(found: list[Status]) -> str:
    """GitHub's rule: failure if any failed, pending if any is pending or there is none, else success."""
    states = {one.state for one in found}
    if states & {"failure", "error"}:
        return "failure"
    return "success" if states == {"success"} else "pending"


def combined_status(view: View, repo: Repo, sha: str) -> Json:
    """GitHub's `combined-commit-status`."""
    found = latest_statuses(repo, sha)
    return {
        "state": combined_state(found),
        "statuses": [status(view, repo, one) for one in found],
        "sha": sha,
        "total_count": len(found),
        "repository": minimal_repo(view, repo),
        "commit_url": f"{view.api(repo)}/commits/{sha}",
        "url": f"{view.api(repo)}/commits/{sha}/status",
    }
