"""The proposal's life: push, open, wait for a human, look again, merge or step back."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError

from sweeper.activities import names
from sweeper.errors import Stale
from sweeper.model import (
    AttemptResult,
    MergeMode,
    Outcome,
    Patch,
    Review,
    RunFacts,
    Step,
    SweepInput,
    VerdictKind,
    Wire,
    World,
)
from sweeper.policy.next_step import Act, Decision, Watch, decide
from sweeper.workflows.approval import Approval, verdict_evidence
from sweeper.workflows.calls import Calls, is_a
from sweeper.workflows.progress import Progress, bounded, known


class Ending(Wire):
    """How the story ended."""

    outcome: Outcome
    reason: str


class Bell:
    """Rings are rung by signal handlers and heard by whoever waits. Many rings before a look are one."""

    def __init__(self) -> None:
        self.rung = False

    async def wait(self, longest: timedelta) -> None:
        """Until the next ring, at most that long."""
        try:
            await workflow.wait_condition(lambda: self.rung, timeout=longest)
        except TimeoutError:
            return


TryAgain = Callable[[Review], Awaitable[AttemptResult | None]]
"""One more attempt for a reviewer's words; None if no attempt is left."""


class ProposalLife:
    """Everything between a verified patch and an ending."""

    def __init__(self, sweep: SweepInput, progress: Progress, calls: Calls, bell: Bell) -> None:
        self._sweep = sweep
        self._settings = sweep.settings
        self._progress = progress
        self._calls = calls
        self._bell = bell
        self._approval = Approval(sweep, progress, calls)

    async def propose(self, facts: RunFacts, attempt: AttemptResult, patch: Patch) -> None:
        """Push our branch and open the pull request."""
        self._progress.enter(Step.PROPOSE)
        await self._push(patch, expected=None)
        request = names.ProposeRequest(
            sweep=workflow.info().workflow_id,
            facts=facts,
            diagnosis=known(self._progress.state.diagnosis),
            attempt=attempt,
            reproduction=known(self._progress.state.reproduction),
            branch=self._progress.branch,
            expires_in=self._settings.proposal_ttl,
            merges_itself=self._settings.merge_mode is MergeMode.MERGE,
            effect_key=self._progress.next_key(),
        )
        self._progress.intend("pull.create", names.OPEN_PROPOSAL.name, request)
        opened = await self._calls.do(names.OPEN_PROPOSAL, request)
        proof = verdict_evidence(self._progress.state, attempt.verdict, self._settings.evidence_ttl)
        self._progress.note(
            proposal=opened.proposal,
            verified_target=facts.branch_head,
            pushed_at=workflow.now(),
            expires_at=workflow.now() + self._settings.proposal_ttl,
            evidence=(*self._progress.state.evidence, proof),
        )
        self._progress.done(opened.effect)

    async def settle(self, try_again: TryAgain) -> Ending:
        """Wait and act until the story ends; each turn begins with a fresh look at the world."""
        if self._progress.state.step is not Step.AWAIT_REVIEW:
            self._progress.enter(Step.AWAIT_REVIEW)
        while True:
            self._bell.rung = False
            decision, world = await self._look()
            if decision.act is Act.MERGE:
                decision = await self._approval.act(world, self._look)
            if decision.act is Act.FIX_AGAIN and decision.review is not None:
                if ending := await self._fix_again(decision.review, try_again):
                    return ending
                self._progress.enter(Step.AWAIT_REVIEW)
            elif decision.act is Act.END and decision.outcome is not None:
                return Ending(outcome=decision.outcome, reason=decision.reason)
            elif decision.act is Act.WAIT:
                await self._wait(decision)

    async def _wait(self, decision: Decision) -> None:
        if self._progress.state.step is not Step.AWAIT_REVIEW:
            self._progress.enter(Step.AWAIT_REVIEW)
        self._progress.wait(decision.reason, known(self._progress.state.expires_at))
        if workflow.info().get_current_history_length() >= self._settings.timeouts.history_events:
            onwards = self._sweep.model_copy(update={"state": self._progress.state})
            workflow.continue_as_new(onwards, memo=self._progress.memo())
        poll = workflow.now() + self._settings.poll_interval
        await self._bell.wait(bounded(known(self._progress.state.expires_at), poll, decision.look_at))

    async def _look(self) -> tuple[Decision, World]:
        world = await self._calls.do(names.READ_WORLD, self._progress.pull)
        return decide(self._watch(), world, workflow.now()), world

    async def _fix_again(self, review: Review, try_again: TryAgain) -> Ending | None:
        """A request for changes becomes one more attempt on top of the proposal, pushed to the same branch."""
        self._progress.note(handled_reviews=(*self._progress.state.handled_reviews, review.id))
        attempt = await try_again(review)
        if attempt is None:
            reason = f"{review.user} requested changes and no attempt is left"
            return Ending(outcome=Outcome.ESCALATED, reason=reason)
        if attempt.patch is None or attempt.verdict.kind is not VerdictKind.FIXED:
            reason = f"the changes {review.user} requested could not be made: {attempt.verdict.reason}"
            return Ending(outcome=Outcome.ESCALATED, reason=reason)
        self._progress.enter(Step.PROPOSE)
        try:
            await self._push(attempt.patch, expected=self._progress.proposal.head_sha)
        except ActivityError as error:
            if is_a(error, Stale):
                return None  # somebody pushed meanwhile: the next look sees it and steps back
            raise
        moved = self._progress.proposal.model_copy(
            update={"head_sha": attempt.patch.commit, "patch_id": attempt.patch.patch_id}
        )
        proof = verdict_evidence(self._progress.state, attempt.verdict, self._settings.evidence_ttl)
        self._progress.note(proposal=moved, pushed_at=workflow.now(), evidence=(proof,))
        await self._reply(attempt, review)
        return None

    async def _reply(self, attempt: AttemptResult, review: Review) -> None:
        request = names.CommentRequest(
            pull=self._progress.pull,
            effect_key=self._progress.next_key(),
            answered=names.Answered(attempt=attempt, reviewer=review.user),
        )
        self._progress.intend("comment.create", names.COMMENT.name, request)
        self._progress.done(await self._calls.do(names.COMMENT, request))

    async def _push(self, patch: Patch, expected: str | None) -> None:
        request = names.PushRequest(
            run=self._sweep.run,
            branch=self._progress.branch,
            commit=patch.commit,
            expected=expected,
            effect_key=self._progress.next_key(),
        )
        self._progress.note(pushes=(*self._progress.state.pushes, patch.commit))
        self._progress.intend("branch.push", names.PUSH_BRANCH.name, request)
        self._progress.done(await self._calls.do(names.PUSH_BRANCH, request))

    def _watch(self) -> Watch:
        state = self._progress.state
        return Watch(
            proposal=self._progress.proposal,
            pushed_at=known(state.pushed_at),
            expires_at=known(self._progress.state.expires_at),
            handled_reviews=state.handled_reviews,
            mode=self._settings.merge_mode,
            checks_grace=self._settings.checks_grace,
        )
