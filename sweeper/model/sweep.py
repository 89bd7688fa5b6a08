"""The sweep: its input, the state that survives continue-as-new, and how it shows itself."""

from datetime import timedelta
from enum import StrEnum

from pydantic import Field

from sweeper.model.base import Instant, Wire
from sweeper.model.crowd import Caps
from sweeper.model.failure import CheckPlan, Diagnosis, Evidence, JobEvidence, TestedTree
from sweeper.model.fix import AttemptResult, Reproduction
from sweeper.model.proposal import Effect, Proposal, Review
from sweeper.model.run import RunFacts, RunRef, Trigger
from sweeper.model.spending import Budgets

WORKFLOW_VERSION = 1
VERIFIER_VERSION = 2


class Step(StrEnum):
    """Where a sweep is (`current_step`)."""

    ADMIT = "admit"
    COLLECT = "collect"
    DIAGNOSE = "diagnose"
    ENTER = "enter"
    PREPARE = "prepare"
    REPRODUCE = "reproduce"
    FIX = "fix"
    VERIFY = "verify"
    PROPOSE = "propose"
    AWAIT_REVIEW = "await_review"
    REVALIDATE = "revalidate"
    MERGE = "merge"
    WATCH = "watch"
    COMPENSATE = "compensate"
    DONE = "done"


class Outcome(StrEnum):
    """How a sweep ended."""

    MERGED = "merged"
    CLOSED = "closed"
    REJECTED = "rejected"
    HEALED = "healed"
    SUPERSEDED = "superseded"
    JOINED = "joined"
    MUTED = "muted"
    EXPIRED = "expired"
    FLAKY = "flaky"
    INFRASTRUCTURE = "infrastructure"
    OUTSIDE_CODE = "outside_code"
    ALREADY_FIXED_ELSEWHERE = "already_fixed_elsewhere"
    NOT_REPRODUCED = "not_reproduced"
    UNVERIFIABLE = "unverifiable"
    ESCALATED = "escalated"
    LEFT_TO_HUMAN = "left_to_human"
    CANCELLED = "cancelled"


class MergeMode(StrEnum):
    """Who merges an approved proposal."""

    HAND_OVER = "hand_over"
    MERGE = "merge"


class Limits(Wire):
    """The largest change that may be proposed; above it a human takes over."""

    files: int = 20
    lines: int = 500
    bytes: int = 1_000_000


class Timeouts(Wire):
    """Bounds of activities and waits. They are input, so a running sweep keeps its own and tests can be quick.

    `tries` bounds retries by count, not by time: an hour without any worker must not use them up. `host_queue` is how
    long a busy host may take to begin before it is asked whether it still lives; then it is waited for, in total that
    long. `model_queue`: how long a process with a model may take to begin.
    """

    read: timedelta = timedelta(seconds=30)
    write: timedelta = timedelta(seconds=60)
    git: timedelta = timedelta(minutes=5)
    check: timedelta = timedelta(minutes=15)
    agent: timedelta = timedelta(minutes=30)
    heartbeat: timedelta = timedelta(seconds=5)
    retry_first: timedelta = timedelta(seconds=1)
    tries: int = 60
    host_queue: timedelta = timedelta(hours=1)
    busy_host_total: timedelta = timedelta(days=1)
    model_queue: timedelta = timedelta(minutes=2)
    rate_limit_total: timedelta = timedelta(hours=6)
    credentials_total: timedelta = timedelta(hours=24)
    history_events: int = 1000


class SweepSettings(Wire):
    """What a sweep may do; taken from the service's configuration when it starts."""

    agents: tuple[str, ...] = ("autofix",)
    max_attempts: int = Field(default=3, ge=1)
    merge_mode: MergeMode = MergeMode.HAND_OVER
    evidence_ttl: timedelta = timedelta(hours=24)
    proposal_ttl: timedelta = timedelta(days=7)
    poll_interval: timedelta = timedelta(minutes=15)
    checks_grace: timedelta = timedelta(minutes=2)
    report_only: bool = False
    checks: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    mute_ttl: timedelta = timedelta(days=30)
    backoff: timedelta = timedelta(hours=1)
    caps: Caps = Caps()
    places: int = 4
    limits: Limits = Limits()
    budgets: Budgets = Budgets()
    timeouts: Timeouts = Timeouts()

    def agent_for(self, attempt: int) -> str:
        """The chain gives one agent per attempt at a failing commit; the last one keeps trying."""
        return self.agents[min(attempt, len(self.agents)) - 1]


