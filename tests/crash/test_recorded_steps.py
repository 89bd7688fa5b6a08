"""The first classic experiment of durable execution: kill -9 after each step; no recorded step is executed again."""

import asyncio
import signal
from datetime import timedelta
from pathlib import Path

import pytest

from sweeper.model import Outcome
from tests.support.dying_worker import Fate, Moment
from tests.support.small_sweep import Ground, small_sweep

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]

BEFORE_THE_PATCH = ["admit", "collect", "diagnose", "choose_host", "prepare", "reproduce", "fix"]
AFTER_THE_PATCH = ["verify", "push_branch", "open_proposal", "read_world", "merge", "delete_branch", "discard"]
NO_HASTE = timedelta(seconds=30)
"""Heartbeat: nothing is under way when the worker dies, so nobody waits for it, and a slow machine does no harm."""


@pytest.mark.xdist_group("recorded-before")
class TestBeforeThePatch:
    @pytest.mark.parametrize("step", BEFORE_THE_PATCH)
    async def test_a_recorded_step_is_not_executed_again(self, step: str, ground: Ground, tmp_path: Path) -> None:
        await dies_after(step, ground, tmp_path / "state")


@pytest.mark.xdist_group("recorded-after")
class TestAfterThePatch:
    @pytest.mark.parametrize("step", AFTER_THE_PATCH)
    async def test_a_recorded_step_is_not_executed_again(self, step: str, ground: Ground, tmp_path: Path) -> None:
        await dies_after(step, ground, tmp_path / "state")


async def dies_after(step: str, ground: Ground, state_dir: Path) -> None:
    """A worker dies as soon as this step is recorded; another one goes on."""
    sweep = await small_sweep(ground, step.replace("_", "-"), state_dir, NO_HASTE)
    async with asyncio.TaskGroup() as beside:
        beside.create_task(sweep.approved())
        died_of = await sweep.lives_until(Fate(step, Moment.RECORDED))
        recorded, executed = await sweep.recorded(), sweep.executed()
        with sweep.working():
            result = await sweep.handle.result()

    assert died_of == -signal.SIGKILL
    assert step in {execution.activity for execution in recorded}
    assert executed == recorded, "the worker died between two steps"
    assert {execution: times for execution, times in sweep.executed().items() if times > 1} == {}
    assert recorded <= sweep.executed()
    assert result.outcome is Outcome.MERGED
    assert await sweep.effects() == {
        "check.create": 1,
        "branch.push": 1,
        "pull.create": 1,
        "pull.merge": 1,
        "branch.delete": 1,
        "check.update": 1,
    }
