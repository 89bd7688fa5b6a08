"""What the forms of a pull request page do, as the chosen person and with that person's rights."""

from typing import Literal

from adapters.loopback.acts import merging, pulls, reviews
from adapters.loopback.core.lookup import may, user_named
from adapters.loopback.core.refusals import Refused
from adapters.loopback.core.state import Permission, User
from adapters.loopback.hooks.events import OnPull
from adapters.loopback.hub import Hub
from sweeper.model import Strict

Action = Literal["approve", "request_changes", "comment", "merge", "close", "reopen"]
_STATES = {"approve": "APPROVED", "request_changes": "CHANGES_REQUESTED"}


class FilledForm(Strict):
    """The form as it was sent."""

    user: str = ""
    action: Action
    text: str = ""


async def perform(hub: Hub, on: OnPull, filled: FilledForm) -> None:
    """Do it. Raises Refused in GitHub's words, and for a person without the right."""
    actor = _actor(hub, on, filled.user)
    if filled.action in _STATES:
        reviews.submit_review(hub, on, actor, reviews.Opinion(_STATES[filled.action], filled.text))
        return
    if filled.action != "comment":
        await _change(hub, on, filled.action, actor)
    if filled.text.strip() or filled.action == "comment":
        reviews.add_comment(hub, on, actor, filled.text)


def _actor(hub: Hub, on: OnPull, login: str) -> User:
    user = user_named(hub.state, login)
    if user is None or not may(hub.state, on.repo, user, Permission.READ):
        raise Refused(422, "Choose who you are")
    return user


async def _change(hub: Hub, on: OnPull, action: Action, actor: User) -> None:
    own = actor.id == on.pull.user_id and action != "merge"
    if not own and not may(hub.state, on.repo, actor, Permission.WRITE):
        raise Refused(403, f"{actor.login} has no write access to this repository")
    if action == "merge":
        await merging.merge_pull(hub, on.repo, on.pull, "merge", actor)
    elif action == "close":
        pulls.close_pull(hub, on.repo, on.pull, actor)
    else:
        await pulls.reopen_pull(hub, on.repo, on.pull, actor)
