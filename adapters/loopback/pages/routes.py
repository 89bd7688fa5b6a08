"""Pages."""

from starlette.applications import Starlette
from starlette.types import ASGIApp

from adapters.loopback.hub import Hub


def pages_app(hub: Hub) -> ASGIApp:
    """The pages of a hub."""
    app = Starlette()
    app.state.hub = hub
    return app
