"""Upkeep: one workflow per service that sees to what no sweep can see to itself.

It passes from time to time and when a worker starts: failed runs that nobody told us of get their sweeps, what is left
of sweeps that are gone is adopted or undone, and who cannot go on by itself is told to the operator.
"""

from datetime import datetime, timedelta

from temporalio import workflow

from sweeper.activities import care, names, requests
from sweeper.model.upkeep import Alert, Alerted, Rung, StuckCase, UpkeepInput, UpkeepMemo
from sweeper.workflows.errands import Errands
from sweeper.workflows.orphans import AT_ONCE, Orphans
from sweeper.workflows.waits import Bell

WORKFLOW_ID = "upkeep"
MEMO = "upkeep"
OVERLAP = timedelta(minutes=10)
"""GitHub's lists lag behind, and its clock is not ours; a run that is seen twice has one sweep."""


@workflow.defn(name="upkeep")
class UpkeepWorkflow:
    """Passes until somebody ends it. Everything it does may be done twice, so its record may be lost without harm."""

    @workflow.init
    def __init__(self, upkeep: UpkeepInput) -> None:
        self._settings = upkeep.settings
        self._errands = Errands(upkeep.state)
        self._bell = Bell()

    @workflow.signal(name="look")
    def look(self, rung: Rung) -> None:
        """A worker has started: pass at once, with its settings."""
        self._settings = rung.settings
        self._errands.note(hosts={**self._errands.state.hosts, rung.host: workflow.now()})
        self._bell.rung = True

    @workflow.run
    async def run(self, upkeep: UpkeepInput) -> None:
        """One pause and one pass; then as new.

        In this order, so that where it waits there is nothing behind it: other code may go on from there.
        """
        if upkeep.pause and not self._bell.rung:
            await self._bell.wait(upkeep.pause)
        self._bell.rung = False
        pause = await self._pass()
        again = UpkeepInput(
            settings=self._settings, state=self._errands.state, pause=timedelta(0) if self._bell.rung else pause
        )
        workflow.continue_as_new(again, memo=self._memo())

    async def _pass(self) -> timedelta:
        """How long to wait after it."""
        now = workflow.now()
        self._errands.note(problems=(), last_pass=now)
        is_pending = False
        overview = await self._errands.run(names.LIST_REPOSITORIES, requests.Nothing())
        if overview is not None:
            if overview.problem:
                self._errands.note_problems(overview.problem)
            await self._find_missed(overview, now)
            is_pending = await Orphans(self._errands).tidy(overview, self._settings.grace)
        await self._find_stuck()
        return min(self._settings.interval, self._settings.grace) if is_pending else self._settings.interval

    async def _find_missed(self, overview: care.Overview, now: datetime) -> None:
        seen, first = self._errands.state.seen, now - self._settings.lookback
        watched = [
            care.Watched(repository=repository, since=seen.get(str(repository.id), first + OVERLAP) - OVERLAP)
            for repository in overview.repositories
            if repository.name
        ]
        for start in range(0, len(watched), AT_ONCE):
            request = care.MissedRequest(watched=tuple(watched[start : start + AT_ONCE]))
            missed = await self._errands.run(names.FIND_MISSED_RUNS, request)
            if missed is None:
                break
            seen = {**seen, **missed.seen}
            self._errands.note_problems(*missed.problems)
            if missed.until is not None:
                self._errands.note_problems(f"GitHub's rate limit ended the look at runs until {missed.until}")
                break
        self._errands.note(seen=seen)

    async def _find_stuck(self) -> None:
        found = await self._errands.run(names.FIND_STUCK, requests.Nothing())
        if found is None:
            return
        told = {alerted.key: alerted for alerted in self._errands.state.alerted}
        for case in found.cases:
            told[case.key] = await self._alert(case, told.get(case.key))
        going_on = {case.key for case in found.cases}
        self._errands.note(alerted=tuple(alerted for key, alerted in told.items() if key in going_on))

    async def _alert(self, case: StuckCase, alerted: Alerted | None) -> Alerted:
        """By each channel once; a channel that failed is tried again by the next pass, under the same id."""
        alerted = alerted or Alerted(key=case.key, since=workflow.now())
        alert = Alert(id=f"{case.key}/{alerted.since:%Y%m%dT%H%M%S}", case=case)
        for channel in self._settings.channels:
            if channel not in alerted.channels:
                request = care.AlertRequest(alert=alert, channel=channel)
                if await self._errands.run(names.SEND_ALERT, request) is not None:
                    alerted = alerted.model_copy(update={"channels": (*alerted.channels, channel)})
        return alerted

    def _memo(self) -> dict[str, object]:
        state = self._errands.state
        left = dict(list(state.left.items())[:10])
        told = UpkeepMemo(last_pass=state.last_pass, done=state.done[-5:], left=left, problems=state.problems[:5])
        return {MEMO: told}
