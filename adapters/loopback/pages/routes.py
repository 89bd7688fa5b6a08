"""Pages for a browser, and the forms of a pull request. They work without JavaScript and load nothing else."""

from typing import Annotated

from fastapi import APIRouter, FastAPI, Form, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from jinja2 import Environment, PackageLoader
from starlette.types import ASGIApp

from adapters.loopback.core.lookup import pull_numbered, run_of
from adapters.loopback.core.refusals import Moved, Refused
from adapters.loopback.hooks.events import OnPull
from adapters.loopback.hub import Hub
from adapters.loopback.pages.forms import FilledForm, perform
from adapters.loopback.pages.pull_view import pull_view
from adapters.loopback.turns import Turns

router = APIRouter(prefix="/web")
_TEMPLATES = Environment(
    loader=PackageLoader("adapters.loopback.pages"), autoescape=True, trim_blocks=True, lstrip_blocks=True
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
_LOG_TAIL = 64 * 1024


def _hub(request: Request) -> Hub:
    hub: Hub = request.app.state.hub
    return hub


def _page(name: str, status: int = 200, **values: object) -> Response:
    text = _TEMPLATES.get_template(name).render(**values)
    return HTMLResponse(text, status, headers={"content-security-policy": _POLICY, "referrer-policy": "same-origin"})


@router.get("")
@router.get("/")
async def index(request: Request) -> Response:
    """All repositories."""
    hub = _hub(request)
    found = [(hub.repo_name(repo), repo) for repo in hub.state.repos.values()]
    return _page("index.html", repos=sorted(found, key=lambda pair: pair[0]))


@router.get("/{owner}/{name}")
async def repository(request: Request, owner: str, name: str) -> Response:
    """Pull requests and runs of one repository."""
    hub = _hub(request)
    repo = hub.repo(f"{owner}/{name}")
    newest = sorted(repo.pulls.values(), key=lambda pull: -pull.number)
    runs = sorted(repo.runs.values(), key=lambda run: -run.id)[:30]
    return _page("repository.html", repo=hub.repo_name(repo), pulls=newest, runs=runs, users=hub.state.users)


@router.get("/{owner}/{name}/actions/runs/{run_id}")
@router.get("/{owner}/{name}/actions/runs/{run_id}/job/{job_id}")
async def run(request: Request, owner: str, name: str, run_id: int) -> Response:
    """A run's latest attempt: jobs, steps, the end of each log."""
    hub = _hub(request)
    repo = hub.repo(f"{owner}/{name}")
    found = run_of(repo, run_id)
    logs = {job.id: _tail(hub, job.id) for job in found.latest.jobs}
    workflow = repo.workflows[found.workflow_path]
    return _page("run.html", repo=hub.repo_name(repo), run=found, workflow=workflow, logs=logs)


def _tail(hub: Hub, job_id: int) -> str:
    file = hub.store.log_file(job_id)
    return file.read_bytes()[-_LOG_TAIL:].decode(errors="replace") if file.exists() else ""


@router.get("/{owner}/{name}/pull/{number}.diff")
async def pull_diff(request: Request, owner: str, name: str, number: int) -> Response:
    """The diff as text."""
    hub = _hub(request)
    repo = hub.repo(f"{owner}/{name}")
    pull = pull_numbered(repo, number)
    bare = hub.bare(repo)
    start = await bare.merge_base(pull.base_sha, pull.head_sha) or pull.base_sha
    shown = await bare.run("diff", "-M", "--no-ext-diff", "--no-textconv", start, pull.head_sha)
    return PlainTextResponse(shown.out)


@router.get("/{owner}/{name}/pull/{number}")
async def pull_request(request: Request, owner: str, name: str, number: int) -> Response:
    """The pull request: body, commits, checks, diff, conversation, and the review form."""
    hub = _hub(request)
    repo = hub.repo(f"{owner}/{name}")
    return _page("pull.html", page=await pull_view(hub, repo, pull_numbered(repo, number)), form=None, notice=None)


@router.post("/{owner}/{name}/pull/{number}")
async def act(request: Request, owner: str, name: str, number: int, filled: Annotated[FilledForm, Form()]) -> Response:
    """Approve, request changes, comment, merge, close or reopen, as the chosen user."""
    hub = _hub(request)
    repo = hub.repo(f"{owner}/{name}")
    pull = pull_numbered(repo, number)
    try:
        await perform(hub, OnPull(repo, pull), filled)
    except Refused as refused:
        page = await pull_view(hub, repo, pull)
        return _page("pull.html", refused.status, page=page, form=filled, notice=refused.sentence())
    return RedirectResponse(request.url.path, 303)


def pages_app(hub: Hub) -> ASGIApp:
    """The pages of a hub."""
    app = FastAPI(openapi_url=None)
    app.state.hub = hub
    app.include_router(router)
    for kind in (Refused, Moved, RequestValidationError, 404, 405):
        app.add_exception_handler(kind, _refuse)
    return Turns(app, hub)


async def _refuse(request: Request, error: Exception) -> Response:
    if isinstance(error, Moved):
        hub = _hub(request)
        rest = "/".join(request.url.path.split("/")[4:])
        return RedirectResponse(f"/web/{hub.repo_name(hub.state.repos[error.repository_id])}/{rest}".rstrip("/"), 301)
    if isinstance(error, RequestValidationError):
        return _page("refused.html", 422, message="The form was not filled in as this page sends it.")
    return _page("refused.html", 404, message="There is no such page here.")
