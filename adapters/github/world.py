"""The facts about a proposal, re-read right now. Reads only."""

import itertools
from datetime import UTC, datetime
from urllib.parse import quote

from adapters.github.checks import checks_of
from adapters.github.client import Client, Repository
from adapters.github.replies import IssueReply, PermissionReply, PullReply, ReviewCommentReply, ReviewReply
from adapters.github.runs import is_green_later
from sweeper.errors import NotFound
from sweeper.model import Review, ReviewComment, ReviewState, World
from sweeper.policy.redaction import redact_text
from sweeper.policy.review import WRITERS
from sweeper.ports import PullRef

_DECISIVE = frozenset({ReviewState.APPROVED, ReviewState.CHANGES_REQUESTED, ReviewState.DISMISSED})
MOST_STRANGERS = 20
MOST_COMMENTS = 20
MOST_CHARS = 2000
_ROLES = frozenset({"none", "read", "triage", "write", "maintain", "admin"})


def read_pull(client: Client, pull: PullRef) -> tuple[Repository, PullReply]:
    """The pull request and its repository under its current name. NotFound if the name belongs to another one now."""
    found = client.repository(pull.run.repository).get(PullReply, f"pulls/{pull.number}")
    home = found.base.repo
    if home is None or home.id != pull.run.repository_id:
        raise NotFound(f"Look for pull request {pull.number} by hand: {pull.run.repository} is another repository now.")
    return client.repository(home.full_name), found


def read_world(client: Client, pull: PullRef) -> World:
    """About nine requests; each fact is as old as its request, none older than `read_at`."""
    read_at = datetime.now(UTC)
    there, found = read_pull(client, pull)
    merged = bool(found.merged)
    return World(
        read_at=read_at,
        state=found.state,
        merged=merged,
        draft=bool(found.draft),
        head_sha=found.head.sha,
        branch_sha=there.branch_head(pull.branch),
        base=found.base.ref,
        target_head=there.branch_head(found.base.ref),
        author=found.user.login if found.user else "",
        closed_by=None if merged or found.state == "open" else _closed_by(there, pull.number),
        merged_by=found.merged_by.login if found.merged_by else None,
        merge_sha=found.merge_commit_sha if merged else None,
        checks=checks_of(there, found.head.sha),
        reviews=_reviews(there, pull.number),
        run_green_later=is_green_later(there, pull.run),
    )


def _closed_by(there: Repository, number: int) -> str | None:
    issue = there.find(IssueReply, f"issues/{number}")
    return issue.closed_by.login if issue and issue.closed_by else None


def _reviews(there: Repository, number: int) -> tuple[Review, ...]:
    """In GitHub's order, oldest first. Rights are asked for users whose last decisive review stands.

    Of people without the right to write only the last few: however many strangers review, the history stays small.
    """
    reviews = [_review(there, number, reply) for reply in there.pages(ReviewReply, f"pulls/{number}/reviews")]
    last = {review.user: review.state for review in reviews if review.user and review.state in _DECISIVE}
    rights = {user: _permission(there, user) for user, state in last.items() if state is not ReviewState.DISMISSED}
    reviews = [
        review.model_copy(update={"permission": rights[review.user]}) if review.user in rights else review
        for review in reviews
    ]
    strangers = [review.id for review in reviews if review.permission not in WRITERS]
    left_out = set(strangers[:-MOST_STRANGERS])
    return tuple(review for review in reviews if review.id not in left_out)


def _review(there: Repository, number: int, reply: ReviewReply) -> Review:
    state = ReviewState(reply.state) if reply.state in ReviewState.__members__ else ReviewState.COMMENTED
    wants_changes = state is ReviewState.CHANGES_REQUESTED
    return Review(
        id=reply.id,
        user=reply.user.login if reply.user else None,
        user_type=reply.user.type if reply.user else "User",
        state=state,
        commit_id=reply.commit_id,
        submitted_at=reply.submitted_at,
        body=_words(reply.body),
        comments=_line_comments(there, number, reply.id) if wants_changes else (),
    )


def _line_comments(there: Repository, number: int, review_id: int) -> tuple[ReviewComment, ...]:
    replies = there.pages(ReviewCommentReply, f"pulls/{number}/reviews/{review_id}/comments")
    return tuple(
        ReviewComment(path=reply.path[:300], line=reply.line or reply.original_line, body=_words(reply.body))
        for reply in itertools.islice(replies, MOST_COMMENTS)
    )


def _words(body: str | None) -> str:
    """What a stranger wrote, without secrets and short enough for the history; an agent is told no more than that."""
    return redact_text(body or "")[:MOST_CHARS]


def _permission(there: Repository, user: str) -> str:
    """The right a user has now; a custom role counts as the standard right it builds on."""
    found = there.find(PermissionReply, f"collaborators/{quote(user, safe='')}/permission")
    if found is None:
        return "none"
    return next((right for right in (found.role_name, found.permission) if right in _ROLES), "none")
