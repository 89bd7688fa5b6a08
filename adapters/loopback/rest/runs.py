"""Workflow runs, jobs and logs."""

from datetime import datetime

from fastapi import APIRouter
from fastapi.responses import RedirectResponse, Response

from adapters.loopback.acts import runs as acts
from adapters.loopback.core.lookup import run_of
from adapters.loopback.core.refusals import Refused, not_found
from adapters.loopback.core.run_state import Attempt, Job, Run, Workflow
from adapters.loopback.rest.common import At, Listing, Read, Write, answer, paged
from adapters.loopback.shapes import runs
from adapters.loopback.shapes.view import Json, iso

router = APIRouter(prefix="/repos/{owner}/{name}/actions")
JOBS = Listing(under="jobs")


@router.get("/runs")
async def list_runs(at: Read) -> Response:
    """GET actions/runs with GitHub's filters, newest first."""
    return _runs(at, list(at.repo.runs.values()))


def _runs(at: At, among: list[Run]) -> Response:
    found = sorted((run for run in among if _wanted(at, run)), key=lambda run: run.id, reverse=True)
    without_pulls = at.request.query_params.get("exclude_pull_requests") == "true"

    def shape(run: Run) -> Json:
        shown = runs.run(at.view, at.repo, run, run.latest)
        return shown | {"pull_requests": []} if without_pulls else shown

    return paged(at, found, shape, Listing(under="workflow_runs"))


def _wanted(at: At, run: Run) -> bool:
    actor = at.hub.state.users[run.actor_id].login
    fields = {
        "head_sha": run.head_sha,
        "branch": run.head_branch,
        "event": run.event,
        "actor": actor,
        "check_suite_id": str(run.check_suite_id),
    }
    query = at.request.query_params
    if any(name in query and query[name] != value for name, value in fields.items()):
        return False
    state = query.get("status")
    if state and state not in (runs.status_of(run.latest.conclusion), run.latest.conclusion):
        return False
    return "created" not in query or _in_range(run.created_at, query["created"])


def _in_range(when: datetime, text: str) -> bool:
    """GitHub's date search: >=, >, <=, <, a..b, or a day."""
    moment = iso(when) or ""
    if ".." in text:
        low, _, high = text.partition("..")
        return (low == "*" or moment >= low) and (high == "*" or moment[: len(high)] <= high)
    for sign in (">=", "<=", ">", "<"):
        if text.startswith(sign):
            bound = text.removeprefix(sign)
            cut = moment[: len(bound)]
            return {">=": cut >= bound, "<=": cut <= bound, ">": cut > bound, "<": cut < bound}[sign]
    return moment.startswith(text)


@router.get("/runs/{run_id}")
async def get_run(at: Read, run_id: int) -> Response:
    """GET actions/runs/{id}: as of the latest attempt."""
    run = run_of(at.repo, run_id)
    return answer(runs.run(at.view, at.repo, run, run.latest))


@router.get("/runs/{run_id}/attempts/{number}")
async def get_attempt(at: Read, run_id: int, number: int) -> Response:
    """GET actions/runs/{id}/attempts/{n}."""
    run = run_of(at.repo, run_id)
    return answer(runs.run(at.view, at.repo, run, _attempt(run, number)))


def _attempt(run: Run, number: int) -> Attempt:
    for attempt in run.attempts:
        if attempt.number == number:
            return attempt
    raise not_found()


@router.get("/runs/{run_id}/jobs")
async def list_jobs(at: Read, run_id: int) -> Response:
    """GET actions/runs/{id}/jobs: of the latest attempt, or of all with filter=all."""
    run = run_of(at.repo, run_id)
    attempts = run.attempts if at.request.query_params.get("filter") == "all" else [run.latest]
    return _jobs(at, run, attempts)


@router.get("/runs/{run_id}/attempts/{number}/jobs")
async def list_attempt_jobs(at: Read, run_id: int, number: int) -> Response:
    """GET actions/runs/{id}/attempts/{n}/jobs."""
    run = run_of(at.repo, run_id)
    return _jobs(at, run, [_attempt(run, number)])


def _jobs(at: At, run: Run, attempts: list[Attempt]) -> Response:
    found = [(attempt, job) for attempt in attempts for job in attempt.jobs]
    return paged(at, found, lambda pair: runs.job(at.view, at.repo, (run, pair[0]), pair[1]), JOBS)


def _find_job(at: At, job_id: int) -> tuple[Run, Attempt, Job]:
    for run in at.repo.runs.values():
        for attempt in run.attempts:
            for job in attempt.jobs:
                if job.id == job_id:
                    return run, attempt, job
    raise not_found()


@router.get("/jobs/{job_id}")
async def get_job(at: Read, job_id: int) -> Response:
    """GET actions/jobs/{id}."""
    run, attempt, job = _find_job(at, job_id)
    return answer(runs.job(at.view, at.repo, (run, attempt), job))


@router.get("/jobs/{job_id}/logs")
async def get_log(at: Read, job_id: int) -> Response:
    """GET actions/jobs/{id}/logs: 302 to the second listener, for a minute; 404 and 410 as GitHub has them."""
    _, _, job = _find_job(at, job_id)
    if job.log_status == "410":
        raise Refused(410, "Server Error")
    if job.log_status == "404" or job.conclusion is None:
        raise not_found()
    return RedirectResponse(at.hub.links.address(job_id), 302)


@router.post("/runs/{run_id}/rerun-failed-jobs")
async def rerun_failed_jobs(at: Write, run_id: int) -> Response:
    """POST rerun-failed-jobs: the next attempt is requested and waits for CI."""
    run = run_of(at.repo, run_id)
    attempt = acts.rerun_failed(at.hub, at.repo, run, at.user)
    at.effect("run.rerun", f"{at.name} {run_id}/{attempt.number}")
    return answer({}, 201)


@router.get("/workflows/{workflow_id}")
async def get_workflow(at: Read, workflow_id: str) -> Response:
    """GET actions/workflows/{id or file name}."""
    return answer(runs.workflow(at.view, at.repo, _workflow(at, workflow_id)))


@router.get("/workflows/{workflow_id}/runs")
async def list_workflow_runs(at: Read, workflow_id: str) -> Response:
    """GET actions/workflows/{id or file name}/runs with GitHub's filters, newest first."""
    path = _workflow(at, workflow_id).path
    return _runs(at, [run for run in at.repo.runs.values() if run.workflow_path == path])


def _workflow(at: At, wanted: str) -> Workflow:
    for workflow in at.repo.workflows.values():
        if wanted in (str(workflow.id), workflow.path.rsplit("/", 1)[-1]):
            return workflow
    raise not_found()
