"""The proposal's life: push, open, wait for a human, look again, act or step back."""

from temporalio import workflow
from temporalio.exceptions import ActivityError

from sweeper.activities import names, writes
from sweeper.errors import Stale
from sweeper.model import (
    AttemptResult,
    Ending,
    MergeMode,
    Outcome,
    Patch,
    Review,
    Step,
    VerdictKind,
    World,
)
from sweeper.model.target import Turn
from sweeper.policy.next_step import Act, Decision, is_of_ci
from sweeper.policy.trying import attempts_allowed, without_results
from sweeper.workflows.approval import Approval
from sweeper.workflows.calls import is_a
from sweeper.workflows.lookout import Lookout
from sweeper.workflows.parts import Chapter, Parts
from sweeper.workflows.progress import known
from sweeper.workflows.queueing import ASK_AGAIN
from sweeper.workflows.waits import until_earliest


class ProposalLife(Chapter):
    """Everything between a verified patch and an ending."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._lookout = Lookout(parts.sweep, parts.progress, parts.calls)
        self._approval = Approval(parts, self._lookout)

    async def propose(self, attempt: AttemptResult) -> None:
        """Push our branch and open the pull request; then others may have their turn at the target."""
        self._progress.enter(Step.PROPOSE)
        await self._push(known(attempt.patch), expected=None)
        request = self._texts(attempt)
        self._progress.intend(names.OPEN_PROPOSAL.name, request)
        opened = await self._calls.do(names.OPEN_PROPOSAL, request)
        now = workflow.now()
        self._progress.note(proposal=opened.proposal, pushed_at=now, expires_at=now + self._settings.proposal_ttl)
        self._progress.done(opened.effect)
        await self._turns.leave()
        await self._places.free()
        await self._ask_reviewers()

    async def _ask_reviewers(self) -> None:
        if not self._settings.reviewers:
            return
        request = writes.ReviewersRequest(
            pull=self._progress.pull, reviewers=self._settings.reviewers, effect_key=self._progress.next_key()
        )
        self._progress.intend(names.REQUEST_REVIEWERS.name, request)
        self._progress.done(await self._calls.do(names.REQUEST_REVIEWERS, request))

    async def settle(self) -> Ending:
        """Wait and act until the story ends; each turn begins with a fresh look at the world."""
        if self._progress.state.step is not Step.AWAIT_REVIEW:
            self._progress.enter(Step.AWAIT_REVIEW)
        while True:
            self._bell.rung = False
            decision, world = await self._lookout.look()
            if decision.act not in (Act.MERGE, Act.HAND_OVER):
                await self._turns.give_up_place_in_queue()
            if world is not None and decision.act in (Act.MERGE, Act.HAND_OVER):
                decision = await self._in_turn(world)
            if decision.act is Act.FIX_AGAIN and decision.review is not None:
                if ending := await self._fix_again(decision.review):
                    return ending
                self._progress.enter(Step.AWAIT_REVIEW)
            elif decision.act is Act.END and decision.outcome is not None:
                return Ending(outcome=decision.outcome, reason=decision.reason, said_no=decision.said_no)
            elif decision.act is Act.WAIT:
                await self._wait(decision)

    async def _in_turn(self, world: World) -> Decision:
        """Act on an approval while nobody else works on the target."""
        answer = await self._turns.enter_again()
        if answer.turn is not Turn.GO:
            soon = workflow.now() + ASK_AGAIN
            return Decision(act=Act.WAIT, reason=f"its turn at the branch, behind {answer.other}", look_at=soon)
        decision = await self._approval.act(world)
        if decision.act is not Act.END:
            await self._turns.leave()
        return decision

    async def _wait(self, decision: Decision) -> None:
        if self._progress.state.step is not Step.AWAIT_REVIEW:
            self._progress.enter(Step.AWAIT_REVIEW)
        expires_at = known(self._progress.state.expires_at)
        self._progress.wait(decision.reason, expires_at)
        self._progress.continue_as_new_if_long()
        poll = workflow.now() + self._settings.poll_interval
        await self._bell.wait(until_earliest(expires_at, poll, decision.look_at))

    async def _fix_again(self, review: Review) -> Ending | None:
        """A request for changes becomes one more attempt on top of the proposal, pushed to the same branch."""
        if exhausted := self._attempts.exhausted():
            reason = f"{review.user} requested changes and {exhausted}"
            return Ending(outcome=Outcome.ESCALATED, reason=reason, keeps_proposal=True)
        attempt = await self._lookout.unless_ended(self._attempt_in_place(review), self._bell)
        self._calls.move(known(self._progress.state.host))
        await self._places.free()
        if isinstance(attempt, Decision):
            return None  # the next look finds the same and ends the story
        self._progress.note(handled_reviews=(*self._progress.state.handled_reviews, review.id))
        if isinstance(attempt, AttemptResult) and attempt.patch and attempt.verdict.kind is VerdictKind.FIXED:
            await self._show(attempt, attempt.patch, review)
            return None
        if is_of_ci(review):
            return None  # people see the red check, and it may become green by itself
        if isinstance(attempt, Ending):
            return attempt
        reason = f"the changes {review.user} requested could not be made: {attempt.verdict.reason}"
        return Ending(outcome=Outcome.ESCALATED, reason=reason, keeps_proposal=True)

    async def _show(self, attempt: AttemptResult, patch: Patch, review: Review) -> None:
        """The reviewer's changes on our branch, the proof of them in the body, and a reply."""
        self._progress.enter(Step.PROPOSE)
        try:
            await self._push(patch, expected=self._progress.proposal.head_sha)
        except ActivityError as error:
            if is_a(error, Stale):
                return  # somebody pushed meanwhile: the next look sees it and steps back
            raise
        moved = self._progress.proposal.model_copy(update={"head_sha": patch.commit, "patch_id": patch.patch_id})
        self._progress.note(proposal=moved, pushed_at=workflow.now())
        # The new head was proved on the failing commit alone: an earlier proof on a newer target was for another head.
        self._progress.proved(attempt.verdict, known(self._progress.state.facts).head_sha, self._settings.evidence_ttl)
        await self._update(attempt)
        await self._reply(attempt, review)

    async def _attempt_in_place(self, review: Review) -> AttemptResult | Ending:
        """Once the machine has a place for it."""
        ending = await self._places.take()
        return ending or await self._attempts.again(review)

    def _texts(self, attempt: AttemptResult) -> writes.ProposeRequest:
        state = self._progress.state
        return writes.ProposeRequest(
            sweep=workflow.info().workflow_id,
            facts=known(state.facts),
            diagnosis=known(state.diagnosis),
            attempt=attempt,
            reproduction=known(state.reproduction),
            branch=self._progress.branch,
            expires_in=self._settings.proposal_ttl,
            merges_itself=self._settings.merge_mode is MergeMode.MERGE,
            attempts=without_results(state.attempts),
            attempts_allowed=attempts_allowed(self._settings, state.attempts),
            effects=state.effects,
            effect_key=self._progress.next_key(),
        )

    async def _update(self, attempt: AttemptResult) -> None:
        texts = self._texts(attempt)
        request = writes.UpdateRequest(pull=self._progress.pull, proposal=texts)
        self._progress.intend(names.UPDATE_PROPOSAL.name, request)
        self._progress.done(await self._calls.do(names.UPDATE_PROPOSAL, request))

    async def _reply(self, attempt: AttemptResult, review: Review) -> None:
        request = writes.CommentRequest(
            pull=self._progress.pull,
            effect_key=self._progress.next_key(),
            answered=writes.Answered(
                attempt=attempt,
                reviewer=review.user,
                allowed=attempts_allowed(self._settings, self._progress.state.attempts),
            ),
        )
        self._progress.intend(names.COMMENT.name, request)
        self._progress.done(await self._calls.do(names.COMMENT, request))

    async def _push(self, patch: Patch, expected: str | None) -> None:
        request = writes.PushRequest(
            run=self._sweep.run,
            branch=self._progress.branch,
            commit=patch.commit,
            expected=expected,
            effect_key=self._progress.next_key(),
            patch=patch,
        )
        self._progress.note(pushes=(*self._progress.state.pushes, patch.commit))
        self._progress.intend(names.PUSH_BRANCH.name, request)
        self._progress.done(await self._calls.do(names.PUSH_BRANCH, request))
