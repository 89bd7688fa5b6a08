"""What people lost with bots of this kind while nobody was looking: events during a restart, worktrees after a kill."""

import asyncio
import signal
from datetime import timedelta
from pathlib import Path

import pytest

from adapters.temporal.client import address_of
from sweeper.activities import names
from sweeper.activities.names import TASK_QUEUE
from sweeper.model import SweepInput, Trigger, TriggerSource
from tests.support.dying_worker import Fate, Life, Moment
from tests.support.household import Case, Household, household
from tests.support.service import Case as ServedCase
from tests.support.service import service, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

STEPS = (
    *(names.ADMIT.name, names.COLLECT.name, names.DIAGNOSE.name, names.CHOOSE_HOST.name, names.PREPARE.name),
    *(names.REPRODUCE.name, names.FIX.name, names.VERIFY.name, names.PUSH_BRANCH.name, names.OPEN_PROPOSAL.name),
)
KILLS = (Moment.UNRECORDED, Moment.RECORDED)
"""First the worker dies before anybody knows what it did, and when that is done again, right after it."""


@pytest.mark.xdist_group("field-blind")
async def test_a_run_that_failed_while_nobody_listened_is_found_once(tmp_path: Path) -> None:
    """The receiver is down, a run fails, the webhook is lost; it comes late, too."""
    async with service(tmp_path) as served:
        first = served.starts("serve")
        await served.ready()
        assert await first.ends() == 0

        case = await served.red_run("while-down")
        await until(lambda: has_answers(case, [0]))
        second = served.starts("serve")
        await served.ready()
        await case.parked()
        await served.drive.redeliver(case.red.delivery)
        await until(lambda: has_answers(case, [0, 200]))

        assert "looked for failed runs of octo/while-down from" in second.said()
        assert f"started {case.sweep_id}" in second.said()
        pull = await case.pull()
        assert (pull.number, pull.state) == (1, "open")
        created = (await served.drive.ledger()).effects
        assert (created["branch.push"], created["pull.create"]) == (1, 1)


async def has_answers(case: ServedCase, statuses: list[int]) -> bool:
    """Whether the webhook was answered so, time after time; 0: nobody was there."""
    return await case.answers() == statuses


@pytest.mark.xdist_group("field-killed")
async def test_after_twenty_kills_one_pass_leaves_only_what_lives(tmp_path: Path) -> None:
    """A worker is killed twice at each of ten steps, and every second sweep with it is gone for good."""
    async with household(tmp_path, heartbeat=timedelta(seconds=3)) as home, home.temporal():
        cases = [await killed_in_the_middle(home, step) for step in STEPS]
        gone, live = cases[::2], cases[1::2]
        for case in gone:
            await case.terminated()
        left = await home.records()
        assert any(case.sweep in left for case in gone), "something is to be tidied up"
        async with home.worker():
            await asyncio.gather(*(case.parked() for case in live))
            told = await home.passes()

            assert told.problems == ()
            assert await home.records() == sorted(case.sweep for case in live)
            assert [name for name in home.on_disk() if any(name.startswith(case.sweep) for case in gone)] == []
            for case in gone:
                seen = await case.seen()
                assert (list(seen.branches), [pull.state for pull in seen.pulls if pull.state == "open"]) == (
                    ["main"],
                    [],
                )
            for case in live:
                assert case.branch in (await case.seen()).branches
                assert await case.effects() == {"branch.push": 1, "pull.create": 1}


async def killed_in_the_middle(home: Household, step: str) -> Case:
    """A red run gets its sweep, and two workers die at that step, of this sweep or of one before it."""
    case = await home.red_run(f"killed-at-{step.replace('_', '-')}")
    trigger = Trigger(source=TriggerSource.WORKFLOW_RUN)
    settings = home.settings.sweep_settings()
    await home.sweeps.start(case.sweep, SweepInput(run=case.run, trigger=trigger, settings=settings))
    for moment in KILLS:
        life = Life(address_of(home.client), home.info, home.state.root, TASK_QUEUE, Fate(step, moment))
        process = life.begin()
        while process.exitcode is None:
            await asyncio.sleep(0.05)
        assert process.exitcode == -signal.SIGKILL
    return case
