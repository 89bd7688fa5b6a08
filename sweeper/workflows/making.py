"""From a turn at the target to a proven fix: prepare, reproduce, fix, verify."""

from sweeper.model import AttemptResult, Ending, Outcome, Reproduction, RunFacts, VerdictKind
from sweeper.policy.admission import admit_fix, admit_run
from sweeper.policy.course import Way, flaky_here
from sweeper.policy.limits import DIFF_TOO_LARGE
from sweeper.workflows.parts import Chapter, Parts
from sweeper.workflows.progress import known
from sweeper.workflows.understanding import Understanding, refused


class Making(Chapter):
    """Makes a fix that is proven on the branch as it is, or says why there is none to propose."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._understanding = Understanding(parts)

    async def until_proven(self) -> AttemptResult | Ending:
        """The attempt to propose. While fixes are made the branch may move on; then what holds there counts."""
        if ending := await self._understanding.until_in():
            return ending
        while True:
            made = await self._made()
            if not isinstance(made, Ending) or not await self._starts_over(made):
                return made

    async def _made(self) -> AttemptResult | Ending:
        if ending := await self._reproduced():
            return ending
        attempt = await self._attempts.until_fixed()
        self._calls.move(known(self._progress.state.host))
        if isinstance(attempt, Ending):
            return attempt
        if attempt.patch is None or attempt.verdict.kind is not VerdictKind.FIXED:
            return _no_fix(attempt)
        if self._settings.report_only:
            return Ending(outcome=Outcome.LEFT_TO_HUMAN, reason="report_only: a fix was verified and not proposed")
        made_for = known(self._progress.state.facts).head_sha
        self._progress.proved(attempt.verdict, made_for, self._settings.evidence_ttl)
        newest = await self._understanding.read_newest_run()
        return refused(admit_fix(newest)) or await self._holds_on_head(attempt, newest) or attempt

    async def _starts_over(self, ending: Ending) -> bool:
        """From a newer run that was left to this sweep, which nobody else sees to, as long as the budget lasts."""
        newer = self._progress.state.newer_run
        is_settled = ending.outcome in (Outcome.ESCALATED, Outcome.LEFT_TO_HUMAN)
        if is_settled or newer is None or newer == known(self._progress.state.facts).run:
            return False
        newest = await self._understanding.read_newest_run()
        if not admit_run(newest).go or not self._attempts.are_left():
            return False
        self._progress.note(facts=newest)
        await self._understanding.understand()
        if self._understanding.course().way is not Way.MAKE:
            return False
        # Asked again, the target learns what it is about now.
        return await self._turns.enter() is None

    async def _reproduced(self) -> Ending | None:
        reproduction = await self._proof.reproduce()
        self._progress.note(reproduction=reproduction)
        if reproduction.is_flaky:
            return await self._flaky()
        refusal = _not_red(
            reproduction, Outcome.NOT_REPRODUCED, "every check passes on the failing commit: nothing to fix"
        )
        return refusal or await self._mended_in_target()

    async def _mended_in_target(self) -> Ending | None:
        """A pull request that only lacks what its target has meanwhile is to be updated, not patched."""
        state = self._progress.state
        tested, newer_base = state.tested, known(state.diagnosis).background.newer_base
        if tested is None or newer_base is None or newer_base == tested.merged_with:
            return None
        merged = tested.model_copy(update={"merged_with": newer_base, "source": "the target as it is now"})
        found = await self._proof.reproduce(tested=merged)
        if found.problem is not None or found.is_flaky or found.is_red:
            return None
        pull = known(known(state.facts).pull)
        reason = f"every check passes once {pull.base_ref} as it is now is merged in: update pull request {pull.number}"
        return Ending(outcome=Outcome.ALREADY_FIXED_ELSEWHERE, reason=reason)

    async def _flaky(self) -> Ending | None:
        """Red and green on the same tree: no code is changed for that. Others go first while it is watched."""
        await self._turns.over(said_no=False)
        await self._places.free()
        return await self._understanding.go_another_way(flaky_here(known(self._progress.state.facts).run.run_attempt))

    async def _holds_on_head(self, attempt: AttemptResult, newest: RunFacts) -> Ending | None:
        """Nobody is asked to review a fix for a failure that is gone, or that does not fit the branch any more."""
        head = known(newest.branch_head)
        if head == self._progress.state.verified_target:
            return None
        gone = f"head_moved: every check passes on {head[:12]}, where {newest.head_branch} is now"
        if ending := _not_red(await self._proof.reproduce(head), Outcome.SUPERSEDED, gone):
            return ending
        verdict = await self._proof.on_target(known(attempt.patch), head)
        if verdict.kind is VerdictKind.FIXED:
            return None
        return Ending(outcome=Outcome.SUPERSEDED, reason=f"head_moved: no fix on {head[:12]}: {verdict.reason}")


def _not_red(reproduction: Reproduction, outcome: Outcome, sentence: str) -> Ending | None:
    if reproduction.problem is not None:
        return Ending(outcome=Outcome.UNVERIFIABLE, reason=reproduction.problem)
    if not reproduction.is_red:
        return Ending(outcome=outcome, reason=sentence)
    return None


def _no_fix(attempt: AttemptResult) -> Ending:
    verdict = attempt.verdict
    if verdict.kind is VerdictKind.UNVERIFIABLE:
        return Ending(outcome=Outcome.UNVERIFIABLE, reason=verdict.reason)
    if any(finding.name == DIFF_TOO_LARGE for finding in verdict.findings):
        reason = f"{DIFF_TOO_LARGE}: {verdict.reason}"
    else:
        reason = f"no verified fix after {attempt.n} attempt(s): {verdict.reason}"
    return Ending(outcome=Outcome.ESCALATED, reason=reason, found_no_fix=True)
