"""What the drive API is asked. An unknown field is a mistake and is refused."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, JsonValue

from adapters.loopback.core.run_state import Annotation
from adapters.loopback.core.state import HookMode, Permission
from sweeper.model import Strict
from sweeper.model.base import Instant

RepoName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$")]
Login = Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[A-Za-z0-9][A-Za-z0-9\[\]._-]*$")]
Conclusion = Literal[
    "success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required", "stale", "startup_failure"
]
FaultKind = Literal[
    "500", "502", "503", "405", "422", "429", "403_secondary", "403_resource",
    "reset", "truncate", "slow", "hold", "stale_read",
]  # fmt: skip


class NewRepo(Strict):
    """`path`: a repository to clone. `files`: the first commit (or one more on top of the clone)."""

    name: RepoName
    path: str | None = None
    files: dict[str, str] = {}
    default_branch: str | None = None


class Rename(Strict):
    """`name`: the new name, or owner/name."""

    repo: RepoName
    name: str = Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9-]*/)?[A-Za-z0-9._-]+$")


class NewUser(Strict):
    """Rights on one repository, or on all. Asking again changes them."""

    login: Login
    permission: Permission
    repo: RepoName | None = None
    type: Literal["User", "Bot"] = "User"


class NewStep(Strict):
    """A step; numbers are given in order."""

    name: str
    conclusion: Conclusion | None


class NewAnnotation(Annotation):
    """An annotation as the API shows it; everything but the message has a default."""

    message: str


class NewJob(Strict):
    """A job. `log` or `log_status` (404, 410, empty); neither: a log that tells how its steps ended."""

    name: str
    conclusion: Conclusion | None
    steps: list[NewStep] = []
    log: str | None = None
    log_status: Annotated[Literal["404", "410", "empty"] | None, BeforeValidator(lambda v: v and str(v))] = None
    annotations: list[NewAnnotation] = []


class ForkHead(Strict):
    """The fork a run's code comes from; it is made if there is none."""

    repo: RepoName
    branch: str


class NewRun(Strict):
    """A run as CI would report it. With `run_id` of a run that exists: its next attempt.

    `conclusion` null leaves it in progress. A `pr` run is for the pull request's head.
    """

    repo: RepoName
    sha: str | None = None
    branch: str | None = None
    workflow_path: str
    event: str
    attempt: int | None = Field(default=None, ge=1)
    run_id: int | None = Field(default=None, ge=1)
    pr: int | None = None
    fork: ForkHead | None = None
    conclusion: Conclusion | None
    jobs: list[NewJob] = []


class NewPush(Strict):
    """A commit by a person. `from_`: where a new (or, with `force`, an existing) branch starts."""

    repo: RepoName
    branch: str
    from_: str | None = Field(default=None, alias="from")
    files: dict[str, str | None]
    user: Login
    force: bool = False
    message: str | None = None


class OpenPull(Strict):
    """A pull request by a person; `head` may be owner:branch."""

    repo: RepoName
    head: str
    base: str
    title: str
    body: str | None = None
    user: Login
    draft: bool = False


class EditPull(Strict):
    """What a person changes on a pull request."""

    repo: RepoName
    pr: int
    user: Login
    title: str | None = None
    body: str | None = None
    base: str | None = None
    draft: bool | None = None


class PullAct(Strict):
    """Close, reopen or merge."""

    repo: RepoName
    pr: int
    user: Login


class LineComment(Strict):
    """A line comment of a review."""

    path: str
    line: int | None = None
    body: str


class NewReview(Strict):
    """A review by a person; without `commit_id` it is for the head."""

    repo: RepoName
    pr: int
    user: Login
    state: Literal["APPROVED", "CHANGES_REQUESTED", "COMMENTED"]
    body: str = ""
    commit_id: str | None = None
    submitted_at: Instant | None = None
    comments: list[LineComment] = []


class DismissReview(Strict):
    """Take a review back."""

    repo: RepoName
    pr: int
    review_id: int
    user: Login
    message: str


class NewComment(Strict):
    """A comment by a person."""

    repo: RepoName
    pr: int
    user: Login
    body: str


class ChangeLabels(Strict):
    """Labels put on and taken off."""

    repo: RepoName
    pr: int
    user: Login
    add: list[str] = []
    remove: list[str] = []


class DeleteBranch(Strict):
    """A branch deleted by a person."""

    repo: RepoName
    branch: str
    user: Login


class NewDispatch(Strict):
    """A repository_dispatch sent by a person."""

    repo: RepoName
    event_type: str = Field(min_length=1, max_length=100)
    client_payload: dict[str, JsonValue] = {}
    user: Login


class Protect(Strict):
    """Rules of a branch, replacing what was there."""

    repo: RepoName
    branch: str
    required_checks: list[str] = []
    required_reviews: int = Field(default=0, ge=0)
    strict: bool = False
    queue: bool = False


class EndQueue(Strict):
    """How a queued merge ends."""

    repo: RepoName
    pr: int
    result: Literal["merged", "failed"]


class ChangeInstallation(Strict):
    """Without `repo`: the whole installation."""

    repo: RepoName | None = None
    action: Literal["suspend", "unsuspend", "remove", "add"]


class FaultRule(Strict):
    """Spoil calls whose method and full path match.

    `nth` counts matching calls from 1 and then `times` calls are spoilt; with `probability` each is, by chance
    from `seed`, up to `times` of them.
    """

    method: str = "*"
    path: str
    nth: int | None = Field(default=None, ge=1)
    probability: float | None = Field(default=None, ge=0, le=1)
    seed: int = 0
    times: int = Field(default=1, ge=1)
    when: Literal["before", "after"] = "before"
    kind: Annotated[FaultKind, BeforeValidator(str)]
    retry_after: int | None = Field(default=None, ge=0)
    seconds: float = Field(default=1.0, ge=0)


class SetHooks(Strict):
    """How deliveries are treated from now on."""

    mode: HookMode


class Redeliver(Strict):
    """Send an event again."""

    guid: str


class Advance(Strict):
    """GitHub's clock only goes forward."""

    advance_s: float = Field(gt=0)
