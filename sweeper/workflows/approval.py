"""Acting on an approval: it grants permission for what the reviewer saw, so the world is checked first."""

from temporalio import workflow
from temporalio.exceptions import ActivityError

from sweeper.activities import names, writes
from sweeper.errors import MergeRefused
from sweeper.model import Outcome, Step, VerdictKind, World
from sweeper.policy.freshness import REVERIFIABLE, freshness
from sweeper.policy.next_step import Act, Decision
from sweeper.workflows.calls import is_a, sentence_of
from sweeper.workflows.lookout import Lookout
from sweeper.workflows.parts import Chapter, Parts


class Approval(Chapter):
    """revalidate -> merge or hand over. What does not hold any more becomes a wait or an ending, never a merge."""

    def __init__(self, parts: Parts, lookout: Lookout) -> None:
        super().__init__(parts)
        self._lookout = lookout

    async def act(self, seen: World) -> Decision:
        """Prove again what has gone stale, look once more, then merge exactly what was seen, or hand it over."""
        self._progress.enter(Step.REVALIDATE)
        if (refusal := await self._proved(seen)) is not None:
            return refusal
        decision, world = await self._lookout.look()
        if world is None or decision.act not in (Act.MERGE, Act.HAND_OVER):
            return decision
        if world.target_head != self._progress.state.verified_target:
            return Decision(act=Act.WAIT, reason="the target to stand still", look_at=workflow.now())
        if decision.act is Act.HAND_OVER:
            self._progress.note(handed_over=decision.review.id if decision.review else None)
            return Decision(act=Act.WAIT, reason="a human's merge")
        return await self._merge(decision)

    async def _proved(self, seen: World) -> Decision | None:
        """None: the proof holds for the target as it is now."""
        state = self._progress.state
        verified_target = state.verified_target or ""
        stale = freshness(self._progress.proposal, verified_target, state.evidence, seen, workflow.now())
        if any(reason not in REVERIFIABLE for reason in stale):
            return Decision(act=Act.WAIT, reason=f"fresh evidence ({', '.join(stale)})")
        if not stale or seen.target_head is None:
            return None
        proof = self._proof.on_target(self._progress.proposed_patch, seen.target_head)
        verdict = await self._lookout.unless_ended(proof, self._bell)
        if isinstance(verdict, Decision):
            return verdict
        if verdict.kind is VerdictKind.FIXED:
            return None
        reason = f"no longer proved on the target as it is now: {verdict.reason}"
        return Decision(act=Act.END, outcome=Outcome.EXPIRED, reason=reason)

    async def _merge(self, decision: Decision) -> Decision:
        self._progress.enter(Step.MERGE)
        request = writes.MergeRequest(
            pull=self._progress.pull,
            head_sha=self._progress.proposal.head_sha,
            target_head=self._progress.state.verified_target,
            effect_key=self._progress.next_key(),
        )
        self._progress.intend(names.MERGE.name, request)
        try:
            self._progress.done(await self._calls.do(names.MERGE, request))
        except ActivityError as error:
            if not is_a(error, MergeRefused):
                raise
            self._progress.refused()
            return Decision(act=Act.WAIT, reason=f"GitHub to allow the merge ({sentence_of(error)[:120]})")
        return Decision(act=Act.END, outcome=Outcome.MERGED, reason=decision.reason)
