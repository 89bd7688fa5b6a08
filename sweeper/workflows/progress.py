"""What a sweep remembers and shows: its state, its step, the wait or write under way, as memo and search attributes."""

import hashlib
from datetime import datetime, timedelta
from typing import TypeVar

from temporalio import workflow
from temporalio.common import SearchAttributeKey
from temporalio.exceptions import ApplicationError

from sweeper import ids
from sweeper.errors import Bug
from sweeper.model import (
    WORKFLOW_VERSION,
    Budget,
    Checkpoint,
    Effect,
    Evidence,
    Joined,
    Outcome,
    Patch,
    PendingAction,
    Proposal,
    RunRef,
    Step,
    SweepInput,
    SweepSettings,
    SweepState,
    Trigger,
    Verdict,
    WaitingFor,
    Wire,
)
from sweeper.policy.spending import rest
from sweeper.policy.trying import attempts_left, spent_in
from sweeper.ports import PullRef

T = TypeVar("T")

MEMO = "checkpoint"
STARTED_AT = "started_at"
GOAL = "a verified fix for the failing run, merged or handed to a human"
MEMO_BYTES = 2048
MOST_TRIGGERS = 20
FREE_TEXT = (300, 150, 60, 20, 5)
"""How many characters free texts may have; the largest that lets the memo fit is taken."""

REPOSITORY = SearchAttributeKey.for_keyword("Repository")
TARGET = SearchAttributeKey.for_keyword("Target")
STEP = SearchAttributeKey.for_keyword("Step")
WAITING_UNTIL = SearchAttributeKey.for_datetime("WaitingUntil")
SIGNATURE = SearchAttributeKey.for_keyword("Signature")


