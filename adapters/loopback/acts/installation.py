"""The app's installation is suspended, taken away, or given back."""

from typing import Literal

from adapters.loopback.core.refusals import Refused
from adapters.loopback.core.state import Repo
from adapters.loopback.hooks import events
from adapters.loopback.hub import Hub

Change = Literal["suspend", "unsuspend", "remove", "add"]
_ACTIONS = {"suspend": "suspend", "unsuspend": "unsuspend", "remove": "deleted", "add": "created"}


def change_installation(hub: Hub, repo: Repo | None, change: Change) -> None:
    """On one repository, or as a whole. Raises Refused 422 for suspending it on one repository."""
    owner = hub.state.users[repo.owner_id if repo else hub.app.owner_id]
    if repo is not None:
        if change in ("suspend", "unsuspend"):
            raise Refused(422, "Only the whole installation can be suspended; leave out repo")
        repo.installed = change == "add"
        events.installation_repositories(hub, repo, "added" if repo.installed else "removed", owner)
        return
    if change in ("suspend", "unsuspend"):
        hub.app.suspended = change == "suspend"
    else:
        hub.app.installed = change == "add"
        hub.app.tokens = []
    events.installation(hub, _ACTIONS[change], owner)
