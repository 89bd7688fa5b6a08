"""Workflow runs, their jobs, check runs and commit statuses."""

from adapters.loopback.core.pull_state import Pull
from adapters.loopback.core.run_state import Attempt, Job, Run, Workflow
from adapters.loopback.core.state import Repo
from adapters.loopback.shapes.people import user_by_id
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
