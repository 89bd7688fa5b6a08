"""The state document: everything this GitHub knows that is not in a bare repository.

Refs, shas, diffs and merges live in git. A pull's shas are what GitHub froze or computed at the last push; they
are brought up to date by core/pushes.py. Dates are UTC. A new field needs a default, so that an old directory
still opens.
"""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from adapters.loopback.core.pull_state import Comment, Label, Pull
from adapters.loopback.core.record import Record
from adapters.loopback.core.run_state import CheckRun, Run, Status, Workflow


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
