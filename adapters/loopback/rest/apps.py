"""The app, its installation, its deliveries; the caller's own account; limits."""

import json

from fastapi import APIRouter, Request
from fastapi.responses import Response

from adapters.loopback.auth import Kind, new_installation_token
from adapters.loopback.core.lookup import may, permission_of, user_named
from adapters.loopback.core.refusals import Refused, not_found
from adapters.loopback.core.state import Delivery, Permission, Repo
from adapters.loopback.rest.common import AnyCall, AppCall, Asked, Body, Listing, answer, paged
from adapters.loopback.shapes import people, repos
from adapters.loopback.shapes.view import Json, iso

router = APIRouter()
LIMIT = 5000


@router.get("/user")
async def get_user(call: AnyCall) -> Response:
    """GET /user: an installation has no user."""
    if call.caller.kind is not Kind.USER:
        raise Refused(403, "Resource not accessible by integration")
    return answer(people.account(call.view, call.user))


@router.get("/user/repos")
async def list_own_repositories(call: AnyCall) -> Response:
    """GET /user/repos: what the user may see; `permissions` says what else. An installation has no user."""
    if call.caller.kind is not Kind.USER:
        raise Refused(403, "Resource not accessible by integration")
    is_bot = call.user.id == call.hub.app.bot_id

    def visible(repo: Repo) -> bool:
        outside = is_bot and not (repo.installed and call.hub.app.installed)
        return not outside and permission_of(call.hub.state, repo, call.user) is not Permission.NONE

    found = [repo for repo in call.hub.state.repos.values() if visible(repo)]
    return paged(call, found, lambda repo: _with_rights(call, repo))


def _with_rights(call: Asked, repo: Repo) -> Json:
    may_push = may(call.hub.state, repo, call.user, Permission.WRITE)
    rights: Json = {"admin": False, "maintain": False, "push": may_push, "triage": may_push, "pull": True}
    return repos.repo(call.view, repo) | {"permissions": rights}


@router.get("/users/{login}")
async def get_named_user(call: AnyCall, login: str) -> Response:
    """GET /users/{login}."""
    user = user_named(call.hub.state, login)
    if user is None:
        raise not_found()
    return answer(people.account(call.view, user))


@router.get("/rate_limit")
async def rate_limit(request: Request) -> Response:
    """GET /rate_limit."""
    reset = int(request.app.state.hub.store.now().timestamp()) + 3600
    core: Json = {"limit": LIMIT, "used": 0, "remaining": LIMIT, "reset": reset}
    return answer({"resources": {"core": core, "search": core}, "rate": core})


@router.get("/app")
async def get_app(call: AppCall) -> Response:
    """GET /app."""
    return answer(people.app(call.view, call.hub.app))


@router.get("/app/installations")
async def list_installations(call: AppCall) -> Response:
    """GET /app/installations."""
    found = [call.hub.app] if call.hub.app.installed else []
    return paged(call, found, lambda app: people.installation(call.view, app, app.owner_id))


@router.get("/app/installations/{installation_id}")
async def get_installation(call: AppCall, installation_id: int) -> Response:
    """GET /app/installations/{id}."""
    _refuse_unknown(call, installation_id)
    return answer(people.installation(call.view, call.hub.app, call.hub.app.owner_id))


@router.get("/repos/{owner}/{name}/installation")
async def installation_of(call: AppCall, owner: str, name: str) -> Response:
    """GET /repos/{owner}/{repo}/installation: 404 where the app is not installed."""
    repo = call.hub.repo(f"{owner}/{name}")
    if not (call.hub.app.installed and repo.installed):
        raise not_found()
    return answer(people.installation(call.view, call.hub.app, repo.owner_id))


def _refuse_unknown(call: Asked, installation_id: int) -> None:
    if installation_id != call.hub.app.installation_id or not call.hub.app.installed:
        raise not_found()


class TokenBody(Body):
    """What a token is limited to."""

    repositories: list[str] | None = None
    repository_ids: list[int] | None = None
    permissions: dict[str, str] | None = None


