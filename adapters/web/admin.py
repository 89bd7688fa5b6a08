"""The operator's face: API, metrics and pages for this machine alone. It only reads, so asking twice is safe."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import FastAPI, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from pydantic import SecretStr

from adapters.web import pages
from adapters.web.guard import Guard
from adapters.web.metrics import CONTENT_TYPE, metrics_text
from sweeper.errors import BadInput, NotFound, OutOfReach, SweeperError, Transient
from sweeper.ports import Sweeps
from sweeper.reporting import HealthReport, ListReport, ShowReport, list_report, show_report

_METRICS_SWEEPS = 10_000
_STATUS = {NotFound: 404, BadInput: 400, OutOfReach: 503, Transient: 503}


@dataclass(frozen=True)
class Office:
    """What the admin face works with."""

    sweeps: Sweeps
    health: Callable[[], Awaitable[HealthReport]]
    token: SecretStr


def build_admin(office: Office) -> FastAPI:
    """API under /api, /metrics, and pages under /. Every request passes the Guard."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.add_middleware(Guard, token=office.token)
    app.add_exception_handler(SweeperError, _tell)
    _add_api(app, office)
    _add_pages(app, office)
    return app


def _add_api(app: FastAPI, office: Office) -> None:
    @app.get("/api/sweeps")
    async def sweeps(limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> ListReport:
        return await _list(office, limit)

    @app.get("/api/sweeps/{workflow_id}")
    async def sweep(workflow_id: str) -> ShowReport:
        return show_report(await office.sweeps.show(workflow_id))

    @app.get("/api/health")
    async def health() -> Response:
        report = await office.health()
        return JSONResponse(report.model_dump(mode="json"), 200 if report.ready else 503)

    @app.get("/metrics")
    async def metrics() -> Response:
        return PlainTextResponse(metrics_text(await _list(office, _METRICS_SWEEPS)), media_type=CONTENT_TYPE)


def _add_pages(app: FastAPI, office: Office) -> None:
    @app.get("/")
    async def front() -> HTMLResponse:
        return HTMLResponse(pages.list_page(await _list(office, 200)))

    @app.get("/sweeps/{workflow_id}")
    async def story(workflow_id: str) -> HTMLResponse:
        return HTMLResponse(pages.story_page(show_report(await office.sweeps.show(workflow_id))))


async def _list(office: Office, limit: int) -> ListReport:
    return list_report(await office.sweeps.list(limit), await office.sweeps.worker_life())


async def _tell(request: Request, error: Exception) -> Response:
    """Expected errors as one sentence, in the shape the address answers in."""
    status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 500)
    if request.url.path.startswith(("/api/", "/metrics")):
        return JSONResponse({"error": str(error)}, status)
    return HTMLResponse(pages.problem_page(str(error)), status)
