"""What the drive API answers; the ledger and the world for tests to read."""

from datetime import datetime

from adapters.loopback.core.record import EPOCH
from sweeper.model import Strict


class RepoMade(Strict):
    """The new repository; `head` is the sha of its default branch, empty if it has no commit."""

    repo: str
    id: int
    clone_url: str
    default_branch: str
    head: str


class UserMade(Strict):
    """`token` acts as this user, in REST and git."""

    login: str
    id: int
    token: str


class JobMade(Strict):
    """A job and its id."""

    id: int
    name: str


class RunMade(Strict):
    """`deliveries`: guids of the events sent, in order; workflow_run completed is the last."""

    run_id: int
    attempt: int
    sha: str
    jobs: list[JobMade]
    deliveries: list[str]


class Pushed(Strict):
    """The new head."""

    sha: str


class PullMade(Strict):
    """The pull request's number."""

    number: int


class ReviewMade(Strict):
    """The review's id."""

    review_id: int


class CommentMade(Strict):
    """The comment's id."""

    comment_id: int


class Dispatched(Strict):
    """The event's guid."""

    guid: str


class Clock(Strict):
    """GitHub's time now."""

    now: datetime


class Done(Strict):
    """Nothing more to say."""

    ok: bool = True


class LedgerCall(Strict):
    """One REST or git call. `status` 0: no answer was sent. `effect` and `key`: the write it made, if it made one."""

    n: int = 0
    time: datetime = EPOCH
    method: str
    path: str
    query: str = ""
    client: str = ""
    status: int
    effect: str | None = None
    key: str | None = None
    fault: str | None = None
    unknown: bool = False


class LedgerView(Strict):
    """All calls, how often each effect happened, and calls this GitHub does not know."""

    calls: list[LedgerCall]
    effects: dict[str, int]
    unknown: list[str]


class ReviewSeen(Strict):
    """A review in the world."""

    id: int
    user: str
    state: str
    commit_id: str
    body: str
    submitted_at: datetime | None


class CommentSeen(Strict):
    """A comment in the world."""

    id: int
    user: str
    body: str


class PullSeen(Strict):
    """A pull request in the world; `head` and `base` are branch names."""

    number: int
    state: str
    merged: bool
    draft: bool
    head: str
    base: str
    head_sha: str
    title: str
    body: str | None
    user: str
    labels: list[str]
    reviews: list[ReviewSeen]
    comments: list[CommentSeen]
    merge_sha: str | None
    merged_by: str | None
    queued: bool


class RunSeen(Strict):
    """The latest attempt of a run in the world."""

    run_id: int
    attempt: int
    status: str
    conclusion: str | None
    head_sha: str
    head_branch: str | None
    event: str
    workflow_path: str


class CheckSeen(Strict):
    """A check run in the world, of an app or of a job."""

    id: int
    name: str
    head_sha: str
    status: str
    conclusion: str | None
    external_id: str
    app: str


class StatusSeen(Strict):
    """A commit status in the world."""

    sha: str
    context: str
    state: str
    description: str | None


class RepoSeen(Strict):
    """A repository in the world."""

    name: str
    id: int
    default_branch: str
    branches: dict[str, str]
    pulls: list[PullSeen]
    runs: list[RunSeen]
    checks: list[CheckSeen]
    statuses: list[StatusSeen]


class DeliverySeen(Strict):
    """One try to deliver an event; `status_code` 0: none was received."""

    guid: str
    event: str
    status_code: int
    action: str | None
    state: str


class WorldView(Strict):
    """Everything, as it is now."""

    repos: list[RepoSeen]
    deliveries: list[DeliverySeen]
