"""The state document: everything this GitHub knows that is not in a bare repository.

Refs, shas, diffs and merges live in git. A pull's shas are what GitHub froze or computed at the last push; they
are brought up to date by core/pushes.py. Dates are UTC. A new field needs a default, so that an old directory
still opens.
"""

from datetime import UTC, datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

EPOCH = datetime.fromtimestamp(0, tz=UTC)


class Record(BaseModel):
    """A mutable part of the document. Unknown fields are dropped, so a newer directory opens too."""

    model_config = ConfigDict(extra="ignore")


class Permission(StrEnum):
    """Rights on a repository, as the collaborator endpoint names roles."""

    NONE = "none"
    READ = "read"
    TRIAGE = "triage"
    WRITE = "write"
    MAINTAIN = "maintain"
    ADMIN = "admin"


class User(Record):
    """A person, an organisation or a bot. `token` acts as this user; `permission` holds for all repositories."""

    id: int
    login: str
    type: str = "User"
    token: str
    permission: Permission = Permission.NONE


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


class Annotation(Record):
    """A check-run annotation: the only place of time-limit and lost-runner reasons."""

    path: str = ".github"
    start_line: int = 1
    end_line: int = 1
    start_column: int | None = None
    end_column: int | None = None
    annotation_level: str = "failure"
    title: str | None = None
    message: str = ""
    raw_details: str | None = None


class Step(Record):
    """A step of a job."""

    number: int
    name: str
    conclusion: str | None


class Job(Record):
    """A job of a run attempt; also the check run of the same id. Its log is a file beside the document."""

    id: int
    name: str
    conclusion: str | None
    steps: list[Step] = []
    log_status: str = "empty"
    annotations: list[Annotation] = []
    created_at: datetime
    completed_at: datetime | None = None


class Attempt(Record):
    """One attempt of a run."""

    number: int
    conclusion: str | None
    actor_id: int
    started_at: datetime
    updated_at: datetime
    jobs: list[Job] = []


class HeadCommit(Record):
    """What a run shows of the commit it is for."""

    tree: str
    message: str
    date: str
    name: str
    email: str


class Run(Record):
    """A workflow run and all its attempts, oldest first."""

    id: int
    number: int
    check_suite_id: int
    workflow_path: str
    event: str
    head_branch: str | None
    head_sha: str
    head_repo_id: int
    head_commit: HeadCommit
    pulls: list[int] = []
    actor_id: int
    created_at: datetime
    attempts: list[Attempt] = []

    @property
    def latest(self) -> Attempt:
        """The newest attempt."""
        return self.attempts[-1]


class Workflow(Record):
    """A workflow file."""

    id: int
    path: str
    name: str
    created_at: datetime


class CheckRun(Record):
    """A check run an app made through the API."""

    id: int
    suite_id: int
    name: str
    head_sha: str
    external_id: str = ""
    details_url: str | None = None
    status: str = "queued"
    conclusion: str | None = None
    started_at: datetime
    completed_at: datetime | None = None
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: list[Annotation] = []


class Status(Record):
    """A commit status; the newest of a context counts."""

    id: int
    sha: str
    state: str
    context: str
    description: str | None
    target_url: str | None
    user_id: int
    created_at: datetime


class Protection(Record):
    """Rules of a branch."""

    required_checks: list[str] = []
    required_reviews: int = 0
    strict: bool = False
    queue: bool = False


class Repo(Record):
    """A repository. The bare repository lies under `git/<id>.git`, so a rename moves nothing."""

    id: int
    owner_id: int
    name: str
    default_branch: str
    created_at: datetime
    pushed_at: datetime
    former_names: list[str] = []
    fork_of: int | None = None
    installed: bool = True
    permissions: dict[int, Permission] = {}
    labels: dict[str, Label] = {}
    next_number: int = 1
    pulls: dict[int, Pull] = {}
    comments: dict[int, Comment] = {}
    workflows: dict[str, Workflow] = {}
    runs: dict[int, Run] = {}
    checks: dict[int, CheckRun] = {}
    statuses: list[Status] = []
    protection: dict[str, Protection] = {}


class DeliveryState(StrEnum):
    """Where a delivery is. Everything but WAITING and HELD is an end."""

    WAITING = "waiting"
    HELD = "held"
    SENT = "sent"
    DROPPED = "dropped"
    UNDELIVERABLE = "undeliverable"


class Delivery(Record):
    """One try to deliver an event. `guid` is the event's; `body_of` names the stored body."""

    id: int
    guid: str
    body_of: str
    event: str
    action: str | None
    repository_id: int | None
    state: DeliveryState
    bad_signature: bool = False
    reorder: bool = False
    redelivery: bool = False
    created_at: datetime
    delivered_at: datetime | None = None
    duration: float = 0.0
    status_code: int = 0
    status: str = ""
    response: str = ""


class HookMode(StrEnum):
    """How deliveries are treated from now on. `release` sends what was held and goes back to normal."""

    NORMAL = "normal"
    HOLD = "hold"
    RELEASE = "release"
    DUPLICATE = "duplicate"
    DUPLICATE_NEW_GUID = "duplicate_new_guid"
    REORDER = "reorder"
    DROP = "drop"
    BAD_SIGNATURE = "bad_signature"


class InstallationToken(Record):
    """A token of the installation; `repositories` None means all it can see."""

    token: str
    expires_at: datetime
    repositories: list[int] | None = None


class App(Record):
    """The one app, its installation and its tokens."""

    id: int
    slug: str
    installation_id: int
    owner_id: int
    bot_id: int
    webhook_secret: str
    suspended: bool = False
    installed: bool = True
    created_at: datetime
    tokens: list[InstallationToken] = []


class RefUpdate(Record):
    """A ref change that was decided and may not have reached git yet; done again at the next start."""

    repo_id: int
    ref: str
    old: str
    new: str


class State(Record):
    """The whole document."""

    next_id: int = 1001
    next_run_id: int
    clock_offset_s: float = 0.0
    hook_mode: HookMode = HookMode.NORMAL
    app: App | None = None
    users: dict[int, User] = Field(default_factory=dict)
    repos: dict[int, Repo] = Field(default_factory=dict)
    deliveries: list[Delivery] = Field(default_factory=list)
    pending_refs: list[RefUpdate] = Field(default_factory=list)
