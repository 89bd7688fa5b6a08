"""What counts as stuck, and what the sentence tells."""

from datetime import UTC, datetime, timedelta

import pytest

from sweeper.model import WaitingFor
from sweeper.model.target import TargetMemo, Waiting
from sweeper.model.upkeep import StuckCase, StuckKind
from sweeper.policy.stuck import CREDENTIALS, LATE, QUEUE_AGE, nobody_works, task_fails, waits_badly, waits_too_long
from sweeper.reporting import is_about

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


def waiting(what: str, until: datetime) -> WaitingFor:
    return WaitingFor(what=what, since=NOW - timedelta(days=1), until=until)


def kind_of(case: StuckCase | None) -> StuckKind | None:
    return case.kind if case else None


@pytest.mark.parametrize(
    ("wait", "kind"),
    [
        (None, None),
        (waiting("review", NOW + timedelta(days=1)), None),
        (waiting("review", NOW - LATE / 2), None),
        (waiting("review", NOW - 2 * LATE), StuckKind.OVERDUE),
        (waiting(CREDENTIALS, NOW + timedelta(days=1)), StuckKind.CREDENTIALS),
        (waiting(f"{CREDENTIALS} (401)", NOW + timedelta(days=1)), StuckKind.CREDENTIALS),
    ],
)
def test_a_wait_is_bad_when_it_is_over_or_only_an_operator_can_end_it(
    wait: WaitingFor | None, kind: StuckKind | None
) -> None:
    assert kind_of(waits_badly("sweep-1-1", wait, NOW)) is kind


@pytest.mark.parametrize(
    ("age", "kind"), [(QUEUE_AGE / 2, None), (QUEUE_AGE, StuckKind.OLD_QUEUE), (None, None)], ids=["young", "old", "?"]
)
def test_a_queue_is_old_when_its_first_has_waited_too_long(age: timedelta | None, kind: StuckKind | None) -> None:
    queue = (Waiting(sweep="sweep-2-1", since=NOW - age if age else None),)
    memo = TargetMemo(holder="sweep-1-1", queue=queue, waiting=1)
    assert kind_of(waits_too_long("target-1-x", memo, NOW)) is kind


def test_an_empty_queue_is_never_old() -> None:
    assert waits_too_long("target-1-x", TargetMemo(holder="sweep-1-1"), NOW) is None


def test_each_sentence_says_since_when_and_what_to_do() -> None:
    cases = [
        task_fails("sweep-1-1", "NonDeterministicError", NOW),
        nobody_works("sweep-1-1", "fix", "host-abc", NOW),
        nobody_works("sweep-1-1", "admit", "sweeper", NOW),
        waits_badly("sweep-1-1", waiting("review", NOW - timedelta(hours=1)), NOW),
        waits_badly("sweep-1-1", waiting(CREDENTIALS, NOW), NOW - timedelta(hours=1)),
    ]
    for case in cases:
        assert case is not None
        assert "2026-11-2" in case.sentence
        assert any(word in case.sentence for word in ("start", "mend", "sweeper cancel")), case.sentence


def test_a_case_is_the_same_for_as_long_as_it_goes_on() -> None:
    first, later = (task_fails("sweep-1-1", "a bug", NOW + timedelta(hours=n)) for n in (0, 1))
    assert first.key == later.key
    assert first.key != nobody_works("sweep-1-1", "fix", "host-abc", NOW).key


def test_an_attempts_case_is_its_sweeps() -> None:
    case = task_fails("sweep-77-2-a3", "a bug", NOW)
    assert is_about(case, "sweep-77-2")
    assert not is_about(case, "sweep-77-1")
    assert is_about(task_fails("sweep-77-2", "a bug", NOW), "sweep-77-2")
