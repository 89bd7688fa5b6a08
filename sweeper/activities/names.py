"""The activities by name, with what they take and give.

Workflows import this and not the bodies, so that replay never loads rendering, redaction or diagnosis.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Generic, TypeVar

from sweeper.model import (
    AttemptResult,
    CheckPlan,
    Diagnosis,
    Effect,
    Evidence,
    FixReport,
    JobEvidence,
    Limits,
    Outcome,
    Patch,
    Reproduction,
    RunFacts,
    RunRef,
    Verdict,
    Wire,
    Workspace,
    World,
)
from sweeper.model.proposal import ReviewComment
from sweeper.ports import OpenedPull, PullRef

TASK_QUEUE = "sweeper"
"""Workflows, and everything any host can do."""

In = TypeVar("In", bound=Wire)
Out = TypeVar("Out", bound=Wire)


def host_queue(host: str) -> str:
    """Everything that needs the disk of that host."""
    return f"host-{host}"


class Timing(StrEnum):
    """Which of the sweep's `Timeouts` bounds one try."""

    READ = "read"
    WRITE = "write"
    GIT = "git"
    CHECK = "check"
    AGENT = "agent"


@dataclass(frozen=True)
class Activity(Generic[In, Out]):
    """One activity's contract. `on_host`: it needs the disk of the sweep's host and runs on that host's queue."""

    name: str
    takes: type[In]
    gives: type[Out]
    timing: Timing
    on_host: bool = False

    @property
    def writes(self) -> bool:
        """Whether it changes something on GitHub. Such a call is let come to its end even when it is cancelled."""
        return self.timing is Timing.WRITE


class Nothing(Wire):
    """No value."""


class CollectRequest(Wire):
    """Whose failing jobs to collect, and how long that evidence may be believed."""

    facts: RunFacts
    evidence_ttl: timedelta


class Collected(Wire):
    """The failing jobs with their logs as artefacts."""

    jobs: tuple[JobEvidence, ...]
    evidence: tuple[Evidence, ...]


class DiagnoseRequest(Wire):
    """Evidence to judge. `checks` are the operator's own commands; they win over the workflow file."""

    facts: RunFacts
    jobs: tuple[JobEvidence, ...]
    checks: tuple[str, ...] = ()


class Diagnosed(Wire):
    """What failed and the commands that show it."""

    diagnosis: Diagnosis
    plan: CheckPlan


class HostChoice(Wire):
    """The host that took the sweep."""

    host: str


class PrepareRequest(Wire):
    """The commit to check out for a sweep."""

    sweep: str
    facts: RunFacts


class ReproduceRequest(Wire):
    """Run the plan on the untouched tree."""

    workspace: Workspace
    plan: CheckPlan
    check_timeout: timedelta


class AttemptRequest(Wire):
    """One attempt. `base` is the commit it starts from: failing_sha, or the proposal's head after a review."""

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


class FixAnswer(Wire):
    """The agent's report and the change it left, if any."""

    report: FixReport
    patch: Patch | None = None


class VerifyRequest(Wire):
    """Prove a patch, or a merge of it with the target, on a fresh worktree of `commit`."""

    sweep: str
    name: str
    repository_id: int
    commit: str
    patch: Patch
    plan: CheckPlan
    limits: Limits
    check_timeout: timedelta


class RevalidateRequest(Wire):
    """Prove the proposal again on its merge with the target as it is now."""

    verify: VerifyRequest
    facts: RunFacts
    target_head: str


class PushRequest(Wire):
    """Put our branch at a commit. `expected` None: the branch must not exist yet."""

    run: RunRef
    branch: str
    commit: str
    expected: str | None
    effect_key: str


class ProposeRequest(Wire):
    """All that stands in a proposal: what failed, the proof, how to answer."""

    sweep: str
    facts: RunFacts
    diagnosis: Diagnosis
    attempt: AttemptResult
    reproduction: Reproduction
    branch: str
    expires_in: timedelta
    merges_itself: bool
    effect_key: str


class Farewell(Wire):
    """What a proposal's last comment says: the outcome, why, and the head the proof was for."""

    outcome: Outcome
    reason: str
    head: str


class Answered(Wire):
    """What the reply to a request for changes says."""

    attempt: AttemptResult
    reviewer: str | None


class UpdateRequest(Wire):
    """A proposal whose head has changed: the same texts, for the new proof."""

    pull: PullRef
    proposal: ProposeRequest


class CommentRequest(Wire):
    """A comment of ours on the proposal; exactly one of the two texts is set."""

    pull: PullRef
    effect_key: str
    farewell: Farewell | None = None
    answered: Answered | None = None


class CloseRequest(Wire):
    """Close our proposal."""

    pull: PullRef
    effect_key: str


class MergeRequest(Wire):
    """Merge exactly this head."""

    pull: PullRef
    head_sha: str
    effect_key: str


class DeleteBranchRequest(Wire):
    """Delete our branch if it is still at one of the commits we pushed or meant to push."""

    run: RunRef
    branch: str
    ours: tuple[str, ...]
    effect_key: str


class DiscardRequest(Wire):
    """Remove a sweep's worktrees and refs."""

    sweep: str
    repository_id: int


ADMIT = Activity("admit", RunRef, RunFacts, Timing.READ)
COLLECT = Activity("collect", CollectRequest, Collected, Timing.READ)
DIAGNOSE = Activity("diagnose", DiagnoseRequest, Diagnosed, Timing.READ)
CHOOSE_HOST = Activity("choose_host", Nothing, HostChoice, Timing.READ)
PREPARE = Activity("prepare", PrepareRequest, Workspace, Timing.GIT, on_host=True)
REPRODUCE = Activity("reproduce", ReproduceRequest, Reproduction, Timing.CHECK, on_host=True)
FIX = Activity("fix", AttemptRequest, FixAnswer, Timing.AGENT, on_host=True)
VERIFY = Activity("verify", VerifyRequest, Verdict, Timing.CHECK, on_host=True)
REVALIDATE = Activity("revalidate", RevalidateRequest, Verdict, Timing.CHECK, on_host=True)
PUSH_BRANCH = Activity("push_branch", PushRequest, Effect, Timing.WRITE, on_host=True)
OPEN_PROPOSAL = Activity("open_proposal", ProposeRequest, OpenedPull, Timing.WRITE)
UPDATE_PROPOSAL = Activity("update_proposal", UpdateRequest, Effect, Timing.WRITE)
READ_WORLD = Activity("read_world", PullRef, World, Timing.READ)
COMMENT = Activity("comment", CommentRequest, Effect, Timing.WRITE)
CLOSE_PROPOSAL = Activity("close_proposal", CloseRequest, Effect, Timing.WRITE)
MERGE = Activity("merge", MergeRequest, Effect, Timing.WRITE)
DELETE_BRANCH = Activity("delete_branch", DeleteBranchRequest, Effect, Timing.WRITE, on_host=True)
DISCARD = Activity("discard", DiscardRequest, Nothing, Timing.GIT, on_host=True)

ALL: tuple[Activity[Wire, Wire], ...] = (  # type: ignore[assignment]
    ADMIT,
    COLLECT,
    DIAGNOSE,
    CHOOSE_HOST,
    PREPARE,
    REPRODUCE,
    FIX,
    VERIFY,
    REVALIDATE,
    PUSH_BRANCH,
    OPEN_PROPOSAL,
    UPDATE_PROPOSAL,
    READ_WORLD,
    COMMENT,
    CLOSE_PROPOSAL,
    MERGE,
    DELETE_BRANCH,
    DISCARD,
)
