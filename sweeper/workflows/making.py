"""From the trigger to a proven fix: admit, collect, diagnose, enter, prepare, reproduce, fix, verify."""

from temporalio import workflow

from sweeper.activities import names, requests
from sweeper.model import AttemptResult, Ending, Outcome, Reproduction, RunFacts, Step, VerdictKind
from sweeper.policy.admission import Admission, admit_fix, admit_run
from sweeper.policy.course import Course, Way, course
from sweeper.policy.limits import DIFF_TOO_LARGE
from sweeper.workflows.check_run import CheckRun
from sweeper.workflows.parts import Chapter, Parts
from sweeper.workflows.progress import known
from sweeper.workflows.rerun import Rerun
from sweeper.workflows.waits import until_earliest


class Making(Chapter):
    """Makes a fix that is proven on the branch as it is, or says why there is none to propose."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._rerun = Rerun(parts)

    async def until_proven(self) -> AttemptResult | Ending:
        """The attempt to propose. While fixes are made the branch may move on; then what holds there counts."""
        if ending := await self._begun():
            return ending
        while True:
            made = await self._made()
            if not isinstance(made, Ending) or not await self._starts_over(made):
                return made

    async def _made(self) -> AttemptResult | Ending:
        if ending := await self._reproduced():
            return ending
        attempt = await self._attempts.until_fixed()
        if attempt.patch is None or attempt.verdict.kind is not VerdictKind.FIXED:
            return _no_fix(attempt)
        if self._settings.report_only:
            return Ending(outcome=Outcome.LEFT_TO_HUMAN, reason="report_only: a fix was verified and not proposed")
        made_for = known(self._progress.state.facts).head_sha
        self._progress.proved(attempt.verdict, made_for, self._settings.evidence_ttl)
        newest = await self._read_newest_run()
        return _refused(admit_fix(newest)) or await self._holds_on_head(attempt, newest) or attempt

    async def _starts_over(self, ending: Ending) -> bool:
        """From a newer run that was left to this sweep, which nobody else sees to, as long as the budget lasts."""
        newer = self._progress.state.newer_run
        is_settled = ending.outcome in (Outcome.ESCALATED, Outcome.LEFT_TO_HUMAN)
        if is_settled or newer is None or newer == known(self._progress.state.facts).run:
            return False
        newest = await self._read_newest_run()
        if not admit_run(newest).go or not self._attempts.are_left():
            return False
        self._progress.note(facts=newest)
        await self._understand()
        if self._course().way is not Way.MAKE:
            return False
        # Asked again, the target learns what it is about now.
        return await self._turns.enter() is None

    async def _begun(self) -> Ending | None:
        """None: there is something to fix, it is understood, and it is this sweep's turn."""
        self._progress.enter(Step.ADMIT)
        if ending := await self._admitted(patient=True):
            return ending
        if ending := await self._understand_and_enter():
            return ending
        if not self._settings.report_only:
            await CheckRun(self._sweep.run, self._progress, self._calls).begin()
        return None

    async def _read_newest_run(self) -> RunFacts:
        """The newest failing run there is of this failure, as it is now."""
        return await self._calls.do(names.ADMIT, self._progress.newest_run)

    async def _admitted(self, *, patient: bool) -> Ending | None:
        """None: there is something to fix, by the newest run. `patient`: until it has ended; that may take days."""
        while True:
            self._bell.rung = False
            facts = await self._read_newest_run()
            self._progress.note(facts=facts)
            admission = admit_run(facts)
            if ending := _refused(admission):
                return ending
            if admission.go or not patient:
                return None
            give_up_at = self._progress.patient_until
            if workflow.now() >= give_up_at:
                return Ending(outcome=Outcome.EXPIRED, reason=admission.reason)
            self._progress.wait("the run to end", give_up_at)
            self._progress.continue_as_new_if_long()
            await self._bell.wait(until_earliest(give_up_at, workflow.now() + self._settings.poll_interval))

    async def _understand_and_enter(self) -> Ending | None:
        """In at the target with facts that hold: after a wait the run is read again, a newer one understood anew."""
        while True:
            facts = known(self._progress.state.facts)
            await self._understand()
            if ending := await self._other_way(self._course()):
                return ending
            began = workflow.now()
            if ending := await self._turns.enter() or await self._places.take():
                return ending
            has_waited = workflow.now() - began > self._settings.timeouts.read
            if not has_waited and self._progress.state.newer_run is None:
                return None
            if ending := await self._admitted(patient=False):
                return ending
            if known(self._progress.state.facts).run == facts.run:
                return None

    def _course(self) -> Course:
        return course(known(self._progress.state.diagnosis), known(self._progress.state.plan))

    async def _other_way(self, chosen: Course) -> Ending | None:
        """None: a fix is to be made. What is told to people instead stands on the failing commit."""
        if chosen.way is Way.MAKE:
            return None
        if not self._settings.report_only:
            CheckRun(self._sweep.run, self._progress, self._calls).mark()
        if chosen.way is Way.END:
            return Ending(outcome=chosen.outcome, reason=chosen.reason)
        return await self._rerun.once(chosen)

    async def _understand(self) -> None:
        facts = known(self._progress.state.facts)
        self._progress.enter(Step.COLLECT)
        collected = await self._calls.do(
            names.COLLECT, requests.CollectRequest(facts=facts, evidence_ttl=self._settings.evidence_ttl)
        )
        self._progress.note(jobs=collected.jobs, evidence=collected.evidence)
        self._progress.enter(Step.DIAGNOSE)
        diagnosed = await self._calls.do(
            names.DIAGNOSE,
            requests.DiagnoseRequest(
                facts=facts, jobs=collected.jobs, checks=self._settings.checks, background=collected.background
            ),
        )
        sweep_id = workflow.info().workflow_id
        background = await self._calls.do(
            names.LOOK_ABOUT,
            requests.LookAboutRequest(sweep=sweep_id, facts=facts, diagnosis=diagnosed.diagnosis),
        )
        self._progress.note(
            diagnosis=diagnosed.diagnosis.model_copy(update={"background": background}),
            plan=diagnosed.plan,
            tested=diagnosed.tested,
            protected=diagnosed.protected,
        )

    async def _reproduced(self) -> Ending | None:
        reproduction = await self._proof.reproduce()
        self._progress.note(reproduction=reproduction)
        if reproduction.is_flaky:
            return await self._flaky()
        return _not_red(
            reproduction, Outcome.NOT_REPRODUCED, "every check passes on the failing commit: nothing to fix"
        )

    async def _flaky(self) -> Ending | None:
        """Red and green on the same tree: no code is changed for that. Others go first while it is watched."""
        await self._turns.over(said_no=False)
        await self._places.free()
        run, reason = known(self._progress.state.facts).run, "flaky: the same tree passes and fails here"
        way = Way.RERUN if run.run_attempt == 1 else Way.END
        return await self._other_way(Course(way=way, outcome=Outcome.FLAKY, reason=reason))

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


def _refused(admission: Admission) -> Ending | None:
    if admission.outcome is None:
        return None
    return Ending(outcome=admission.outcome, reason=admission.reason)


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
        return Ending(outcome=Outcome.ESCALATED, reason=f"{DIFF_TOO_LARGE}: {verdict.reason}")
    return Ending(outcome=Outcome.ESCALATED, reason=f"no verified fix after {attempt.n} attempt(s): {verdict.reason}")
