"""What the writes on GitHub take, and the look for our proposal: what is to be there, under which effect key."""

from datetime import timedelta

from sweeper.model import (
    AttemptResult,
    CheckReport,
    Diagnosis,
    Effect,
    Outcome,
    Patch,
    Proposal,
    Reproduction,
    RunFacts,
    RunRef,
    Wire,
)
from sweeper.ports import PullRef


class RerunRequest(Wire):
    """Have the failed jobs of exactly that attempt run again."""

    run: RunRef
    effect_key: str


class PushRequest(Wire):
    """Put our branch at a commit. `expected` None: the branch must not exist yet. `patch`: where the commit is from."""

    run: RunRef
    branch: str
    commit: str
    expected: str | None
    effect_key: str
    patch: Patch | None = None


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
    attempts: tuple[AttemptResult, ...] = ()
    attempts_allowed: int | None = None
    effects: tuple[Effect, ...] = ()
    effect_key: str


class Farewell(Wire):
    """What a proposal's last comment says: the outcome, why, the head the proof was for, and what was written."""

    outcome: Outcome
    reason: str
    head: str
    effects: tuple[Effect, ...] = ()


class Answered(Wire):
    """What the reply to a request for changes says."""

    attempt: AttemptResult
    reviewer: str | None
    allowed: int | None = None


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


class FindPullRequest(Wire):
    """Our open proposal of that branch, if there is one."""

    run: RunRef
    branch: str


class FoundPull(Wire):
    """None: there is none of ours."""

    proposal: Proposal | None


class LabelRequest(Wire):
    """Put labels on our proposal."""

    pull: PullRef
    labels: tuple[str, ...]
    effect_key: str


class ReviewersRequest(Wire):
    """Ask people to review our proposal."""

    pull: PullRef
    reviewers: tuple[str, ...]
    effect_key: str


class DraftRequest(Wire):
    """Turn our proposal into a draft."""

    pull: PullRef
    effect_key: str


class Learned(Wire):
    """What a sweep found out and tried, for the human who takes over from it."""

    facts: RunFacts
    diagnosis: Diagnosis
    attempts: tuple[AttemptResult, ...] = ()


class ReportCheckRequest(Wire):
    """What our check run on a commit has to say. `learned`: told in full where a human has to act."""

    run: RunRef
    report: CheckReport
    effect_key: str
    learned: Learned | None = None


class MergeRequest(Wire):
    """Merge exactly this head. `target_head`: the base it was proved on; the effect says if it landed on another."""

    pull: PullRef
    head_sha: str
    effect_key: str
    target_head: str | None = None


class DeleteBranchRequest(Wire):
    """Delete our branch if it is still at one of the commits we pushed or meant to push."""

    run: RunRef
    branch: str
    ours: tuple[str, ...]
    effect_key: str
