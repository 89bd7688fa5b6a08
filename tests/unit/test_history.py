"""A sweep's state is read back from recorded events alone."""

from datetime import UTC, datetime

import pytest
from pydantic import BaseModel
from temporalio.api.common.v1 import ActivityType, Payload, Payloads, WorkflowType
from temporalio.api.history.v1 import (
    ActivityTaskCompletedEventAttributes,
    ActivityTaskScheduledEventAttributes,
    ChildWorkflowExecutionCompletedEventAttributes,
    HistoryEvent,
    WorkflowExecutionCompletedEventAttributes,
    WorkflowExecutionSignaledEventAttributes,
    WorkflowExecutionStartedEventAttributes,
)
from temporalio.contrib.pydantic import pydantic_data_converter

from adapters.temporal.history import result_of, state_of
from sweeper.activities import names, requests
from sweeper.errors import Bug
from sweeper.model import (
    CheckPlan,
    Effect,
    EffectState,
    Evidence,
    Outcome,
    Step,
    SweepInput,
    SweepResult,
    SweepState,
    Trigger,
    TriggerSource,
)
from sweeper.ports import OpenedPull
from tests.support import values

CONVERTER = pydantic_data_converter.payload_converter
GARBAGE = Payloads(payloads=[Payload(metadata={"encoding": b"json/plain"}, data=b"{not json")])
TRIGGER = Trigger(source=TriggerSource.CLI)


def encoded(*given: BaseModel | str) -> Payloads:
    return Payloads(payloads=CONVERTER.to_payloads(given))


class Recorded:
    """A history under construction; event ids count up as the server's do."""

    def __init__(self, state: SweepState | None = None) -> None:
        given = SweepInput(run=values.run_ref(), trigger=TRIGGER, state=state)
        self.events: list[HistoryEvent] = []
        started = self._add()
        started.event_time.FromDatetime(values.NOW)
        started.workflow_execution_started_event_attributes.CopyFrom(
            WorkflowExecutionStartedEventAttributes(input=encoded(given))
        )

    def activity(self, name: str, result: BaseModel | Payloads) -> "Recorded":
        scheduled = self._add()
        scheduled.activity_task_scheduled_event_attributes.CopyFrom(
            ActivityTaskScheduledEventAttributes(activity_type=ActivityType(name=name))
        )
        self._add().activity_task_completed_event_attributes.CopyFrom(
            ActivityTaskCompletedEventAttributes(
                scheduled_event_id=scheduled.event_id,
                result=result if isinstance(result, Payloads) else encoded(result),
            )
        )
        return self

    def child(self, name: str, result: BaseModel) -> "Recorded":
        self._add().child_workflow_execution_completed_event_attributes.CopyFrom(
            ChildWorkflowExecutionCompletedEventAttributes(
                workflow_type=WorkflowType(name=name), result=encoded(result)
            )
        )
        return self

    def signal(self, name: str, *args: str | BaseModel) -> "Recorded":
        self._add().workflow_execution_signaled_event_attributes.CopyFrom(
            WorkflowExecutionSignaledEventAttributes(signal_name=name, input=encoded(*args))
        )
        return self

    def completed(self, result: Payloads) -> "Recorded":
        self._add().workflow_execution_completed_event_attributes.CopyFrom(
            WorkflowExecutionCompletedEventAttributes(result=result)
        )
        return self

    def state(self) -> SweepState:
        return state_of(self.events, CONVERTER)

    def _add(self) -> HistoryEvent:
        event = HistoryEvent(event_id=len(self.events) + 1)
        self.events.append(event)
        return event


def effect(name: str, ordinal: int = 1) -> Effect:
    return Effect(key=f"sweep-1-1/propose/{ordinal}", name=name, state=EffectState.CREATED)


def test_a_sweep_that_has_only_begun_knows_when_and_why() -> None:
    assert Recorded().state() == SweepState(started_at=values.NOW, triggers=(TRIGGER,))


def test_each_activity_leaves_what_the_workflow_keeps_of_it() -> None:
    plan = CheckPlan(source="workflow file")
    proof = Evidence(
        kind="log", subject="7", digest="sha256:0", version=1, captured_at=values.NOW, expires_at=values.NOW
    )
    state = (
        Recorded()
        .activity("admit", values.run_facts())
        .activity("collect", requests.Collected(jobs=(values.job(),), evidence=(proof,)))
        .activity("diagnose", requests.Diagnosed(diagnosis=values.diagnosis(), plan=plan))
        .activity("choose_host", requests.HostChoice(host="one"))
        .activity("reproduce", values.reproduction())
        .state()
    )
    assert state.facts == values.run_facts()
    assert (state.jobs, state.evidence) == ((values.job(),), (proof,))
    assert (state.diagnosis, state.plan) == (values.diagnosis(), plan)
    assert state.host == "one"
    assert state.reproduction == values.reproduction()


