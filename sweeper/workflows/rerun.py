"""A failure that is not the code's: its jobs run again, once, and what comes of it is watched."""

from temporalio import workflow

from sweeper.activities import names, writes
from sweeper.model import EffectState, Ending, Outcome, RunFacts
from sweeper.model.sweep import Watched
from sweeper.policy.course import Course, Way
from sweeper.workflows.parts import Chapter
from sweeper.workflows.progress import known
from sweeper.workflows.waits import until_earliest

WATCHED = "the failed jobs to run again"


class Rerun(Chapter):
    """Never a change of code. GitHub's attempt counter keeps a repeat from running anything twice."""

    async def once(self, course: Course) -> Ending:
        """How the sweep ends. An attempt that fails again has a sweep of its own."""
        if self._settings.report_only:
            return Ending(outcome=course.outcome, reason=f"report_only: not run again; {course.reason}")
        if course.way is Way.RERUN_LATER:
            self._progress.wait("what is down to be up again", workflow.now() + self._settings.poll_interval)
            await self._bell.sleep(self._settings.poll_interval)
        run = known(self._progress.state.facts).run
        request = writes.RerunRequest(run=run, effect_key=self._progress.next_key())
        self._progress.intend(names.RERUN_FAILED.name, request)
        effect = await self._calls.do(names.RERUN_FAILED, request)
        self._progress.done(effect)
        if effect.state is EffectState.SKIPPED:
            return Ending(outcome=course.outcome, reason=f"{course.reason}; not run again: {effect.note}")
        self._progress.note(watched=Watched(outcome=course.outcome, reason=course.reason))
        return await self.watch()

    async def watch(self) -> Ending:
        """Until the newest attempt has ended; a sweep that was continued as new goes on here."""
        run, why = known(self._progress.state.facts).run, known(self._progress.state.watched)
        while True:
            self._bell.rung = False
            newest = await self._calls.do(names.NEWEST_ATTEMPT, run)
            if newest.run.run_attempt > run.run_attempt and newest.status == "completed":
                return _ended(newest, why)
            give_up_at = self._progress.patient_until
            if workflow.now() >= give_up_at:
                return Ending(outcome=Outcome.EXPIRED, reason=f"the re-run did not end; {why.reason}")
            self._progress.wait(WATCHED, give_up_at)
            self._progress.continue_as_new_if_long()
            await self._bell.wait(until_earliest(give_up_at, workflow.now() + self._settings.poll_interval))


def _ended(newest: RunFacts, why: Watched) -> Ending:
    attempt = newest.run.run_attempt
    if newest.conclusion == "success":
        return Ending(outcome=why.outcome, reason=f"attempt {attempt} passed without a change; {why.reason}")
    ended = f"attempt {attempt} ended as {newest.conclusion or 'nothing known'}"
    if newest.has_failed:
        return Ending(outcome=Outcome.SUPERSEDED, reason=f"{ended} as well and has a sweep of its own")
    return Ending(outcome=why.outcome, reason=f"{ended}; {why.reason}")
