"""Pull requests and what people say on them, as the state document keeps them."""

from datetime import datetime

from adapters.loopback.core.record import Record


class ReviewComment(Record):
    """A line comment of a review."""

    id: int
    path: str
    line: int | None
    body: str
    created_at: datetime


class Review(Record):
    """A review; `state` as REST writes it (APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED, PENDING)."""

    id: int
    user_id: int
    state: str
    body: str
    commit_id: str
    submitted_at: datetime | None
    comments: list[ReviewComment] = []


class Comment(Record):
    """An issue comment on a pull request."""

    id: int
    number: int
    user_id: int
    body: str
    created_at: datetime
    updated_at: datetime
    reactions: dict[str, list[int]] = {}


class DiffSize(Record):
    """How much a pull request changes."""

    commits: int = 0
    additions: int = 0
    deletions: int = 0
    changed_files: int = 0


class Pull(Record):
    """A pull request. `head_sha` follows the branch while it is open; `merge_sha` is the test merge, then the merge."""

    id: int
    number: int
    title: str
    body: str | None
    user_id: int
    head_repo_id: int
    head: str
    head_sha: str
    base: str
    base_sha: str
    draft: bool = False
    open: bool = True
    queued: bool = False
    mergeable: bool = False
    merge_sha: str | None = None
    size: DiffSize = DiffSize()
    labels: list[str] = []
    reviewers: list[int] = []
    maintainer_can_modify: bool = False
    created_at: datetime
    updated_at: datetime
    closed_at: datetime | None = None
    merged_at: datetime | None = None
    merged_by: int | None = None
    closed_by: int | None = None
    reviews: list[Review] = []


class Label(Record):
    """A label of a repository."""

    id: int
    name: str
    color: str = "ededed"
    description: str | None = None