@pytest.mark.parametrize("name", ["push_branch", "comment", "close_proposal", "merge", "delete_branch"])
def test_each_write_leaves_its_effect(name: str) -> None:
    assert Recorded().activity(name, effect("some.effect")).state().effects == (effect("some.effect"),)


def test_every_activity_that_gives_an_effect_is_read() -> None:
    for act in names.ALL:
        if act.gives is Effect:
            assert Recorded().activity(act.name, effect("any")).state().effects, act.name


def test_effects_stand_in_the_order_they_happened() -> None:
    opened = OpenedPull(proposal=values.proposal(), effect=effect("pull.create", 2))
    state = Recorded().activity("push_branch", effect("branch.push")).activity("open_proposal", opened).state()
    assert [done.name for done in state.effects] == ["branch.push", "pull.create"]
    assert state.proposal == values.proposal()


def test_attempts_come_from_the_child_workflows_of_that_name() -> None:
    first, second = values.attempt(1), values.attempt(2)
    recorded = Recorded().child("attempt", first).child("something_else", first).child("attempt", second)
    assert recorded.state().attempts == (first, second)


def test_what_was_carried_over_is_built_upon() -> None:
    carried = SweepState(
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        step=Step.AWAIT_REVIEW,
        effects=(effect("branch.push"),),
        attempts=(values.attempt(1),),
        handled_reviews=(5,),
    )
    state = Recorded(carried).activity("merge", effect("pull.merge", 2)).child("attempt", values.attempt(2)).state()
    assert [done.name for done in state.effects] == ["branch.push", "pull.merge"]
    assert [attempt.n for attempt in state.attempts] == [1, 2]
    assert (state.started_at, state.handled_reviews) == (carried.started_at, (5,))


def test_the_reason_of_a_cancel_is_kept_and_other_signals_are_not() -> None:
    assert Recorded().signal("look").signal("cancel", "not needed").state().cancel_reason == "not needed"
    assert Recorded().signal("look").state().cancel_reason is None


def test_what_else_asked_for_the_sweep_is_kept_once() -> None:
    other = Trigger(source=TriggerSource.DISPATCH, request_id="r2")
    recorded = Recorded().signal("note", other).signal("note", other).signal("note", "garbage")
    assert recorded.state().triggers == (TRIGGER, other)


def test_a_push_of_requested_changes_moves_the_proposals_head() -> None:
    first, second = values.attempt(1), values.attempt(2)
    patch = values.patch(commit="e" * 40, patch_id="f" * 40)
    opened = OpenedPull(proposal=values.proposal(), effect=effect("pull.create"))
    recorded = Recorded().child("attempt", first).activity("push_branch", pushed(values.patch().commit))
    recorded.activity("open_proposal", opened).child("attempt", second.model_copy(update={"patch": patch}))
    assert recorded.state().proposal == values.proposal()
    told = recorded.activity("push_branch", pushed(patch.commit)).state().proposal
    assert told == values.proposal().model_copy(update={"head_sha": "e" * 40, "patch_id": "f" * 40})


def pushed(commit: str) -> Effect:
    return effect("branch.push").model_copy(update={"ref": f"refs/heads/sweeper/1-1@{commit}"})


def test_an_answer_nobody_can_read_is_passed_over() -> None:
    state = Recorded().activity("admit", GARBAGE).activity("push_branch", effect("branch.push")).state()
    assert state.facts is None
    assert state.effects == (effect("branch.push"),)


def test_an_activity_still_running_leaves_nothing() -> None:
    recorded = Recorded().activity("admit", values.run_facts())
    del recorded.events[-1]
    assert recorded.state().facts is None


def test_a_workflow_that_is_no_sweep_is_refused() -> None:
    recorded = Recorded()
    recorded.events[0].workflow_execution_started_event_attributes.input.CopyFrom(GARBAGE)
    with pytest.raises(Bug, match="not started with a sweep's input"):
        recorded.state()
    with pytest.raises(Bug, match="without events"):
        state_of([], CONVERTER)


def test_a_completed_sweep_is_its_result() -> None:
    result = SweepResult(outcome=Outcome.MERGED, reason="merged", state=Recorded().state())
    assert result_of(Recorded().completed(encoded(result)).events, CONVERTER) == result
    assert result_of(Recorded().events, CONVERTER) is None
    assert result_of(Recorded().completed(GARBAGE).events, CONVERTER) is None
