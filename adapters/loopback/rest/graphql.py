"""POST /graphql, for the three mutations that REST does not have. Everything else is unknown."""

import re
from collections.abc import Callable

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import JsonValue

from adapters.loopback.acts import pulls, queue
from adapters.loopback.core.lookup import may
from adapters.loopback.core.pull_state import Pull
from adapters.loopback.core.refusals import Refused, not_found
from adapters.loopback.core.state import Permission, Repo
from adapters.loopback.recorder import NOTES
from adapters.loopback.rest.common import AnyCall, Asked, Body, answer
from adapters.loopback.shapes.view import Json, node_id

router = APIRouter()
_INLINE_ID = re.compile(r'pullRequestId\s*:\s*"([^"]+)"')


class GraphBody(Body):
    """A query and its variables."""

    query: str
    variables: dict[str, JsonValue] | None = None


def _ready(call: Asked, repo: Repo, pull: Pull) -> str | None:
    return "pull.ready" if pulls.set_draft(call.hub, repo, pull, False, call.user) else None


def _draft(call: Asked, repo: Repo, pull: Pull) -> str | None:
    return "pull.draft" if pulls.set_draft(call.hub, repo, pull, True, call.user) else None


def _enqueue(call: Asked, repo: Repo, pull: Pull) -> str | None:
    queue.enqueue(call.hub, repo, pull, call.user)
    return "pull.enqueue"


_MUTATIONS: dict[str, Callable[[Asked, Repo, Pull], str | None]] = {
    "markPullRequestReadyForReview": _ready,
    "convertPullRequestToDraft": _draft,
    "enqueuePullRequest": _enqueue,
}


@router.post("/graphql")
@router.post("/api/graphql")
async def graphql(call: AnyCall, body: GraphBody) -> Response:
    """One of the three mutations; errors come with status 200, as GraphQL has them."""
    name = next((one for one in _MUTATIONS if re.search(rf"\b{one}\s*\(", body.query)), None)
    if name is None:
        call.request.scope[NOTES].unknown = True
        raise not_found()
    try:
        repo, pull = _find(call, _pull_id(body))
        effect = _MUTATIONS[name](call, repo, pull)
    except Refused as refused:
        error: Json = {"type": "UNPROCESSABLE", "path": [name], "message": refused.sentence()}
        return answer({"data": {name: None}, "errors": [error]})
    if effect:
        call.effect(effect, f"{call.hub.repo_name(repo)}#{pull.number}")
    return answer({"data": {name: _payload(call, repo, pull)}})


def _pull_id(body: GraphBody) -> str:
    inline = _INLINE_ID.search(body.query)
    if inline:
        return inline[1]
    for value in (body.variables or {}).values():
        nested = value.get("pullRequestId") if isinstance(value, dict) else value
        if isinstance(nested, str) and nested.startswith("PR_"):
            return nested
    raise Refused(422, "Variable pullRequestId was not given")


def _find(call: Asked, wanted: str) -> tuple[Repo, Pull]:
    for repo in call.hub.state.repos.values():
        for pull in repo.pulls.values():
            if node_id("PR", pull.id) == wanted and may(call.hub.state, repo, call.user, Permission.WRITE):
                return repo, pull
    raise Refused(404, f"Could not resolve to a node with the global id of '{wanted}'")


def _payload(call: Asked, repo: Repo, pull: Pull) -> Json:
    shape: Json = {
        "id": node_id("PR", pull.id),
        "number": pull.number,
        "isDraft": pull.draft,
        "isInMergeQueue": pull.queued,
        "state": "OPEN" if pull.open else "CLOSED",
        "url": f"{call.view.html(repo)}/pull/{pull.number}",
        "headRefOid": pull.head_sha,
    }
    entry: Json = {"id": node_id("MQE", pull.id), "state": "QUEUED", "position": 1}
    return {"clientMutationId": None, "pullRequest": shape, "mergeQueueEntry": entry if pull.queued else None}
