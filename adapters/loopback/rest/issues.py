"""The issue side of a pull request: comments, labels, reactions."""

import hashlib

from fastapi import APIRouter
from fastapi.responses import Response

from adapters.loopback.acts import reviews as acts
from adapters.loopback.core.lookup import comment_of, comments_on, may, pull_numbered
from adapters.loopback.core.pull_state import Comment
from adapters.loopback.core.refusals import Refused
from adapters.loopback.core.state import Permission
from adapters.loopback.hooks.events import OnPull
from adapters.loopback.rest.common import At, Body, Read, Write, answer, nothing, paged
from adapters.loopback.rest.pulls import PullEditBody, change
from adapters.loopback.shapes import people, pulls, talk
from adapters.loopback.shapes.view import iso, node_id

router = APIRouter(prefix="/repos/{owner}/{name}/issues")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


class CommentBody(Body):
    """A comment's text."""

    body: str


@router.get("/comments/{comment_id}")
async def get_comment(at: Read, comment_id: int) -> Response:
    """GET issues/comments/{id}."""
    return answer(talk.comment(at.view, at.repo, comment_of(at.repo, comment_id)))


def _own(at: At, comment_id: int) -> tuple[OnPull, Comment]:
    """A comment the caller may change: its author, or somebody who may push."""
    comment = comment_of(at.repo, comment_id)
    if comment.user_id != at.user.id and not may(at.hub.state, at.repo, at.user, Permission.WRITE):
        raise Refused(403, "Must have admin rights to Repository.")
    return OnPull(at.repo, at.repo.pulls[comment.number]), comment


@router.patch("/comments/{comment_id}")
async def update_comment(at: Read, comment_id: int, body: CommentBody) -> Response:
    """PATCH issues/comments/{id}."""
    on, comment = _own(at, comment_id)
    if acts.edit_comment(at.hub, on, comment, body.body, at.user):
        at.effect("comment.update", at.key(on.pull.number, f"/{comment_id} {_digest(body.body)}"))
    return answer(talk.comment(at.view, at.repo, comment))


@router.delete("/comments/{comment_id}")
async def delete_comment(at: Read, comment_id: int) -> Response:
    """DELETE issues/comments/{id}."""
    on, comment = _own(at, comment_id)
    acts.delete_comment(at.hub, on, comment, at.user)
    at.effect("comment.delete", at.key(on.pull.number, f"/{comment_id}"))
    return nothing()


class ReactionBody(Body):
    """A reaction."""

    content: str


@router.post("/comments/{comment_id}/reactions")
async def react(at: Read, comment_id: int, body: ReactionBody) -> Response:
    """POST issues/comments/{id}/reactions: 201 when new, 200 when given already."""
    comment = comment_of(at.repo, comment_id)
    new = acts.react(comment, body.content, at.user)
    if new:
        at.effect("reaction.create", at.key(comment.number, f"/{comment_id} {body.content} {at.user.login}"))
    shape: dict[str, object] = {"id": comment_id, "node_id": node_id("REA", comment_id), "content": body.content}
    shape |= {"user": people.user(at.view, at.user), "created_at": iso(at.hub.store.now())}
    return answer(shape, 201 if new else 200)


@router.get("/{number}")
async def get_issue(at: Read, number: int) -> Response:
    """GET issues/{n}."""
    return answer(pulls.issue(at.view, at.repo, pull_numbered(at.repo, number)))


class IssueEditBody(PullEditBody):
    """An edit by the issue face; labels replace those there are."""

    labels: list[str] | None = None


@router.patch("/{number}")
async def update_issue(at: Write, number: int, body: IssueEditBody) -> Response:
    """PATCH issues/{n}."""
    pull = pull_numbered(at.repo, number)
    await change(at, pull, body.model_copy(update={"base": None}))
    if body.labels is not None:
        _replace_labels(at, number, body.labels)
    return answer(pulls.issue(at.view, at.repo, pull))


@router.get("/{number}/comments")
async def list_comments(at: Read, number: int) -> Response:
    """GET issues/{n}/comments, oldest first."""
    pull_numbered(at.repo, number)
    return paged(at, comments_on(at.repo, number), lambda comment: talk.comment(at.view, at.repo, comment))


@router.post("/{number}/comments")
async def create_comment(at: Read, number: int, body: CommentBody) -> Response:
    """POST issues/{n}/comments: whoever can read may comment."""
    on = OnPull(at.repo, pull_numbered(at.repo, number))
    comment = acts.add_comment(at.hub, on, at.user, body.body)
    at.effect("comment.create", at.key(number, f" {_digest(body.body)}"))
    response = answer(talk.comment(at.view, at.repo, comment), 201)
    response.headers["location"] = f"{at.view.api(at.repo)}/issues/comments/{comment.id}"
    return response


@router.get("/{number}/labels")
async def list_labels(at: Read, number: int) -> Response:
    """GET issues/{n}/labels."""
    names = pull_numbered(at.repo, number).labels
    return paged(at, names, lambda name: pulls.label(at.view, at.repo, at.repo.labels[name]))


class LabelsBody(Body):
    """Labels by name."""

    labels: list[str]


@router.post("/{number}/labels")
async def add_labels(at: Write, number: int, body: LabelsBody | list[str]) -> Response:
    """POST issues/{n}/labels: an object, or (as PyGithub sends) a bare list."""
    names = body if isinstance(body, list) else body.labels
    _add(at, number, names)
    return await list_labels(at, number)


def _add(at: At, number: int, names: list[str]) -> None:
    on = OnPull(at.repo, pull_numbered(at.repo, number))
    new = acts.add_labels(at.hub, on, names, at.user)
    if new:
        at.effect("label.add", at.key(number, f" {','.join(sorted(new))}"))


def _remove(at: At, number: int, name: str) -> None:
    acts.remove_label(at.hub, OnPull(at.repo, pull_numbered(at.repo, number)), name, at.user)
    at.effect("label.remove", at.key(number, f" {name}"))


def _replace_labels(at: At, number: int, names: list[str]) -> None:
    for name in [one for one in pull_numbered(at.repo, number).labels if one not in names]:
        _remove(at, number, name)
    _add(at, number, names)


@router.put("/{number}/labels")
async def set_labels(at: Write, number: int, body: LabelsBody | list[str]) -> Response:
    """PUT issues/{n}/labels: exactly these."""
    _replace_labels(at, number, body if isinstance(body, list) else body.labels)
    return await list_labels(at, number)


@router.delete("/{number}/labels/{label:path}")
async def remove_label(at: Write, number: int, label: str) -> Response:
    """DELETE issues/{n}/labels/{name}: 404 when it is not there."""
    _remove(at, number, label)
    return await list_labels(at, number)
