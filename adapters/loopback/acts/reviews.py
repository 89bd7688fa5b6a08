"""Reviews and the conversation of a pull request: comments, labels, reactions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from adapters.loopback.core.pull_state import Comment, Label, Review, ReviewComment
from adapters.loopback.core.refusals import Refused, not_found
from adapters.loopback.core.state import User
from adapters.loopback.hooks import events
from adapters.loopback.hooks.events import OnPull
from adapters.loopback.hub import Hub
from adapters.loopback.shapes.pulls import label
from adapters.loopback.shapes.talk import REACTIONS
from adapters.loopback.shapes.view import Json

_OWN = {"APPROVED": "Can not approve your own pull request", "CHANGES_REQUESTED":
        "Can not request changes on your own pull request"}  # fmt: skip


@dataclass(frozen=True)
class Line:
    """A line comment to be."""

    path: str
    line: int | None
    body: str


@dataclass(frozen=True)
class Opinion:
    """A review to be. Without `commit_id` it is for the head, without `submitted_at` it is of now."""

    state: str
    body: str = ""
    commit_id: str | None = None
    submitted_at: datetime | None = None
    comments: Sequence[Line] = ()


def submit_review(hub: Hub, on: OnPull, reviewer: User, opinion: Opinion) -> Review:
    """Raises Refused 422 for an author's word on his own pull request, and for an empty body where one is needed."""
    pull = on.pull
    if reviewer.id == pull.user_id and opinion.state in _OWN:
        raise Refused(422, "Unprocessable Entity", [_OWN[opinion.state]])
    needs_text = opinion.state in ("COMMENTED", "CHANGES_REQUESTED")
    if needs_text and not opinion.body.strip() and not opinion.comments:
        raise Refused(422, "Unprocessable Entity", ["Body can't be blank"])
    now = hub.store.now()
    lines = [
        ReviewComment(id=hub.store.new_id(), path=one.path, line=one.line, body=one.body, created_at=now)
        for one in opinion.comments
    ]
    pending = opinion.state == "PENDING"
    review = Review(
        id=hub.store.new_id(),
        user_id=reviewer.id,
        state=opinion.state,
        body=opinion.body,
        commit_id=opinion.commit_id or pull.head_sha,
        submitted_at=None if pending else opinion.submitted_at or now,
        comments=lines,
    )
    pull.reviews.append(review)
    if reviewer.id in pull.reviewers:
        pull.reviewers.remove(reviewer.id)
    pull.updated_at = now
    if not pending:
        events.pull_request_review(hub, on, review, "submitted", reviewer)
    return review


def dismiss_review(hub: Hub, on: OnPull, review: Review, message: str, actor: User) -> None:
    """Raises Refused 422 for a review that cannot be dismissed."""
    if not message.strip():
        raise Refused(422, "Unprocessable Entity", ["Message can't be blank"])
    if review.state not in ("APPROVED", "CHANGES_REQUESTED"):
        raise Refused(422, "Unprocessable Entity", ["Can not dismiss a commented pull request review"])
    review.state = "DISMISSED"
    on.pull.updated_at = hub.store.now()
    events.pull_request_review(hub, on, review, "dismissed", actor)


def add_comment(hub: Hub, on: OnPull, author: User, body: str) -> Comment:
    """Raises Refused 422 for an empty body and one above GitHub's 65,536 characters."""
    _check_body(body)
    now = hub.store.now()
    comment = Comment(
        id=hub.store.new_id(), number=on.pull.number, user_id=author.id, body=body, created_at=now, updated_at=now
    )
    on.repo.comments[comment.id] = comment
    on.pull.updated_at = now
    events.issue_comment(hub, on, comment, "created", author)
    return comment


def _check_body(body: str) -> None:
    if not body.strip():
        raise Refused(
            422, "Validation Failed", [{"resource": "IssueComment", "code": "missing_field", "field": "body"}]
        )
    if len(body) > 65_536:
        message = "body is too long (maximum is 65536 characters)"
        raise Refused(422, "Validation Failed", [{"resource": "IssueComment", "code": "unprocessable",
                                                  "field": "data", "message": message}])  # fmt: skip


def edit_comment(hub: Hub, on: OnPull, comment: Comment, body: str, actor: User) -> bool:
    """Replace the text; False if it says so already."""
    _check_body(body)
    if comment.body == body:
        return False
    former, comment.body, comment.updated_at = comment.body, body, hub.store.now()
    events.issue_comment_edited(hub, on, comment, former, actor)
    return True


def delete_comment(hub: Hub, on: OnPull, comment: Comment, actor: User) -> None:
    """Take it away."""
    events.issue_comment(hub, on, comment, "deleted", actor)
    del on.repo.comments[comment.id]


def add_labels(hub: Hub, on: OnPull, names: Sequence[str], actor: User) -> list[str]:
    """Put labels on, making them if need be; the answer is which are new on the pull request."""
    new = [name for name in dict.fromkeys(names) if name not in on.pull.labels]
    for name in new:
        on.repo.labels.setdefault(name, Label(id=hub.store.new_id(), name=name))
        on.pull.labels.append(name)
        _tell_label(hub, on, name, "labeled", actor)
    return new


def remove_label(hub: Hub, on: OnPull, name: str, actor: User) -> None:
    """Take a label off. Raises Refused 404 if it is not there."""
    if name not in on.pull.labels:
        raise Refused(404, "Label does not exist")
    on.pull.labels.remove(name)
    _tell_label(hub, on, name, "unlabeled", actor)


def _tell_label(hub: Hub, on: OnPull, name: str, action: str, actor: User) -> None:
    on.pull.updated_at = hub.store.now()
    extra: Json = {"label": label(hub.view(), on.repo, on.repo.labels[name])}
    events.pull_request(hub, on, action, actor, extra)


def react(comment: Comment, content: str, actor: User) -> bool:
    """Add a reaction; False if this user gave it already."""
    if content not in REACTIONS:
        raise not_found()
    people = comment.reactions.setdefault(content, [])
    if actor.id in people:
        return False
    people.append(actor.id)
    return True
