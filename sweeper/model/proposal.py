"""The proposal on GitHub, the effects that made it, and the world around it."""

from enum import StrEnum
from typing import Literal

from sweeper.model.base import Instant, Wire


class EffectState(StrEnum):
    """How a write came to be: by this call, by an earlier try of it, or by an earlier life of ours."""

    CREATED = "created"
    DEDUPLICATED = "deduplicated"
    ADOPTED = "adopted"
    SKIPPED = "skipped"


class Effect(Wire):
    """A write that is confirmed. `skipped`: looked, and there was nothing of ours to act on; `note` says why."""

    key: str
    name: str
    state: EffectState
    ref: str = ""
    note: str = ""


class CheckReport(Wire):
    """What our check run on a commit says. `external_id`: the sweep it stands for; `conclusion` None: it goes on."""

    sha: str
    external_id: str
    title: str
    summary: str
    conclusion: Literal["success", "neutral", "action_required"] | None = None


class Proposal(Wire):
    """Our pull request as we made it."""

    number: int
    url: str
    branch: str
    base: str
    head_sha: str
    patch_id: str


class ReviewState(StrEnum):
    """States as the REST face writes them."""

    APPROVED = "APPROVED"
    CHANGES_REQUESTED = "CHANGES_REQUESTED"
    COMMENTED = "COMMENTED"
    DISMISSED = "DISMISSED"
    PENDING = "PENDING"


class ReviewComment(Wire):
    """A line comment of a review."""

    path: str
    line: int | None = None
    body: str


class Review(Wire):
    """A human's word. `permission` is the reviewer's right on the repository, read just now."""

    id: int
    user: str | None
    user_type: str = "User"
    state: ReviewState
    commit_id: str | None = None
    submitted_at: Instant | None = None
    body: str = ""
    comments: tuple[ReviewComment, ...] = ()
    permission: str = "none"


class ChecksState(StrEnum):
    """CI of the proposal's head, all runs and statuses taken together."""

    NONE = "none"
    PENDING = "pending"
    GREEN = "green"
    RED = "red"


class World(Wire):
    """The facts about a proposal re-read right now. `branch_sha` None: our branch is gone."""

    read_at: Instant
    state: str
    merged: bool
    draft: bool = False
    head_sha: str
    branch_sha: str | None
    base: str
    target_head: str | None
    author: str
    closed_by: str | None = None
    merged_by: str | None = None
    merge_sha: str | None = None
    checks: ChecksState = ChecksState.NONE
    reviews: tuple[Review, ...] = ()
    run_green_later: bool = False
