"""How sweeps are told to people and scripts: the JSON documents that commands, API and pages share.

Pure: views of the Sweeps port in, documents out. Their field names are a published contract: adding is free.
"""

import re
from collections.abc import Sequence

from pydantic import Field

from sweeper.model import (
    AttemptResult,
    Budget,
    Diagnosis,
    Effect,
    Finding,
    FixOutcome,
    Instant,
    Outcome,
    PendingAction,
    Proposal,
    Reproduction,
    Review,
    ReviewState,
    RunRef,
    Step,
    Strict,
    Trigger,
    Trouble,
    VerdictKind,
    WaitingFor,
    spending,
)
from sweeper.model.upkeep import StuckCase
from sweeper.policy.trying import spent_in
from sweeper.ports import SweepRecord, SweepView, WorkerLife

_ATTEMPT = re.compile(r"-a\d+$")
_GOOD = frozenset({Outcome.MERGED, Outcome.NOT_REPRODUCED, Outcome.FLAKY, Outcome.HEALED, Outcome.JOINED})


def is_good(outcome: Outcome | None) -> bool:
    """Whether a sweep ended fixed, or with nothing to fix (exit code 0)."""
    return outcome in _GOOD


class SweepLine(Strict):
    """One sweep in a list. `attempt` is the run's; `stuck` is a sentence when the sweep cannot go on by itself."""

    id: str
    repository: str
    branch: str
    run_id: int
    attempt: int
    step: Step
    outcome: Outcome | None
    reason: str
    proposal: int | None
    proposal_url: str | None
    waiting_for: WaitingFor | None
    started_at: Instant
    updated_at: Instant
    stuck: str | None


class ListReport(Strict):
    """Sweeps, newest first, and whether anybody works on them. `stuck`: all workflows of ours that cannot go on, those
    that stand behind the sweeps included; it is looked for where somebody asks for it.
    """

    sweeps: tuple[SweepLine, ...]
    worker: WorkerLife
    stuck: tuple[StuckCase, ...] = ()


class AttemptLine(Strict):
    """One agent try: what the verifier said of it, what it noticed, and what the agent used."""

    n: int
    agent: str
    verdict: VerdictKind
    reason: str
    findings: tuple[Finding, ...]
    spent: spending.Spent
    fix: FixOutcome
    trouble: Trouble | None
    versions: dict[str, str]


class ReviewLine(Strict):
    """A review the sweep has seen. `is_answered`: its request for changes was worked off."""

    id: int
    user: str | None
    state: ReviewState
    commit_id: str | None
    is_answered: bool


class Versions(Strict):
    """Of the workflow code and the verifier rules the sweep was started with."""

    workflow: int
    verifier: int


class Spent(Strict):
    """What the sweep has used so far: `seconds` by step, the rest by its agents, money in millionths of a US dollar."""

    attempts: int
    seconds: dict[str, float]
    model_calls: int
    input_tokens: int
    output_tokens: int
    micro_usd: int
    agent_seconds: float


class ShowReport(Strict):
    """One sweep's story: its checkpoint and the record it stands on."""

    id: str
    run: RunRef
    workflow_version: int
    current_step: Step
    goal: str
    artifacts: dict[str, str]
    pending_action: PendingAction | None
    budget: Budget
    last_evidence_version: int
    waiting_for: WaitingFor | None
    outcome: Outcome | None
    reason: str
    branch: str
    failing_sha: str | None
    triggers: tuple[Trigger, ...]
    diagnosis: Diagnosis | None
    reproduction: Reproduction | None
    effects: tuple[Effect, ...]
    attempts: tuple[AttemptLine, ...]
    proposal: Proposal | None
    reviews: tuple[ReviewLine, ...]
    versions: Versions
    spent: Spent
    started_at: Instant
    entered_at: Instant | None
    updated_at: Instant
    is_open: bool
    stuck: str | None


class HealthReport(Strict):
    """Which parts answer. `ready`: all that this process started does; it decides the status, and is not told."""

    web: bool = True
    temporal: bool
    worker: bool
    version: str
    ready: bool = Field(exclude=True)


