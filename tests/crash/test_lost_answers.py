"""The second classic experiment of durable execution: the effect is done, and the worker dies before it is recorded.

Its next life finds the effect by its natural key. GitHub's ledger, which outlives the kill, counts it once.
"""

import asyncio
import signal
from datetime import timedelta
from pathlib import Path

import pytest

from sweeper.model import EffectState, Outcome, SweepResult
from tests.support.dying_worker import Fate, Moment
from tests.support.small_sweep import Ground, SmallSweep, small_sweep

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.xdist_group("lost-answers")]

SOON = timedelta(seconds=1)
"""Heartbeat: how long the server waits for the dead."""


def state_of(effect: str, result: SweepResult) -> EffectState:
    """How the sweep says the effect came to be; there has to be one."""
    (found,) = [item for item in result.state.effects if item.name == effect]
    return found.state


async def killed_after(write: str, sweep: SmallSweep) -> SweepResult:
    """The end of the story if the worker dies right after this write, and another one goes on."""
    assert await sweep.lives_until(Fate(write, Moment.UNRECORDED)) == -signal.SIGKILL
    assert write not in {execution.activity for execution in await sweep.recorded()}
    with sweep.working():
        result = await sweep.handle.result()
    assert [times for execution, times in sweep.executed().items() if execution.activity == write] == [2]
    return result


@pytest.mark.parametrize(
    ("write", "effect", "state"),
    [
        ("push_branch", "branch.push", EffectState.DEDUPLICATED),
        ("open_proposal", "pull.create", EffectState.DEDUPLICATED),
        ("merge", "pull.merge", EffectState.DEDUPLICATED),
        ("delete_branch", "branch.delete", EffectState.DEDUPLICATED),
    ],
)
async def test_an_effect_that_was_not_recorded_is_found_and_not_repeated(
    write: str, effect: str, state: EffectState, ground: Ground, tmp_path: Path
) -> None:
    sweep = await small_sweep(ground, write.replace("_", "-"), tmp_path / "state", SOON)
    async with asyncio.TaskGroup() as beside:
        beside.create_task(sweep.approved())
        result = await killed_after(write, sweep)
    assert state_of(effect, result) is state
    assert result.outcome is Outcome.MERGED
    assert await sweep.effects() == {
        "check.create": 1,
        "branch.push": 1,
        "pull.create": 1,
        "pull.merge": 1,
        "branch.delete": 1,
        "check.update": 1,
    }


@pytest.mark.parametrize(("write", "effect"), [("comment", "comment.create"), ("close_proposal", "pull.close")])
async def test_a_step_back_that_was_not_recorded_is_found_and_not_repeated(
    write: str, effect: str, ground: Ground, tmp_path: Path
) -> None:
    sweep = await small_sweep(ground, write.replace("_", "-"), tmp_path / "state", SOON)
    async with asyncio.TaskGroup() as beside:
        beside.create_task(sweep.cancelled())
        result = await killed_after(write, sweep)
    assert state_of(effect, result) is EffectState.DEDUPLICATED
    assert result.outcome is Outcome.CANCELLED
    assert await sweep.effects() == {
        "check.create": 1,
        "branch.push": 1,
        "pull.create": 1,
        "comment.create": 1,
        "pull.close": 1,
        "branch.delete": 1,
        "check.update": 1,
    }


async def test_a_new_proof_that_was_not_recorded_is_found_and_not_repeated(ground: Ground, tmp_path: Path) -> None:
    sweep = await small_sweep(ground, "update-proposal", tmp_path / "state", SOON)
    async with asyncio.TaskGroup() as beside:
        beside.create_task(sweep.approved_at_last())
        result = await killed_after("update_proposal", sweep)
    assert state_of("pull.update", result) is EffectState.DEDUPLICATED
    assert result.outcome is Outcome.MERGED
    assert await sweep.effects() == {
        "check.create": 1,
        "branch.push": 2,
        "pull.create": 1,
        "pull.update": 1,
        "comment.create": 1,
        "pull.merge": 1,
        "branch.delete": 1,
        "check.update": 1,
    }
