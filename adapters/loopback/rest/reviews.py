"""Reviews of a pull request and their line comments."""

from typing import Literal

from fastapi import APIRouter
from fastapi.responses import Response

from adapters.loopback.acts import reviews as acts
from adapters.loopback.core.lookup import pull_numbered, review_of
from adapters.loopback.core.pull_state import Pull, Review, ReviewComment
from adapters.loopback.core.refusals import Refused
from adapters.loopback.hooks.events import OnPull
from adapters.loopback.rest.common import At, Body, Read, Write, answer, paged
from adapters.loopback.shapes import talk

router = APIRouter(prefix="/repos/{owner}/{name}/pulls/{number}")
_STATES = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED", None: "PENDING"}


def _seen_by(at: At, pull: Pull) -> list[Review]:
    """A pending review is shown to its author only."""
    return [review for review in pull.reviews if review.state != "PENDING" or review.user_id == at.user.id]


@router.get("/reviews")
async def list_reviews(at: Read, number: int) -> Response:
    """GET pulls/{n}/reviews, oldest first."""
    pull = pull_numbered(at.repo, number)
    return paged(at, _seen_by(at, pull), lambda review: talk.review(at.view, at.repo, pull, review))


class LineBody(Body):
    """A line comment."""

    path: str
    line: int | None = None
    position: int | None = None
    body: str


class ReviewBody(Body):
    """A review; without `event` it is pending."""

    body: str = ""
    event: Literal["APPROVE", "REQUEST_CHANGES", "COMMENT"] | None = None
    commit_id: str | None = None
    comments: list[LineBody] = []


@router.post("/reviews")
async def create_review(at: Read, number: int, body: ReviewBody) -> Response:
    """POST pulls/{n}/reviews: whoever can read may review."""
    pull = pull_numbered(at.repo, number)
    if body.commit_id and await at.bare.resolve(body.commit_id) is None:
        raise Refused(422, "Unprocessable Entity", ["The commit does not belong to the pull request"])
    lines = [acts.Line(one.path, one.line or one.position, one.body) for one in body.comments]
    opinion = acts.Opinion(_STATES[body.event], body.body, body.commit_id, comments=lines)
    review = acts.submit_review(at.hub, OnPull(at.repo, pull), at.user, opinion)
    at.effect("review.create", at.key(number, f" {at.user.login} {review.state} {review.commit_id}"))
    return answer(talk.review(at.view, at.repo, pull, review))


@router.get("/reviews/{review_id}")
async def get_review(at: Read, number: int, review_id: int) -> Response:
    """GET pulls/{n}/reviews/{id}."""
    pull = pull_numbered(at.repo, number)
    return answer(talk.review(at.view, at.repo, pull, review_of(pull, review_id)))


@router.get("/reviews/{review_id}/comments")
async def list_review_comments(at: Read, number: int, review_id: int) -> Response:
    """GET pulls/{n}/reviews/{id}/comments."""
    pull = pull_numbered(at.repo, number)
    review = review_of(pull, review_id)
    return _lines(at, pull, [(review, comment) for comment in review.comments])


@router.get("/comments")
async def list_line_comments(at: Read, number: int) -> Response:
    """GET pulls/{n}/comments: line comments of all reviews."""
    pull = pull_numbered(at.repo, number)
    return _lines(at, pull, [(review, comment) for review in _seen_by(at, pull) for comment in review.comments])


def _lines(at: At, pull: Pull, found: list[tuple[Review, ReviewComment]]) -> Response:
    return paged(at, found, lambda parts: talk.review_comment(at.view, at.repo, pull, parts))


class DismissBody(Body):
    """Why a review is dismissed."""

    message: str


@router.put("/reviews/{review_id}/dismissals")
async def dismiss(at: Write, number: int, review_id: int, body: DismissBody) -> Response:
    """PUT pulls/{n}/reviews/{id}/dismissals."""
    pull = pull_numbered(at.repo, number)
    review = review_of(pull, review_id)
    acts.dismiss_review(at.hub, OnPull(at.repo, pull), review, body.message, at.user)
    at.effect("review.dismiss", at.key(number, f" {review_id}"))
    return answer(talk.review(at.view, at.repo, pull, review))
