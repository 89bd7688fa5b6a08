import typing
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

import sweeper.worker  # noqa: F401 - every model of the core is known once it is loaded
from sweeper.activities import requests
from sweeper.model import (
    Budget,
    Checkpoint,
    CheckResult,
    GitAccess,
    Instant,
    JobFacts,
    Outcome,
    PendingAction,
    Reproduction,
    RunRef,
    Step,
    StepFacts,
    Strict,
    SweepInput,
    SweepResult,
    SweepSettings,
    WaitingFor,
    Wire,
)
from sweeper.workflows.progress import GOAL, MEMO_BYTES, fitted
from tests.support.values import NOW, check_result, run_facts, run_ref


def _descendants(cls: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for child in cls.__subclasses__():
        yield child
        yield from _descendants(child)


def _ours(base: type[BaseModel]) -> list[type[BaseModel]]:
    core = ("sweeper.model", "sweeper.policy", "sweeper.ports", "sweeper.activities", "sweeper.workflows")
    found = {cls for cls in _descendants(base) if cls.__module__.startswith(core)}
    return sorted(found, key=lambda cls: f"{cls.__module__}.{cls.__name__}")


WIRE, STRICT = _ours(Wire), _ours(Strict)
assert {SweepInput, SweepResult, Checkpoint, requests.AttemptRequest} <= set(WIRE)

st.register_type_strategy(datetime, st.datetimes(timezones=st.just(UTC)))
st.register_type_strategy(timedelta, st.timedeltas(timedelta(0), timedelta(days=10_000)))
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))


