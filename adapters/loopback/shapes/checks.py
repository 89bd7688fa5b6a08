"""Check runs, of apps and of jobs, and commit statuses."""

from dataclasses import dataclass
from datetime import datetime

from adapters.loopback.core.run_state import Annotation, CheckRun, Job, Run, Status
from adapters.loopback.core.state import App, Repo
from adapters.loopback.shapes.people import actions_app, app, user_by_id
from adapters.loopback.shapes.pulls import minimal_pull
from adapters.loopback.shapes.repos import minimal_repo
from adapters.loopback.shapes.runs import status_of
from adapters.loopback.shapes.view import Json, View, iso, node_id


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
