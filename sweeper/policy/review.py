"""Whose word counts. An approval grants permission for what the reviewer saw, and nothing else.

Rules: the latest decisive review per user (a comment does not change it), by a person with write permission read just
now, neither the author nor a bot; an approval only for the head that would be merged.
"""

from collections.abc import Sequence

from sweeper.model import Review, ReviewState, Wire

WRITERS = frozenset({"write", "maintain", "admin"})
_DECISIVE = frozenset({ReviewState.APPROVED, ReviewState.CHANGES_REQUESTED, ReviewState.DISMISSED})


class Judgement(Wire):
    """What the reviews amount to. `passed_over` says for each word that did not count why."""

    approval: Review | None = None
    request: Review | None = None
    passed_over: tuple[str, ...] = ()


def without_words(reviews: Sequence[Review]) -> tuple[Review, ...]:
    """Who said what about which head, without the texts: what a sweep remembers of the reviews it has seen."""
    return tuple(review.model_copy(update={"body": "", "comments": ()}) for review in reviews)


def latest_decisive(reviews: Sequence[Review]) -> tuple[Review, ...]:
    """Each user's last approval, request or dismissal, in the order given (GitHub lists chronologically)."""
    latest: dict[str, Review] = {}
    for review in reviews:
        if review.user is not None and review.state in _DECISIVE:
            latest.pop(review.user, None)
            latest[review.user] = review
    return tuple(latest.values())


def judge(reviews: Sequence[Review], head_sha: str, author: str, handled: Sequence[int] = ()) -> Judgement:
    """An unanswered request for changes outranks any approval; reviews in `handled` were answered already."""
    approval: Review | None = None
    request: Review | None = None
    passed_over: list[str] = []
    for review in latest_decisive(reviews):
        if review.state is ReviewState.DISMISSED or review.id in handled:
            continue
        if reason := _does_not_count(review, head_sha, author):
            passed_over.append(f"{review.user}: {reason}")
        elif review.state is ReviewState.CHANGES_REQUESTED:
            request = review
        else:
            approval = review
    return Judgement(approval=approval, request=request, passed_over=tuple(passed_over))


def _does_not_count(review: Review, head_sha: str, author: str) -> str | None:
    if review.user_type != "User":
        return "not a person"
    if review.user == author:
        return "the author cannot review"
    if review.permission not in WRITERS:
        return f"has {review.permission} permission, write is needed"
    if review.state is ReviewState.APPROVED and review.commit_id != head_sha:
        return "approved an older head"
    return None
