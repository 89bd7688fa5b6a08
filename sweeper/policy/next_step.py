"""What to do about a proposal, given the world as it is now. Pure, so a table of worlds is its test."""

from datetime import datetime, timedelta
from enum import StrEnum

from sweeper.model import ChecksState, MergeMode, Outcome, Proposal, Review, ReviewState, Wire, World
from sweeper.model.base import Instant
from sweeper.policy.review import judge

CI = "the proposal's own CI"


class Act(StrEnum):
    """The next move."""

    WAIT = "wait"
    END = "end"
    FIX_AGAIN = "fix_again"
    MERGE = "merge"
    HAND_OVER = "hand_over"


class Decision(Wire):
    """A move with its reason. END carries an outcome, FIX_AGAIN the review; WAIT names what for and may ask for an
    early look at `look_at`. `said_no`: a human does not want a fix of this failure."""

    act: Act
    reason: str
    outcome: Outcome | None = None
    review: Review | None = None
    look_at: Instant | None = None
    said_no: bool = False


class Watch(Wire):
    """What a sweep knows of its open proposal. `handed_over`: the approval after which it was proved once more;
    `may_try`: its budget has another attempt.
    """

    proposal: Proposal
    pushed_at: Instant
    expires_at: Instant
    handled_reviews: tuple[int, ...] = ()
    handed_over: int | None = None
    mode: MergeMode
    checks_grace: timedelta
    may_try: bool = False


def decide(watch: Watch, world: World, now: datetime) -> Decision:
    """Endings first, then what a human said, then whether acting is allowed."""
    return _ended(watch, world, now) or _spoken(watch, world, now)


def _end(outcome: Outcome, reason: str, *, said_no: bool = False) -> Decision:
    return Decision(act=Act.END, outcome=outcome, reason=reason, said_no=said_no)


def _ended(watch: Watch, world: World, now: datetime) -> Decision | None:
    ours = watch.proposal.head_sha
    if world.merged:
        return _end(Outcome.MERGED, f"merged by {world.merged_by or 'somebody'}")
    if world.branch_sha is not None and world.branch_sha != ours:
        return _end(Outcome.LEFT_TO_HUMAN, "somebody pushed to the proposal's branch")
    if world.state == "closed":
        return _end(Outcome.CLOSED, f"closed by {world.closed_by or 'somebody'}", said_no=True)
    if world.branch_sha is None:
        return _end(Outcome.CLOSED, "the proposal's branch was deleted", said_no=True)
    if world.target_head is None:
        return _end(Outcome.CLOSED, "the target branch is gone")
    if world.run_green_later:
        return _end(Outcome.FLAKY, "the failing run passed on the same commit later")
    if now >= watch.expires_at:
        return _end(Outcome.EXPIRED, "nobody answered in time")
    return None


def _spoken(watch: Watch, world: World, now: datetime) -> Decision:
    said = judge(world.reviews, watch.proposal.head_sha, world.author, watch.handled_reviews)
    if said.request is not None:
        return Decision(act=Act.FIX_AGAIN, reason=f"{said.request.user} requested changes", review=said.request)
    if (word := _ci_says_no(watch, world)) is not None:
        return Decision(act=Act.FIX_AGAIN, reason="the proposal's own CI failed", review=word)
    if said.approval is None:
        return Decision(act=Act.WAIT, reason="review")
    if watch.mode is MergeMode.HAND_OVER:
        if watch.handed_over == said.approval.id:
            return Decision(act=Act.WAIT, reason="a human's merge", review=said.approval)
        return Decision(act=Act.HAND_OVER, reason=f"approved by {said.approval.user}", review=said.approval)
    return _may_merge(watch, world, said.approval, now)


def is_of_ci(review: Review) -> bool:
    """Whether it is the word of the proposal's own CI, which is no person and only gets one attempt for each head."""
    return review.id < 0


def _ci_says_no(watch: Watch, world: World) -> Review | None:
    """Its word on this head as a request for changes, unless it was answered or no attempt is left for an answer."""
    ours = watch.proposal.head_sha
    word = Review(
        id=-int(ours[:12], 16) - 1,
        user=CI,
        user_type="Bot",
        state=ReviewState.CHANGES_REQUESTED,
        commit_id=ours,
        body=f"The pull request's own CI failed on {ours[:12]}, though the checks of the failing run pass there.",
    )
    is_red = world.checks is ChecksState.RED and world.head_sha == ours
    return word if is_red and watch.may_try and word.id not in watch.handled_reviews else None


def _may_merge(watch: Watch, world: World, approval: Review, now: datetime) -> Decision:
    if world.head_sha != watch.proposal.head_sha:
        return Decision(act=Act.WAIT, reason="GitHub to show the pushed head", review=approval)
    match world.checks:
        case ChecksState.PENDING:
            return Decision(act=Act.WAIT, reason="checks to finish", review=approval)
        case ChecksState.RED:
            return Decision(act=Act.WAIT, reason="checks to become green", review=approval)
        case ChecksState.NONE if now < (grace_ends := watch.pushed_at + watch.checks_grace):
            return Decision(act=Act.WAIT, reason="checks to start", review=approval, look_at=grace_ends)
    return Decision(act=Act.MERGE, reason=f"approved by {approval.user}", review=approval)