class Progress:
    """The one place that changes `state`. Every change of step, wait or pending write is published at once."""

    def __init__(self, sweep: SweepInput) -> None:
        self._sweep = sweep
        self.state = sweep.state or SweepState(started_at=workflow.now(), triggers=(sweep.trigger,))
        self._pending: PendingAction | None = None
        self.is_ending = False
        self._outcome: Outcome | None = None
        self._reason = ""

    @property
    def branch(self) -> str:
        """Our branch on GitHub."""
        return ids.branch_of(workflow.info().workflow_id)

    @property
    def proposal(self) -> Proposal:
        """The proposal, once there is one."""
        return known(self.state.proposal)

    @property
    def newest_run(self) -> RunRef:
        """The newest failing run of this failure that is known."""
        return self.state.newer_run or self._sweep.run

    @property
    def patient_until(self) -> datetime:
        """How long waits may go on: a proposal has its time, and before that a run has as long."""
        if self.state.expires_at is not None:
            return self.state.expires_at
        return (self.state.joined_at or self.state.started_at) + self._sweep.settings.proposal_ttl

    @property
    def proposed_patch(self) -> Patch:
        """The patch that the proposal's head is, whatever was tried since."""
        patches = (attempt.patch for attempt in reversed(self.state.attempts))
        return known(next((patch for patch in patches if patch and patch.commit == self.proposal.head_sha), None))

    @property
    def pull(self) -> PullRef:
        """The proposal as the CodeHost port wants it named."""
        return PullRef(run=self.newest_run, number=self.proposal.number, branch=self.branch)

    def note(self, **changes: object) -> None:
        """Remember facts without telling the world."""
        self.state = self.state.model_copy(update=changes)

    def moved(self, host: str) -> None:
        """The sweep works on that host's disk from now on."""
        self.note(host=host)

    def asked_by(self, trigger: Trigger) -> None:
        """Something else asked for this sweep; the first and the latest ones are kept."""
        known_ones = self.state.triggers
        if trigger not in known_ones:
            self.note(triggers=(*known_ones[:1], *known_ones[1:][-MOST_TRIGGERS:], trigger))

    def joined(self, joined: Joined) -> None:
        """A run of the same cause was left to this sweep; the newest one counts."""
        self.asked_by(joined.trigger)
        newest = self.newest_run
        if (joined.run.run_id, joined.run.run_attempt) > (newest.run_id, newest.run_attempt):
            self.note(newer_run=joined.run, joined_at=workflow.now())

    def enter(self, step: Step) -> None:
        """Go on to a step; the time spent in the one before is kept."""
        now = workflow.now()
        left, spent = self.state.step, (now - (self.state.entered_at or now)).total_seconds()
        seconds = {**self.state.seconds, left.value: round(self.state.seconds.get(left.value, 0.0) + spent, 3)}
        self._pending = None
        self.note(step=step, seconds=seconds, entered_at=now, waiting=None)
        self.publish()

    def wait(self, what: str, until: datetime) -> None:
        """Name the wait that begins now. The same wait going on keeps its beginning."""
        before = self.state.waiting
        since = before.since if before and before.what == what else workflow.now()
        waiting = WaitingFor(what=what, since=since, until=until)
        if waiting != before:
            self.note(waiting=waiting)
            self.publish()

    def intend(self, tool: str, arguments: Wire) -> None:
        """Say which write comes next, before it is sent."""
        digest = hashlib.sha256(arguments.model_dump_json().encode()).hexdigest()
        key = str(getattr(arguments, "effect_key", ""))
        self._pending = PendingAction(tool=tool, arguments_hash=f"sha256:{digest[:32]}", idempotency_key=key)
        self.publish()

    def is_unanswered(self, tool: str) -> bool:
        """Whether this write was sent and nothing is known of it."""
        return self._pending is not None and self._pending.tool == tool

    def refused(self) -> None:
        """The write under way was answered with a no."""
        self._pending = None

    def proved(self, verdict: Verdict, target: str, ttl: timedelta) -> None:
        """The verdict is the evidence from now on, for the head as it is and for `target`, the target's head."""
        now = workflow.now()
        proof = Evidence(
            kind="verdict",
            subject=verdict.patch_id,
            digest=verdict.tree,
            version=1 + max((item.version for item in self.state.evidence), default=0),
            captured_at=now,
            expires_at=now + ttl,
        )
        self.note(verified_target=target, evidence=(proof,))

    def continue_as_new_if_long(self) -> None:
        """At a quiet point: nothing is under way and everything is in the state."""
        if workflow.info().get_current_history_length() >= self._sweep.settings.timeouts.history_events:
            workflow.continue_as_new(self._sweep.model_copy(update={"state": self.state}), memo=self.memo())

    def done(self, effect: Effect) -> None:
        """A write is confirmed."""
        self._pending = None
        self.note(effects=(*self.state.effects, effect))

    def next_key(self) -> str:
        """The next effect key of the current step; counted in state, so a resumed sweep goes on counting."""
        step = self.state.step.value
        ordinal = self.state.write_counts.get(step, 0) + 1
        self.note(write_counts={**self.state.write_counts, step: ordinal})
        return ids.effect_key(workflow.info().workflow_id, step, ordinal)

    def finish(self, outcome: Outcome, reason: str) -> None:
        """The last word."""
        self._outcome, self._reason = outcome, reason
        self.enter(Step.DONE)

    def memo(self) -> dict[str, object]:
        """What a continued run begins with: without it the memo would fall back to that of the very first start."""
        return {MEMO: fitted(self._checkpoint()), STARTED_AT: self.state.started_at}

    def publish(self) -> None:
        """Memo and search attributes: what `list` and `show` read, with or without a worker."""
        state, waiting = self.state, self.state.waiting
        workflow.upsert_memo({MEMO: fitted(self._checkpoint())})
        values = [REPOSITORY.value_set(self._sweep.run.repository), STEP.value_set(state.step.value)]
        if state.facts and state.facts.head_branch and state.facts.head_repository_id is not None:
            target = ids.target_of(state.facts.head_repository_id, state.facts.head_branch)
            values.append(TARGET.value_set(target))
        if state.diagnosis:
            values.append(SIGNATURE.value_set(state.diagnosis.signature))
        until = WAITING_UNTIL.value_set(waiting.until) if waiting else WAITING_UNTIL.value_unset()
        workflow.upsert_search_attributes([*values, until])

    def _checkpoint(self) -> Checkpoint:
        state, proposal = self.state, self.state.proposal
        return Checkpoint(
            run=self._sweep.run,
            workflow_version=WORKFLOW_VERSION,
            current_step=state.step,
            goal=GOAL,
            artifacts=_artifacts(state),
            pending_action=self._pending,
            budget=_left(self._sweep.settings, state),
            last_evidence_version=max((item.version for item in state.evidence), default=0),
            waiting_for=state.waiting,
            outcome=self._outcome,
            reason=self._reason,
            branch=(state.facts.head_branch or "") if state.facts else "",
            proposal=proposal.number if proposal else None,
            proposal_url=proposal.url if proposal else None,
            seconds={step: round(spent, 1) for step, spent in state.seconds.items()},
            entered_at=state.entered_at,
            updated_at=workflow.now(),
        )


def fitted(checkpoint: Checkpoint) -> Checkpoint:
    """The same in at most `MEMO_BYTES` of JSON: all but reason, wait and branch is bounded by itself."""
    shown = checkpoint
    for room in FREE_TEXT:
        waiting = checkpoint.waiting_for
        shown = checkpoint.model_copy(
            update={
                "reason": checkpoint.reason[:room],
                "branch": checkpoint.branch[:room],
                "waiting_for": waiting and waiting.model_copy(update={"what": waiting.what[:room]}),
            }
        )
        if len(shown.model_dump_json().encode()) <= MEMO_BYTES:
            break
    return shown


def _left(settings: SweepSettings, state: SweepState) -> Budget:
    left = rest(settings.budgets.sweep, spent_in(state.attempts))
    return Budget(
        attempts_remaining=attempts_left(settings, state.attempts),
        model_calls_remaining=left.model_calls,
        tokens_remaining=left.tokens,
        micro_usd_remaining=left.micro_usd,
        seconds_remaining=left.seconds,
    )


def _artifacts(state: SweepState) -> dict[str, str]:
    found = {f"log:{item.job.id}": item.log.digest for item in state.jobs[:3] if item.log}
    patch = state.attempts[-1].patch if state.attempts else None
    if patch and patch.diff:
        found["diff"] = patch.diff.digest
    return found


def known(value: T | None) -> T:
    """A fact that an earlier step must have left in the state."""
    if value is None:
        raise ApplicationError("A step ran before the one it builds on; please report this.", type=Bug.__name__)
    return value
