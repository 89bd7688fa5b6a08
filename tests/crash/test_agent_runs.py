"""An attempt by a model, killed on its way. All points of it: `python -m tests.crash.agent_kills`."""

from datetime import timedelta
from pathlib import Path

import pytest

from adapters.models.recorded.faults import FaultKind, FaultRule
from adapters.models.recorded.ledger import Outcome
from tests.crash.agent_kills import killed, kills, undisturbed, wrong
from tests.crash.agent_run import EFFECTS, STEPS, agent_run
from tests.support.dying_worker import Shared

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
EVERY = 9
"""Of about sixty points so many are passed over, so that each kind is met and it takes a minute."""
QUESTION_BETWEEN_EDITS = 6


async def test_a_killed_run_comes_to_the_same_patch_and_asks_nothing_twice(tmp_path: Path) -> None:
    before, calls = await undisturbed(tmp_path / "undisturbed")
    async with agent_run(tmp_path / "killed") as run:
        struck = await killed(run, kills(calls)[::EVERY])
        after = await run.seen()
    assert before.calls == STEPS
    assert wrong(before, after, struck) == []


async def test_a_run_goes_on_at_another_host_when_its_own_is_gone_with_its_disk(tmp_path: Path) -> None:
    shared = Shared(artifacts=(tmp_path / "artifacts").as_uri(), marker_key="a key that both hosts were given once")
    async with agent_run(tmp_path / "run", shared) as run:
        await run.model.spoil(FaultRule(kind=FaultKind.HOLD, turn=QUESTION_BETWEEN_EDITS))
        await run.start(host_queue=timedelta(seconds=3))
        await run.model.until(lambda ledger: any(entry.outcome is Outcome.OPEN for entry in ledger.entries[6:]))
        await run.service.lose_host(tmp_path / "elsewhere")
        await run.model.release()
        seen = await run.seen()
    assert seen.files == ("file.txt",)
    assert seen.edits == 4
    assert seen.distinct == STEPS
    assert seen.calls <= STEPS + 1
    assert seen.effects == EFFECTS
