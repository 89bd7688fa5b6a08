"""What every drive route stands on."""

from typing import Annotated

from fastapi import Depends, Request

from adapters.loopback.acts.people import known_or_new
from adapters.loopback.core.lookup import pull_numbered
from adapters.loopback.core.state import User
from adapters.loopback.drive.answers import Done
from adapters.loopback.hooks.events import OnPull
from adapters.loopback.hub import Hub

DONE = Done()


def _hub(request: Request) -> Hub:
    hub: Hub = request.app.state.hub
    return hub


Here = Annotated[Hub, Depends(_hub)]


def person(hub: Hub, login: str) -> User:
    """People nobody introduced exist too; they have no rights."""
    return known_or_new(hub.store, login)


def on_pull(hub: Hub, repo: str, number: int) -> OnPull:
    """A pull request by repository name and number. Raises Refused 404."""
    found = hub.repo(repo)
    return OnPull(found, pull_numbered(found, number))