@router.post("/app/installations/{installation_id}/access_tokens")
async def create_token(call: AppCall, installation_id: int, body: TokenBody | None = None) -> Response:
    """POST access_tokens: good for an hour."""
    _refuse_unknown(call, installation_id)
    if call.hub.app.suspended:
        raise Refused(403, "This installation has been suspended")
    limited = _limits(call, body or TokenBody())
    token = new_installation_token(call.hub, limited)
    shape: Json = {"token": token.token, "expires_at": iso(token.expires_at), "permissions": people.PERMISSIONS}
    if limited is None:
        return answer(shape | {"repository_selection": "all"}, 201)
    chosen = [repos.repo(call.view, call.hub.state.repos[one]) for one in limited]
    return answer(shape | {"repository_selection": "selected", "repositories": chosen}, 201)


def _limits(call: Asked, body: TokenBody) -> list[int] | None:
    if body.repositories is None and body.repository_ids is None:
        return None
    wanted = list(body.repository_ids or [])
    for name in body.repositories or []:
        wanted += [repo.id for repo in call.hub.state.repos.values() if repo.name == name] or [0]
    if any(one not in call.hub.state.repos or not call.hub.state.repos[one].installed for one in wanted):
        raise Refused(422, "There is at least one repository that does not exist or is not accessible to the "
                           "parent installation.")  # fmt: skip
    return wanted


@router.get("/installation/repositories")
async def installation_repositories(call: AnyCall) -> Response:
    """GET /installation/repositories."""
    limited = call.caller.repositories

    def visible(repo: Repo) -> bool:
        return repo.installed and (limited is None or repo.id in limited)

    found = [repo for repo in call.hub.state.repos.values() if visible(repo)]
    return paged(call, found, lambda repo: repos.repo(call.view, repo), Listing(under="repositories"))


@router.get("/app/hook/deliveries")
async def list_deliveries(call: AppCall) -> Response:
    """GET /app/hook/deliveries: newest first, of the last three days, paged by cursor."""
    query = call.request.query_params
    since = call.hub.store.now().timestamp() - 3 * 86_400
    found = [one for one in reversed(call.hub.state.deliveries) if one.delivered_at is not None]
    found = [one for one in found if one.created_at.timestamp() >= since]
    if query.get("status") in ("success", "failure"):
        found = [one for one in found if (200 <= one.status_code < 400) == (query["status"] == "success")]
    per_page = min(int(query.get("per_page", "30")), 100)
    start = next((at for at, one in enumerate(found) if str(one.id) == query.get("cursor")), 0)
    response = answer([_delivery(call, one) for one in found[start : start + per_page]])
    if start + per_page < len(found):
        following = f"{call.view.urls.base}/app/hook/deliveries?per_page={per_page}&cursor={found[start + per_page].id}"
        response.headers["link"] = f'<{following}>; rel="next"'
    return response


def _delivery(call: Asked, found: Delivery) -> Json:
    return {
        "id": found.id,
        "guid": found.guid,
        "delivered_at": iso(found.delivered_at),
        "redelivery": found.redelivery,
        "duration": round(found.duration, 2),
        "status": found.status,
        "status_code": found.status_code,
        "event": found.event,
        "action": found.action,
        "installation_id": call.hub.app.installation_id,
        "repository_id": found.repository_id,
        "throttled_at": None,
    }


def _numbered(call: Asked, delivery_id: int) -> Delivery:
    for one in call.hub.state.deliveries:
        if one.id == delivery_id:
            return one
    raise not_found()


@router.get("/app/hook/deliveries/{delivery_id}")
async def get_delivery(call: AppCall, delivery_id: int) -> Response:
    """GET /app/hook/deliveries/{id}: with the payload."""
    found = _numbered(call, delivery_id)
    payload = json.loads(call.hub.store.body_file(found.body_of).read_text())
    headers = {"X-GitHub-Delivery": found.guid, "X-GitHub-Event": found.event}
    return answer(
        _delivery(call, found)
        | {
            "url": call.hub.outbox.hook,
            "request": {"headers": headers, "payload": payload},
            "response": {"headers": {}, "payload": found.response},
        }
    )


@router.post("/app/hook/deliveries/{delivery_id}/attempts")
async def redeliver(call: AppCall, delivery_id: int) -> Response:
    """POST /app/hook/deliveries/{id}/attempts: 202, same guid."""
    call.hub.outbox.redeliver(_numbered(call, delivery_id).guid)
    return answer({}, 202)


@router.get("/")
async def root(request: Request) -> Response:
    """GET /: where a browser goes on."""
    if "text/html" in request.headers.get("accept", ""):
        return Response(status_code=302, headers={"location": "/web"})
    return answer({"current_user_url": f"{request.base_url}user"})
