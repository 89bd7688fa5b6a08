"""Pull requests: listing, opening, changing, merging."""

import hashlib
from typing import Literal

from fastapi import APIRouter
from fastapi.responses import Response

from adapters.loopback.acts import merging
from adapters.loopback.acts import pulls as acts
from adapters.loopback.core.diffs import FileDiff, diff
from adapters.loopback.core.lookup import label_of_head, pull_numbered
from adapters.loopback.core.pull_state import Pull
from adapters.loopback.core.refusals import Refused, not_found
from adapters.loopback.rest.common import At, Body, Read, Write, answer, nothing, paged
from adapters.loopback.shapes import people, pulls, repos
from adapters.loopback.shapes.view import Json

router = APIRouter(prefix="/repos/{owner}/{name}/pulls")


@router.get("")
async def list_pulls(at: Read) -> Response:
    """GET pulls?state=&head=owner:branch&base=&sort=&direction=; a head without owner is ignored, as GitHub does."""
    query = at.request.query_params
    state, head, base = query.get("state", "open"), query.get("head", ""), query.get("base")
    found = [
        pull
        for pull in at.repo.pulls.values()
        if state == "all" or pull.open == (state == "open")
        if ":" not in head or label_of_head(at.hub.state, pull).lower() == head.lower()
        if base is None or pull.base == base
    ]
    by_update = query.get("sort") == "updated"
    newest_first = query.get("direction", "desc") == "desc"
    found.sort(key=lambda pull: (pull.updated_at if by_update else pull.created_at, pull.number), reverse=newest_first)
    return paged(at, found, lambda pull: pulls.simple_pull(at.view, at.repo, pull))


class PullBody(Body):
    """A new pull request."""

    title: str = ""
    head: str
    base: str
    body: str | None = None
    draft: bool = False
    maintainer_can_modify: bool = False


@router.post("")
async def create_pull(at: Write, body: PullBody) -> Response:
    """POST pulls."""
    pull = await acts.open_pull(at.hub, at.repo, at.user, acts.Draft(**body.model_dump()))
    at.effect("pull.create", f"{at.name} {label_of_head(at.hub.state, pull)} -> {pull.base}")
    response = answer(pulls.pull(at.view, at.repo, pull), 201)
    response.headers["location"] = f"{at.view.api(at.repo)}/pulls/{pull.number}"
    return response


@router.get("/{number}")
async def get_pull(at: Read, number: int) -> Response:
    """GET pulls/{n}; a diff when the Accept header asks for one."""
    pull = pull_numbered(at.repo, number)
    if "diff" in at.request.headers.get("accept", ""):
        start = await _start(at, pull)
        shown = await at.bare.run("diff", "-M", "--no-ext-diff", "--no-textconv", start, pull.head_sha)
        return Response(shown.out, media_type="application/vnd.github.diff; charset=utf-8")
    return answer(pulls.pull(at.view, at.repo, pull))


async def _start(at: At, pull: Pull) -> str:
    return await at.bare.merge_base(pull.base_sha, pull.head_sha) or pull.base_sha


class PullEditBody(Body):
    """What changes; null stays as it is."""

    title: str | None = None
    body: str | None = None
    base: str | None = None
    state: Literal["open", "closed"] | None = None
    maintainer_can_modify: bool | None = None


@router.patch("/{number}")
async def update_pull(at: Write, number: int, body: PullEditBody) -> Response:
    """PATCH pulls/{n}."""
    pull = pull_numbered(at.repo, number)
    await change(at, pull, body)
    return answer(pulls.pull(at.view, at.repo, pull))


async def change(at: At, pull: Pull, body: PullEditBody) -> None:
    """Apply an edit, by pulls or by issues, and tell the ledger what really changed."""
    if await acts.edit_pull(at.hub, at.repo, pull, acts.Edit(body.title, body.body, body.base), at.user):
        digest = hashlib.sha256(body.model_dump_json().encode()).hexdigest()[:12]
        at.effect("pull.update", at.key(pull.number, f" {digest}"))
    if body.state == "closed" and acts.close_pull(at.hub, at.repo, pull, at.user):
        at.effect("pull.close", at.key(pull.number))
    if body.state == "open" and await acts.reopen_pull(at.hub, at.repo, pull, at.user):
        at.effect("pull.reopen", at.key(pull.number))


class MergeBody(Body):
    """How to merge. `sha`: the head the caller means."""

    sha: str | None = None
    merge_method: Literal["merge", "squash", "rebase"] = "merge"
    commit_title: str | None = None
    commit_message: str | None = None


@router.put("/{number}/merge")
async def merge(at: Write, number: int, body: MergeBody | None = None) -> Response:
    """PUT pulls/{n}/merge: 405 when it cannot be merged, 409 when the head is another than `sha`."""
    wanted = body or MergeBody()
    pull = pull_numbered(at.repo, number)
    if wanted.sha and wanted.sha != pull.head_sha and pull.open:
        raise Refused(409, "Head branch was modified. Review and try the merge again.")
    if wanted.merge_method == "rebase":
        raise Refused(405, "Rebase merges are not allowed on this repository.")
    merged = await merging.merge_pull(at.hub, at.repo, pull, wanted.merge_method, at.user)
    at.effect("pull.merge", at.key(number))
    return answer({"sha": merged, "merged": True, "message": "Pull Request successfully merged"})


@router.get("/{number}/merge")
async def is_merged(at: Read, number: int) -> Response:
    """GET pulls/{n}/merge: 204 or 404."""
    if pull_numbered(at.repo, number).merged_at is None:
        raise not_found()
    return nothing()


@router.get("/{number}/files")
async def list_files(at: Read, number: int) -> Response:
    """GET pulls/{n}/files."""
    pull = pull_numbered(at.repo, number)
    found = await diff(at.bare, await _start(at, pull), pull.head_sha)

    def shape(one: FileDiff) -> Json:
        return repos.changed_file(at.view, at.repo, pull.head_sha, one)

    return paged(at, found, shape)


@router.get("/{number}/commits")
async def list_commits(at: Read, number: int) -> Response:
    """GET pulls/{n}/commits, oldest first."""
    pull = pull_numbered(at.repo, number)
    found = await at.bare.log(f"{await _start(at, pull)}..{pull.head_sha}")
    return paged(at, found[::-1], lambda commit: repos.commit(at.view, at.repo, commit))


class ReviewersBody(Body):
    """People to ask."""

    reviewers: list[str] = []


@router.get("/{number}/requested_reviewers")
async def list_reviewers(at: Read, number: int) -> Response:
    """GET pulls/{n}/requested_reviewers."""
    asked = pull_numbered(at.repo, number).reviewers
    return answer({"users": [people.user(at.view, at.hub.state.users[one]) for one in asked], "teams": []})


@router.post("/{number}/requested_reviewers")
async def ask_reviewers(at: Write, number: int, body: ReviewersBody) -> Response:
    """POST pulls/{n}/requested_reviewers."""
    pull = pull_numbered(at.repo, number)
    new = acts.request_reviewers(at.hub, at.repo, pull, body.reviewers, at.user)
    if new:
        names = ",".join(sorted(user.login for user in new))
        at.effect("reviewers.request", at.key(number, f" {names}"))
    return answer(pulls.simple_pull(at.view, at.repo, pull), 201)
