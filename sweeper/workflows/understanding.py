"""From the trigger to a turn at the target: is there something to fix, what is it, and whose business is it?"""

from temporalio import workflow

from sweeper.activities import names, requests
from sweeper.model import Ending, Outcome, RunFacts, Step
from sweeper.policy.admission import Admission, admit_run
from sweeper.policy.course import Course, Way, course
from sweeper.workflows.check_run import CheckRun
from sweeper.workflows.parts import Chapter, Parts
from sweeper.workflows.progress import known
from sweeper.workflows.rerun import Rerun
from sweeper.workflows.waits import until_earliest

LARGE_LOGS = 8
"""A log of the largest size takes about ten seconds to fetch and as long to read, and several jobs may have one."""


class Understanding(Chapter):
    """admit, collect, diagnose, enter. Whatever is not for a change of code ends here."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._rerun = Rerun(parts)

    async def until_in(self) -> Ending | None:
        """None: there is something to fix, it is understood, and it is this sweep's turn."""
        if self._progress.state.watched is not None:
            return await self._rerun.watch()
        self._progress.enter(Step.ADMIT)
        if ending := await self._admitted(patient=True):
            return ending
        if ending := await self._understand_and_enter():
            return ending
        if not self._settings.report_only:
            await CheckRun(self._sweep.run, self._progress, self._calls).begin()
        return None

    async def read_newest_run(self) -> RunFacts:
        """The newest failing run there is of this failure, as it is now."""
        return await self._calls.do(names.ADMIT, self._progress.newest_run)

    async def _admitted(self, *, patient: bool) -> Ending | None:
        """None: there is something to fix, by the newest run. `patient`: until it has ended; that may take days."""
        while True:
            self._bell.rung = False
            facts = await self.read_newest_run()
            self._progress.note(facts=facts)
            admission = admit_run(facts)
            if ending := refused(admission):
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
            await self.understand()
            if ending := await self.go_another_way(self.course()):
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

    def course(self) -> Course:
        """What the diagnosis leads to."""
        return course(known(self._progress.state.diagnosis), known(self._progress.state.plan))

    async def go_another_way(self, chosen: Course) -> Ending | None:
        """None: a fix is to be made. What is told to people instead stands on the failing commit."""
        if chosen.way is Way.MAKE:
            return None
        if not self._settings.report_only:
            CheckRun(self._sweep.run, self._progress, self._calls).mark()
        if chosen.way is Way.END:
            return Ending(outcome=chosen.outcome, reason=chosen.reason)
        return await self._rerun.once(chosen)

    async def understand(self) -> None:
        """What failed, how it shows and what else is known of it, from the run as it was read last."""
        facts = known(self._progress.state.facts)
        self._progress.enter(Step.COLLECT)
        collected = await self._calls.do(
            names.COLLECT,
            requests.CollectRequest(facts=facts, evidence_ttl=self._settings.evidence_ttl),
            scale=LARGE_LOGS,
        )
        self._progress.note(jobs=collected.jobs, evidence=collected.evidence)
        self._progress.enter(Step.DIAGNOSE)
        diagnosed = await self._calls.do(
            names.DIAGNOSE,
            requests.DiagnoseRequest(
                facts=facts,
                jobs=collected.jobs,
                checks=self._settings.checks,
                background=collected.background,
                limits=self._settings.limits,
            ),
            scale=LARGE_LOGS,
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
            limits=diagnosed.limits,
        )


def refused(admission: Admission) -> Ending | None:
    """How the sweep ends if it is not admitted."""
    if admission.outcome is None:
        return None
    return Ending(outcome=admission.outcome, reason=admission.reason)
