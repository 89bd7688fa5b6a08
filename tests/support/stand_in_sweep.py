"""A workflow in the place of the real sweep: it does what a test tells it, so that its history and memo are known."""

from datetime import timedelta
from typing import TypeVar

from temporalio import activity, workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from sweeper import ids
    from sweeper.activities import names, requests
    from sweeper.model import (
        AttemptResult,
        CheckPlan,
        Effect,
        EffectState,
        Outcome,
        RunFacts,
        RunRef,
        Step,
        SweepInput,
        SweepResult,
        Trigger,
        Wire,
    )
    from sweeper.ports import OpenedPull
    from sweeper.workflows.progress import SIGNATURE, TARGET, Progress
    from tests.support import values

T = TypeVar("T", bound="Wire")
SIGNED = "signed "
FINISH, WORK, ANEW, FAIL, BREAK = "finish", "work", "anew", "fail", "break"


@workflow.defn(name="attempt")
class StandInAttempt:
    @workflow.run
    async def run(self) -> AttemptResult:
        return values.attempt()


@workflow.defn(name="sweep")
class StandInSweep:
    """Told by `tell`: finish, work (an activity of each kind), anew (continue as new), fail, break, `signed <word>`, or
    a target.
    """

    @workflow.init
    def __init__(self, sweep: SweepInput) -> None:
        self._sweep = sweep
        self._progress = Progress(sweep)
        self._told: list[str] = []

    @workflow.run
    async def run(self, sweep: SweepInput) -> SweepResult:
        while True:
            await workflow.wait_condition(lambda: bool(self._told))
            word = self._told[0]
            if word == FINISH:
                self._progress.finish(Outcome.MERGED, "told to")
                return SweepResult(outcome=Outcome.MERGED, reason="told to", state=self._progress.state)
            await self._do(word)
            self._told.pop(0)

    async def _do(self, word: str) -> None:
        match word:
            case "work":
                await self._work()
            case "anew":
                workflow.continue_as_new(self._sweep.model_copy(update={"state": self._progress.state}))
            case "fail":
                raise ApplicationError("told to fail", non_retryable=True)
            case "break":
                raise ValueError("told to break")
            case word if word.startswith(SIGNED):
                workflow.upsert_search_attributes([SIGNATURE.value_set(word.removeprefix(SIGNED))])
            case target:
                workflow.upsert_search_attributes([TARGET.value_set(target)])

    async def _work(self) -> None:
        self._progress.note(facts=await _ask(names.ADMIT.name, RunFacts, self._sweep.run))
        await _ask(names.DIAGNOSE.name, requests.Diagnosed, self._sweep.run)
        attempt = await workflow.execute_child_workflow("attempt", result_type=AttemptResult)
        self._progress.note(attempts=(attempt,))
        self._progress.done(await _ask(names.PUSH_BRANCH.name, Effect, self._sweep.run))
        opened = await _ask(names.OPEN_PROPOSAL.name, OpenedPull, self._sweep.run)
        self._progress.note(proposal=opened.proposal)
        self._progress.done(opened.effect)
        self._progress.enter(Step.AWAIT_REVIEW)

    @workflow.signal
    def look(self) -> None:
        """A ring."""

    @workflow.signal
    def cancel(self, reason: str) -> None:
        self._progress.note(cancel_reason=reason)

    @workflow.signal
    def note(self, trigger: Trigger) -> None:
        self._progress.asked_by(trigger)

    @workflow.signal
    def tell(self, word: str) -> None:
        self._told.append(word)

    @workflow.update
    async def settle(self) -> None:
        """Returns when all that was told is done."""
        await workflow.wait_condition(lambda: not self._told)


async def _ask(name: str, kind: type[T], run: RunRef) -> T:
    answer: T = await workflow.execute_activity(
        name, run, result_type=kind, start_to_close_timeout=timedelta(seconds=10)
    )
    return answer


@activity.defn(name=names.ADMIT.name)
async def admit(run: RunRef) -> RunFacts:
    return values.run_facts(run=run)


@activity.defn(name=names.DIAGNOSE.name)
async def diagnose(run: RunRef) -> requests.Diagnosed:
    return requests.Diagnosed(diagnosis=values.diagnosis(), plan=CheckPlan(source="workflow file"))


@activity.defn(name=names.PUSH_BRANCH.name)
async def push_branch(run: RunRef) -> Effect:
    return effect("branch.push", 1)


@activity.defn(name=names.OPEN_PROPOSAL.name)
async def open_proposal(run: RunRef) -> OpenedPull:
    return OpenedPull(proposal=values.proposal(), effect=effect("pull.create", 2))


def effect(name: str, ordinal: int) -> Effect:
    return Effect(key=ids.effect_key("sweep-1-1", "propose", ordinal), name=name, state=EffectState.CREATED)


WORKFLOWS = (StandInSweep, StandInAttempt)
ACTIVITIES = (admit, diagnose, push_branch, open_proposal)