class WaitingFor(Wire):
    """A named, bounded wait."""

    what: str
    since: Instant
    until: Instant


class PendingAction(Wire):
    """The write or tool call under way; `idempotency_key` is its effect key."""

    tool: str
    arguments_hash: str
    idempotency_key: str


class Budget(Wire):
    """What is left to spend, money in millionths of a US dollar, time in seconds. None: no bound of this kind."""

    attempts_remaining: int
    model_calls_remaining: int | None = None
    tokens_remaining: int | None = None
    micro_usd_remaining: int | None = None
    seconds_remaining: float | None = None


class Watched(Wire):
    """A re-run whose end is waited for, and what it will mean. `reason`: why the jobs run again."""

    outcome: Outcome
    reason: str


class SweepState(Wire):
    """All a sweep remembers; carried whole through continue-as-new. Digests and ids, no big texts.

    `newer_run`: the newest failing run of the same cause that was left to this sweep; `has_asked`: its target may know
    of it; `has_place`: so may its machine; `is_queued`: it waits at its target with an approval; `checked_sha`: the
    commit that shows our check run; `chain_from`: how many attempts were made before those at `chain_sha`, the failing
    commit they are for now; `unsettled`: attempts whose share of the day's budgets is still open; `rejected`: ids of
    patches for this cause that a human did not want.
    """

    step: Step = Step.ADMIT
    started_at: Instant
    entered_at: Instant | None = None
    waiting: WaitingFor | None = None
    facts: RunFacts | None = None
    diagnosis: Diagnosis | None = None
    plan: CheckPlan | None = None
    tested: TestedTree | None = None
    protected: tuple[str, ...] = ()
    limits: Limits | None = None
    watched: Watched | None = None
    reproduction: Reproduction | None = None
    evidence: tuple[Evidence, ...] = ()
    host: str | None = None
    attempts: tuple[AttemptResult, ...] = ()
    effects: tuple[Effect, ...] = ()
    proposal: Proposal | None = None
    pushed_at: Instant | None = None
    verified_target: str | None = None
    pushes: tuple[str, ...] = ()
    jobs: tuple[JobEvidence, ...] = ()
    reviews: tuple[Review, ...] = ()
    handled_reviews: tuple[int, ...] = ()
    handed_over: int | None = None
    verifier_version: int = VERIFIER_VERSION
    expires_at: Instant | None = None
    triggers: tuple[Trigger, ...] = ()
    newer_run: RunRef | None = None
    has_asked: bool = False
    has_place: bool = False
    is_queued: bool = False
    joined_at: Instant | None = None
    checked_sha: str | None = None
    chain_sha: str = ""
    chain_from: int = 0
    unsettled: tuple[int, ...] = ()
    rejected: tuple[str, ...] = ()
    write_counts: dict[str, int] = {}
    seconds: dict[str, float] = {}
    cancel_reason: str | None = None


class SweepInput(Wire):
    """The workflow's argument. `state` is set only by continue-as-new."""

    run: RunRef
    trigger: Trigger
    settings: SweepSettings = SweepSettings()
    state: SweepState | None = None


class Ending(Wire):
    """How a story ended: one outcome and one sentence. `said_no`: a human does not want a fix of this failure;
    `found_no_fix`: agents tried in vain;
    `keeps_proposal`: what was made so far helps the human who takes over.
    """

    outcome: Outcome
    reason: str
    said_no: bool = False
    found_no_fix: bool = False
    keeps_proposal: bool = False


class SweepResult(Wire):
    """How a sweep ended: one outcome, one sentence, and the record it stands on."""

    outcome: Outcome
    reason: str
    state: SweepState


class Checkpoint(Wire):
    """What a sweep says of itself at each step change, as workflow memo: small, no secret, readable with no worker.

    `artifacts` maps kind to digest, `seconds` each step that was left to the time spent in it. The published schema is
    `Checkpoint.model_json_schema()`.
    """

    run: RunRef
    workflow_version: int
    current_step: Step
    goal: str
    artifacts: dict[str, str] = {}
    pending_action: PendingAction | None = None
    budget: Budget
    last_evidence_version: int = 0
    waiting_for: WaitingFor | None = None
    outcome: Outcome | None = None
    reason: str = ""
    branch: str = ""
    proposal: int | None = None
    proposal_url: str | None = None
    seconds: dict[str, float] = {}
    entered_at: Instant | None = None
    updated_at: Instant
