"""Acting on an approval: it grants permission for what the reviewer saw, so the world is checked first."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError

from sweeper.activities import names
from sweeper.errors import MergeRefused
from sweeper.model import Evidence, Outcome, Step, SweepInput, SweepState, Verdict, VerdictKind, World
from sweeper.policy.freshness import REVERIFIABLE, freshness
from sweeper.policy.next_step import Act, Decision
from sweeper.workflows.calls import Calls, is_a, sentence_of
from sweeper.workflows.progress import Progress, known

Look = Callable[[], Awaitable[tuple[Decision, World]]]


def verdict_evidence(state: SweepState, verdict: Verdict, ttl: timedelta) -> Evidence:
    """A verdict as evidence: it is about a patch, on a tree, from now on."""
    now = workflow.now()
    return Evidence(
        kind="verdict",
        subject=verdict.patch_id,
        digest=verdict.tree,
        version=1 + max((item.version for item in state.evidence), default=0),
        captured_at=now,
        expires_at=now + ttl,
    )


class Approval:
    """revalidate -> merge. Whatever does not hold any more becomes a wait or an ending, never a merge."""

    def __init__(self, sweep: SweepInput, progress: Progress, calls: Calls) -> None:
        self._sweep = sweep
        self._settings = sweep.settings
        self._progress = progress
        self._calls = calls

    async def act(self, seen: World, look: Look) -> Decision:
        """Prove again what has gone stale, look once more, then merge exactly what was seen."""
        self._progress.enter(Step.REVALIDATE)
        state = self._progress.state
        verified_target = state.verified_target or ""
        stale = freshness(self._progress.proposal, verified_target, state.evidence, seen, workflow.now())
        if any(reason not in REVERIFIABLE for reason in stale):
            return Decision(act=Act.WAIT, reason=f"fresh evidence ({', '.join(stale)})")
        if stale and seen.target_head is not None:
            verdict = await self._prove_again(seen.target_head)
            if verdict.kind is not VerdictKind.FIXED:
                reason = f"no longer proved on the target as it is now: {verdict.reason}"
                return Decision(act=Act.END, outcome=Outcome.EXPIRED, reason=reason)
        decision, world = await look()
        if decision.act is not Act.MERGE:
            return decision
        if world.target_head != self._progress.state.verified_target:
            return Decision(act=Act.WAIT, reason="the target to stand still", look_at=workflow.now())
        return await self._merge(decision)

    async def _merge(self, decision: Decision) -> Decision:
        self._progress.enter(Step.MERGE)
        request = names.MergeRequest(
            pull=self._progress.pull, head_sha=self._progress.proposal.head_sha, effect_key=self._progress.next_key()
        )
        self._progress.intend("pull.merge", names.MERGE.name, request)
        try:
            self._progress.done(await self._calls.do(names.MERGE, request))
        except ActivityError as error:
            if not is_a(error, MergeRefused):
                raise
            return Decision(act=Act.WAIT, reason=f"GitHub to allow the merge ({sentence_of(error)[:120]})")
        return Decision(act=Act.END, outcome=Outcome.MERGED, reason=decision.reason)

    async def _prove_again(self, target_head: str) -> Verdict:
        state = self._progress.state
        patch = known(state.attempts[-1].patch)
        sweep_id = workflow.info().workflow_id
        plan = known(state.plan)
        verdict = await self._calls.do(
            names.REVALIDATE,
            names.RevalidateRequest(
                verify=names.VerifyRequest(
                    sweep=sweep_id,
                    name=f"{sweep_id}.revalidate",
                    repository_id=self._sweep.run.repository_id,
                    commit=self._progress.proposal.head_sha,
                    patch=patch,
                    plan=plan,
                    reproduction=known(state.reproduction),
                    limits=self._settings.limits,
                    check_timeout=self._settings.timeouts.check,
                ),
                facts=known(state.facts),
                target_head=target_head,
            ),
            scale=2 * len(plan.checks),
        )
        if verdict.kind is VerdictKind.FIXED:
            proof = verdict_evidence(state, verdict, self._settings.evidence_ttl)
            self._progress.note(verified_target=target_head, evidence=(proof,))
        return verdict
