"""What activities take and give, beyond the values the whole core shares. All of it lives in history: ids, digests
and short sentences, never a big text or a secret.
"""

from datetime import timedelta

from sweeper.model import (
    Allowance,
    Background,
    CheckPlan,
    Diagnosis,
    Evidence,
    FixReport,
    JobEvidence,
    Limits,
    Patch,
    Reproduction,
    RunFacts,
    RunRef,
    TestedTree,
    Trigger,
    Verdict,
    Wire,
    Workspace,
)
from sweeper.model.base import Instant
from sweeper.model.crowd import Caps
from sweeper.model.proposal import ReviewComment


class Nothing(Wire):
    """No value."""


class CollectRequest(Wire):
    """Whose failing jobs to collect, and how long that evidence may be believed."""

    facts: RunFacts
    evidence_ttl: timedelta


class Collected(Wire):
    """The failing jobs with their logs as artefacts, and what GitHub says of the workflow around the run."""

    jobs: tuple[JobEvidence, ...]
    evidence: tuple[Evidence, ...]
    background: Background = Background()


class DiagnoseRequest(Wire):
    """Evidence to judge. `checks` are the operator's own commands; they win over the workflow file."""

    facts: RunFacts
    jobs: tuple[JobEvidence, ...]
    checks: tuple[str, ...] = ()
    background: Background = Background()
    limits: Limits = Limits()


class Diagnosed(Wire):
    """What failed, the commands that show it, the tree they are for, and what the repository itself lays down."""

    diagnosis: Diagnosis
    plan: CheckPlan
    tested: TestedTree | None = None
    protected: tuple[str, ...] = ()
    limits: Limits | None = None


class LookAboutRequest(Wire):
    """A diagnosis whose failure may be known from elsewhere."""

    sweep: str
    facts: RunFacts
    diagnosis: Diagnosis


class HostChoice(Wire):
    """The host that took the sweep."""

    host: str


class PrepareRequest(Wire):
    """The commit to check out for a sweep: the failing one, or `commit`, or what CI built of it (`tested`)."""

    sweep: str
    facts: RunFacts
    commit: str | None = None
    tested: TestedTree | None = None


class ReproduceRequest(Wire):
    """Run the plan on the untouched tree. `diagnosis`: what CI's failure looks like; None: any red will do.

    `tested` as in the PrepareRequest of the workspace, to tell a merge that does not come about.
    """

    workspace: Workspace
    plan: CheckPlan
    check_timeout: timedelta
    diagnosis: Diagnosis | None = None
    tested: TestedTree | None = None


class AttemptRequest(Wire):
    """One attempt. `base` is the commit it starts from: failing_sha, or the proposal's head after a review.

    `known_patches`: patch id to why that patch is not to be verified, because it was, or a human said no to it.
    """

    sweep: str
    n: int
    agent: str
    base: str
    facts: RunFacts
    diagnosis: Diagnosis
    plan: CheckPlan
    jobs: tuple[JobEvidence, ...] = ()
    reproduction: Reproduction
    previous: Verdict | None = None
    review_comments: tuple[ReviewComment, ...] = ()
    limits: Limits
    agent_timeout: timedelta
    tested: TestedTree | None = None
    protected: tuple[str, ...] = ()
    allowance: Allowance = Allowance()
    known_patches: dict[str, str] = {}


class FixAnswer(Wire):
    """The agent's report and the change it left, if any. `host`: on whose disk it is."""

    report: FixReport
    patch: Patch | None = None
    host: str | None = None


class VerifyRequest(Wire):
    """Prove a patch, or a merge of it with the target, on a fresh worktree of `commit`.

    `diagnosis` None: the change is judged by its size and paths alone. `reproduction`: what ran without the change.
    `tested`: what CI built; with a merge in it, the patch is proved on that merge. `exam_from`: the commit whose exam
    files decide; None: the reproduction's. `protected`: further globs nobody may touch. `repository`: OWNER/NAME, where
    a host that lacks the patch finds what it builds on.
    """

    sweep: str
    name: str
    repository_id: int
    commit: str
    patch: Patch
    plan: CheckPlan
    limits: Limits
    check_timeout: timedelta
    diagnosis: Diagnosis | None = None
    reproduction: Reproduction | None = None
    tested: TestedTree | None = None
    exam_from: str | None = None
    protected: tuple[str, ...] = ()
    repository: str = ""


class RevalidateRequest(Wire):
    """Prove the proposal again on its merge with the target as it is now."""

    verify: VerifyRequest
    facts: RunFacts
    target_head: str


class DiscardRequest(Wire):
    """Remove a sweep's worktrees and refs."""

    sweep: str
    repository_id: int


class RoomRequest(Wire):
    """Is there room for a sweep that began then, besides what else is going on in its repository?"""

    repository: str
    sweep: str
    caps: Caps
    started_at: Instant


class JoinRequest(Wire):
    """Leave a failing run to another sweep of the same cause."""

    sweep: str
    run: RunRef
    trigger: Trigger


class RingRequest(Wire):
    """Make a sweep look."""

    sweep: str


class IsOpen(Wire):
    """Whether the sweep that was told something is still there to hear it."""

    is_open: bool


class FindEndedRequest(Wire):
    """Which of these sweeps are over?"""

    sweeps: tuple[str, ...]


class Ended(Wire):
    """Sweeps that are over, in whatever way."""

    sweeps: tuple[str, ...]