def _values(annotation: Any) -> st.SearchStrategy[Any]:
    """Small values of a field's type; containers have at most two members, so that nested models stay small."""
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _instances(annotation)
    if origin is tuple:
        return st.lists(_values(args[0]), max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(_values(args[0]), _values(args[1]), max_size=2)
    if origin is typing.Annotated:
        return _values(args[0])
    if args and origin is not None and type(None) in args:
        return st.none() | st.one_of([_values(arg) for arg in args if arg is not type(None)])
    return st.from_type(annotation)


def _instances(model: type[BaseModel]) -> st.SearchStrategy[Any]:
    bounded = {"max_attempts": st.integers(1, 9)}
    written = {name: field for name, field in model.model_fields.items() if not field.exclude}
    fields = {name: bounded.get(name, _values(field.annotation)) for name, field in written.items()}
    return st.builds(model, **fields)


@pytest.mark.parametrize("model", WIRE, ids=lambda cls: cls.__name__)
def test_a_value_comes_back_from_history_as_it_was(model: type[BaseModel]) -> None:
    @settings(max_examples=8)
    @given(_instances(model))
    def comes_back(value: BaseModel) -> None:
        assert model.model_validate_json(value.model_dump_json()) == value

    comes_back()


@pytest.mark.parametrize("model", WIRE, ids=lambda cls: cls.__name__)
def test_history_may_know_fields_that_we_do_not(model: type[BaseModel]) -> None:
    assert model.model_config.get("extra") == "ignore"
    assert model.model_config.get("frozen") is True


@pytest.mark.parametrize("model", STRICT, ids=lambda cls: cls.__name__)
def test_what_people_write_may_not(model: type[BaseModel]) -> None:
    assert model.model_config.get("extra") == "forbid"
    assert model.model_config.get("frozen") is True


def test_an_unknown_field_is_ignored_in_history_and_refused_in_configuration() -> None:
    run = run_ref().model_dump() | {"added_in_a_later_version": 1}
    assert RunRef.model_validate(run) == run_ref()
    with pytest.raises(ValidationError):
        GitAccess.model_validate({"url": "https://example.com", "tokn": "x"})


def test_a_value_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        run_ref().run_id = 2  # type: ignore[misc]


def test_a_time_without_a_zone_is_refused() -> None:
    class At(Wire):
        time: Instant

    assert At(time=NOW).time == NOW
    with pytest.raises(ValidationError, match="ambiguous"):
        At(time=NOW.replace(tzinfo=None))


def test_what_an_older_version_wrote_is_still_read() -> None:
    """The smallest input of the first version: every field that came later has a default."""
    first = '{"run": {"repository": "octo/app", "repository_id": 1, "run_id": 2}, "trigger": {"source": "cli"}}'
    read = SweepInput.model_validate_json(first)
    assert (read.run.run_attempt, read.state, read.settings) == (1, None, SweepSettings())


@pytest.mark.parametrize(("attempt", "agent"), [(1, "autofix"), (2, "command"), (3, "command"), (99, "command")])
def test_each_attempt_has_the_next_agent_and_the_last_one_keeps_trying(attempt: int, agent: str) -> None:
    assert SweepSettings(agents=("autofix", "command")).agent_for(attempt) == agent


@pytest.mark.parametrize(
    ("result", "is_green"),
    [
        (check_result(0), True),
        (check_result(1), False),
        (check_result(None), False),
        (check_result(0, limit="time"), False),
        (check_result(0, excerpt="3 failed"), True),
        (check_result(1, excerpt="0 failed"), False),
    ],
)
def test_only_exit_code_and_limits_make_a_check_green(result: CheckResult, is_green: bool) -> None:
    assert result.is_green is is_green


@pytest.mark.parametrize(
    ("results", "is_red"),
    [
        ((), False),
        ((check_result(0),), False),
        ((check_result(0), check_result(1)), True),
        ((check_result(1, limit="time"),), False),
        ((check_result(None, limit="memory"),), False),
    ],
)
def test_a_reproduction_is_red_by_a_checks_own_exit_code_only(results: tuple[CheckResult, ...], is_red: bool) -> None:
    assert Reproduction(results=results).is_red is is_red


@pytest.mark.parametrize(
    ("conclusions", "number"),
    [
        (("success", "failure", "failure"), 2),
        (("success", "timed_out", "skipped"), 2),
        (("success", "skipped", None), None),
        ((), None),
    ],
)
def test_the_failing_step_is_the_first_that_failed(conclusions: tuple[str | None, ...], number: int | None) -> None:
    steps = tuple(StepFacts(number=n, name=f"step {n}", conclusion=c) for n, c in enumerate(conclusions, start=1))
    found = JobFacts(id=1, name="test", steps=steps).failing_step()
    assert (found.number if found else None) == number


@pytest.mark.parametrize(("head", "is_fork"), [(4711, False), (1, True), (None, True)])
def test_a_fork_is_told_by_repository_id_not_by_name(head: int | None, is_fork: bool) -> None:
    assert run_facts(head_repository_id=head).is_fork is is_fork


def test_the_published_checkpoint_has_a_schema() -> None:
    schema = Checkpoint.model_json_schema()
    assert {"run", "workflow_version", "current_step", "goal", "budget", "updated_at"} <= set(schema["required"])


def _checkpoint(text: str) -> Checkpoint:
    """As large as a checkpoint gets: longest names, three logs and a diff, a write and a wait with much to say."""
    digest = "sha256:" + "0" * 64
    repository = f"{'o' * 39}/{'r' * 100}"
    key = f"sweep-{'h' * 60}-99999999999-12-m{'r' * 40}/await_review/100"
    return Checkpoint(
        run=run_ref(repository=repository, repository_id=2**40, run_id=99999999999, run_attempt=12),
        workflow_version=12,
        current_step=Step.AWAIT_REVIEW,
        goal=GOAL,
        artifacts={**{f"log:9999999999{n}": digest for n in range(3)}, "diff": digest},
        pending_action=PendingAction(tool="open_proposal", arguments_hash=f"sha256:{'0' * 32}", idempotency_key=key),
        budget=Budget(attempts_remaining=3),
        last_evidence_version=100,
        waiting_for=WaitingFor(what=text[:150], since=NOW, until=NOW),
        outcome=Outcome.LEFT_TO_HUMAN,
        reason=text,
        branch=text[:255],
        proposal=10**6,
        proposal_url=f"https://{'h' * 60}/{repository}/pull/1000000",
        seconds={step.value: 604800.5 for step in Step},
        updated_at=NOW,
    )


@pytest.mark.parametrize("letter", ["x", '"', "ä", "😀", "\x00", "\\"])
def test_a_checkpoint_fits_into_its_memo_whatever_it_says(letter: str) -> None:
    shown = fitted(_checkpoint(letter * 5000))
    assert len(shown.model_dump_json().encode()) <= MEMO_BYTES
    assert shown.waiting_for is not None
    assert "" not in (shown.reason, shown.branch, shown.waiting_for.what)
    kept = {"reason", "branch", "waiting_for"}
    assert shown.model_dump(exclude=kept) == _checkpoint(letter).model_dump(exclude=kept)


def test_a_checkpoint_of_an_ended_sweep_says_everything() -> None:
    ended = _checkpoint("feature/some-branch").model_copy(
        update={"reason": "because " * 30, "waiting_for": None, "pending_action": None}
    )
    assert fitted(ended) == ended
