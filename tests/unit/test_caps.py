"""Caps hold a sweep up and say why; they lose none."""

from datetime import UTC, datetime, timedelta

import pytest

from sweeper.model.crowd import Caps, Crowd
from sweeper.policy.caps import room, turn_in_burst

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
CAPS = Caps(open_proposals=2, sweeps_per_hour=3)


def starts(*minutes_ago: int) -> tuple[datetime, ...]:
    """Moments of the past."""
    return tuple(NOW - MINUTE * ago for ago in minutes_ago)


@pytest.mark.parametrize(("ahead", "is_free"), [(0, True), (1, True), (2, False), (9, False)])
def test_proposals_that_wait_for_a_human_are_capped(ahead: int, is_free: bool) -> None:
    found = room(Crowd(ahead=ahead), CAPS, NOW, NOW)
    assert found.is_free is is_free
    assert is_free or found.reason == f"room for a proposal: {ahead} wait for a human or came before (limit 2)"


def test_a_burst_is_spread_over_the_hours() -> None:
    found = room(Crowd(started=starts(50, 40, 10)), CAPS, NOW, NOW)
    assert (found.is_free, found.until) == (False, NOW + 10 * MINUTE)
    assert found.reason.startswith("the burst guard: more than 3 sweeps")


def test_later_sweeps_do_not_hold_up_earlier_ones() -> None:
    assert room(Crowd(started=(NOW, NOW, NOW + MINUTE)), CAPS, NOW, NOW).is_free


def test_no_hour_has_more_turns_than_the_cap_however_many_come_at_once() -> None:
    crowd = [NOW] * 10
    turns = [turn_in_burst(crowd[:n], NOW, 3) for n in range(10)]
    assert turns == [NOW + timedelta(hours=n // 3) for n in range(10)]


def test_old_sweeps_do_not_count() -> None:
    assert room(Crowd(started=starts(200, 190, 180, 70, 65, 61)), CAPS, NOW, NOW).is_free