def list_report(views: Sequence[SweepView], worker: WorkerLife, stuck: Sequence[StuckCase] = ()) -> ListReport:
    """The document of `list --json` and GET /api/sweeps."""
    return ListReport(sweeps=tuple(_line(view, stuck) for view in views), worker=worker, stuck=tuple(stuck))


def is_about(case: StuckCase, sweep: str) -> bool:
    """Whether a case keeps that sweep from going on: its own, or that of one of its attempts."""
    return case.workflow == sweep or _ATTEMPT.sub("", case.workflow) == sweep


def _line(view: SweepView, stuck: Sequence[StuckCase]) -> SweepLine:
    told = view.checkpoint
    sentence = next((case.sentence for case in stuck if is_about(case, view.id)), view.stuck)
    return SweepLine(
        id=view.id,
        repository=told.run.repository,
        branch=told.branch,
        run_id=told.run.run_id,
        attempt=told.run.run_attempt,
        step=told.current_step,
        outcome=told.outcome,
        reason=told.reason,
        proposal=told.proposal,
        proposal_url=told.proposal_url,
        waiting_for=told.waiting_for,
        started_at=view.started_at,
        updated_at=told.updated_at,
        stuck=sentence,
    )


class AttemptStory(Strict):
    """The actions of one attempt, oldest first. `is_open`: it may go on."""

    n: int
    agent: str
    actions: tuple[str, ...]
    is_open: bool = False


class JournalReport(Strict):
    """The document of `show ID --journal --json`."""

    id: str
    attempts: tuple[AttemptStory, ...]


def show_report(record: SweepRecord) -> ShowReport:
    """The document of `show ID --json` and GET /api/sweeps/ID."""
    view, state = record.view, record.state
    told = view.checkpoint
    return ShowReport(
        id=view.id,
        run=told.run,
        workflow_version=told.workflow_version,
        current_step=told.current_step,
        goal=told.goal,
        artifacts=told.artifacts,
        pending_action=told.pending_action,
        budget=told.budget,
        last_evidence_version=told.last_evidence_version,
        waiting_for=told.waiting_for,
        outcome=told.outcome,
        reason=told.reason,
        branch=told.branch,
        failing_sha=state.facts.head_sha if state.facts else None,
        triggers=state.triggers,
        diagnosis=state.diagnosis,
        reproduction=state.reproduction,
        effects=state.effects,
        attempts=tuple(_attempt(attempt) for attempt in state.attempts),
        proposal=state.proposal,
        reviews=tuple(_review(review, state.handled_reviews) for review in state.reviews),
        versions=Versions(workflow=told.workflow_version, verifier=state.verifier_version),
        spent=_spent(state.attempts, told.seconds),
        started_at=view.started_at,
        entered_at=told.entered_at,
        updated_at=told.updated_at,
        is_open=view.is_open,
        stuck=view.stuck,
    )


def _spent(attempts: Sequence[AttemptResult], seconds: dict[str, float]) -> Spent:
    used = spent_in(attempts)
    return Spent(
        attempts=len(attempts),
        seconds=seconds,
        model_calls=used.model_calls,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        micro_usd=used.micro_usd,
        agent_seconds=round(used.seconds, 1),
    )


def _review(review: Review, answered: Sequence[int]) -> ReviewLine:
    return ReviewLine(
        id=review.id,
        user=review.user,
        state=review.state,
        commit_id=review.commit_id,
        is_answered=review.id in answered,
    )


def _attempt(attempt: AttemptResult) -> AttemptLine:
    verdict = attempt.verdict
    return AttemptLine(
        n=attempt.n,
        agent=attempt.agent,
        verdict=verdict.kind,
        reason=verdict.reason,
        findings=verdict.findings,
        spent=spent_in([attempt]),
        fix=attempt.fix.outcome,
        trouble=attempt.fix.trouble,
        versions=attempt.fix.versions,
    )
