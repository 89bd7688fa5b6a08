"""A few random schedules of kills, faults and webhook troubles. `make chaos N=.. SEED=..` runs as many as you like."""

import pytest

from tests.crash.chaos import run
from tests.crash.schedules import schedule

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


async def test_whatever_happens_each_effect_happens_once_and_nothing_is_left() -> None:
    outcomes = await run((1, 2, 3))
    assert {str(outcome.schedule): outcome.why for outcome in outcomes if not outcome.passed} == {}


def test_the_same_seed_is_the_same_schedule() -> None:
    assert schedule(7) == schedule(7) != schedule(8)
