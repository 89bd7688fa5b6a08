"""A sweep's state read back from its recorded history: what its activities answered, without a worker to ask.

It follows the results the workflow itself keeps; what only the workflow's code derives (handled reviews, deadlines) is
as of the last continue-as-new, whose input carries the whole state.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any, TypeVar

from temporalio.api.common.v1 import Payloads
from temporalio.api.history.v1 import HistoryEvent
from temporalio.converter import PayloadConverter

from sweeper.activities import names, requests
from sweeper.errors import Bug
from sweeper.model import AttemptResult, Effect, SweepInput, SweepResult, SweepState, Trigger, Wire
from sweeper.policy.review import without_words
from sweeper.ports import OpenedPull

ATTEMPT_WORKFLOW = "attempt"
CANCEL_SIGNAL = "cancel"
NOTE_SIGNAL = "note"

Value = TypeVar("Value", bound=Wire | str)
Change = Callable[[Any], dict[str, Any]]
"""From an activity's answer to the fields of SweepState it sets."""


def _collected(answer: requests.Collected) -> dict[str, Any]:
    return {"jobs": answer.jobs, "evidence": answer.evidence}


def _diagnosed(answer: requests.Diagnosed) -> dict[str, Any]:
    return {"diagnosis": answer.diagnosis, "plan": answer.plan}


_SETS: dict[str, tuple[type[Wire], Change]] = {
    names.ADMIT.name: (names.ADMIT.gives, lambda facts: {"facts": facts}),
    names.COLLECT.name: (names.COLLECT.gives, _collected),
    names.DIAGNOSE.name: (names.DIAGNOSE.gives, _diagnosed),
    names.CHOOSE_HOST.name: (names.CHOOSE_HOST.gives, lambda choice: {"host": choice.host}),
    names.READ_WORLD.name: (names.READ_WORLD.gives, lambda world: {"reviews": without_words(world.reviews)}),
    names.REPRODUCE.name: (names.REPRODUCE.gives, lambda reproduction: {"reproduction": reproduction}),
}
_EFFECTS = frozenset(act.name for act in names.ALL if act.gives is Effect)


def result_of(events: Iterable[HistoryEvent], converter: PayloadConverter) -> SweepResult | None:
    """What a completed sweep answered; None if it did not complete or its answer is not readable."""
    for event in events:
        if event.HasField("workflow_execution_completed_event_attributes"):
            return _decode(event.workflow_execution_completed_event_attributes.result, SweepResult, converter)
    return None


def state_of(events: Iterable[HistoryEvent], converter: PayloadConverter) -> SweepState:
    """The state after these events of one run, from its start. Answers that are not readable are passed over.

    Raises Bug if the events do not begin with a sweep's start.
    """
    reader: _Reader | None = None
    for event in events:
        if reader is None:
            reader = _Reader(_first_state(event, converter), converter)
        reader.take(event)
    if reader is None:
        raise Bug("A history without events was given: report this.")
    return reader.state


def _first_state(event: HistoryEvent, converter: PayloadConverter) -> SweepState:
    given = _decode(event.workflow_execution_started_event_attributes.input, SweepInput, converter)
    if given is None:
        raise Bug("This workflow was not started with a sweep's input: show it with `temporal workflow show`.")
    if given.state is not None:
        return given.state
    return SweepState(started_at=event.event_time.ToDatetime(UTC), triggers=(given.trigger,))


@dataclass
class _Reader:
    """Takes one event after the other; `scheduled` remembers which activity an answer belongs to."""

    state: SweepState
    converter: PayloadConverter
    scheduled: dict[int, str] = field(default_factory=dict)

    def take(self, event: HistoryEvent) -> None:
        match event.WhichOneof("attributes"):
            case "activity_task_scheduled_event_attributes":
                self.scheduled[event.event_id] = event.activity_task_scheduled_event_attributes.activity_type.name
            case "activity_task_completed_event_attributes":
                done = event.activity_task_completed_event_attributes
                self._activity(self.scheduled.get(done.scheduled_event_id, ""), done.result)
            case "child_workflow_execution_completed_event_attributes":
                child = event.child_workflow_execution_completed_event_attributes
                if child.workflow_type.name == ATTEMPT_WORKFLOW:
                    self._attempt(child.result)
            case "workflow_execution_signaled_event_attributes":
                signal = event.workflow_execution_signaled_event_attributes
                self._signal(signal.signal_name, signal.input)
            case _:
                pass

    def _activity(self, name: str, result: Payloads) -> None:
        if name in _SETS:
            kind, change = _SETS[name]
            answer = _decode(result, kind, self.converter)
            if answer is not None:
                self._set(**change(answer))
        elif name in _EFFECTS:
            effect = _decode(result, Effect, self.converter)
            self._effect(effect)
            if name == names.PUSH_BRANCH.name and effect is not None:
                self._pushed(effect)
        elif name == names.OPEN_PROPOSAL.name:
            opened = _decode(result, OpenedPull, self.converter)
            if opened is not None:
                self._set(proposal=opened.proposal)
                self._effect(opened.effect)

    def _signal(self, name: str, given: Payloads) -> None:
        if name == CANCEL_SIGNAL:
            self._set(cancel_reason=_decode(given, str, self.converter))
        elif name == NOTE_SIGNAL:
            trigger = _decode(given, Trigger, self.converter)
            if trigger is not None and trigger not in self.state.triggers:
                self._set(triggers=(*self.state.triggers, trigger))

    def _pushed(self, effect: Effect) -> None:
        """A push to the branch of a proposal gives it a new head: the last attempt's commit."""
        patch = self.state.attempts[-1].patch if self.state.attempts else None
        if self.state.proposal is not None and patch is not None and (effect.ref or "").endswith(f"@{patch.commit}"):
            moved = {"head_sha": patch.commit, "patch_id": patch.patch_id}
            self._set(proposal=self.state.proposal.model_copy(update=moved))

    def _effect(self, effect: Effect | None) -> None:
        if effect is not None:
            self._set(effects=(*self.state.effects, effect))

    def _attempt(self, result: Payloads) -> None:
        attempt = _decode(result, AttemptResult, self.converter)
        if attempt is not None:
            self._set(attempts=(*self.state.attempts, attempt))

    def _set(self, **fields: Any) -> None:
        self.state = self.state.model_copy(update=fields)


def _decode(payloads: Payloads, kind: type[Value], converter: PayloadConverter) -> Value | None:
    try:
        (value,) = converter.from_payloads(payloads.payloads, [kind])
    except (ValueError, RuntimeError, KeyError, TypeError):
        # Written by another version or not by us: a view shows what it can.
        return None
    return value if isinstance(value, kind) else None
