"""The drive API put together; what fails leaves no trace and is told as {error}."""

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.types import ASGIApp

from adapters.loopback.core.refusals import Moved, Refused
from adapters.loopback.drive import controls, people
from adapters.loopback.hub import Hub
from adapters.loopback.turns import ReadAsJson, Turns


def drive_app(hub: Hub) -> ASGIApp:
    """The drive API of a hub."""
    app = FastAPI(openapi_url=None)
    app.state.hub = hub
    for part in (people, controls):
        app.include_router(part.router, prefix="/_drive")
    app.add_exception_handler(Refused, _refuse)
    app.add_exception_handler(Moved, _refuse)
    app.add_exception_handler(RequestValidationError, _refuse)
    app.add_exception_handler(404, _refuse)
    app.add_exception_handler(405, _refuse)
    return Turns(ReadAsJson(app), hub)


async def _refuse(_: Request, error: Exception) -> Response:
    if isinstance(error, RequestValidationError):
        said = "; ".join(f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors())
        return JSONResponse({"error": said}, 422)
    if isinstance(error, Refused):
        return JSONResponse({"error": error.sentence()}, error.status)
    if isinstance(error, Moved):
        return JSONResponse({"error": f"{error}; use its new name"}, 404)
    return JSONResponse({"error": "There is no such drive call"}, 404)
