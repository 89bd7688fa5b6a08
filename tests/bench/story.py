"""From the webhook to the open pull request, beside the same commands typed by hand in a clone."""

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from pathlib import Path

from adapters.loopback.drive.requests import NewJob, NewRepo, NewRun, NewStep
from sweeper import ids
from sweeper.cli.sample import AGENT_COMMAND, WORKFLOW_PATH, sample
from sweeper.cli.stage import Stage, stage
from sweeper.cli.story import Story
from sweeper.model import RunRef
from tests.bench.measure import Compared, Row, side_by_side
from tests.bench.processes import must, repository, run

BENCH = "From the webhook to the open pull request (the demo's repository)"
CHECKS = ("ruff check . && ruff format --check .", "python -m unittest")
GOES = 3


async def rows(root: Path) -> list[Row]:
    """The demo without its crash and without its installation, everything up and running."""
    overrides: dict[str, object] = {
        "agents": ("command",),
        "agent_command": AGENT_COMMAND,
        "poll_interval": timedelta(seconds=10),
        "heartbeat": timedelta(seconds=2),
    }
    async with stage(root / "stage", overrides) as on:
        told = _Told(on)
        by_hand = _ByHand(root)
        return await side_by_side(
            BENCH,
            ("the commands by hand: each check, the fix, each check twice", by_hand.go),
            {Compared(variant="sweep: webhook, worktrees, sandbox, proof, pull request", at_most=60): told.go},
            GOES,
        )


@dataclass
class _ByHand:
    """A clone is made each time; only the commands count."""

    root: Path
    numbers: Iterator[int] = field(default_factory=count)

    async def go(self) -> float:
        origin, clone = self.root / "origin", self.root / f"clone{next(self.numbers)}"
        if not origin.exists():
            await repository(origin, sample().files)
        await must("git", "clone", "-q", origin, clone)
        began = time.perf_counter()
        for check in CHECKS:
            if await run("bash", "-ec", check, cwd=clone) == 0:
                raise RuntimeError(f"{check} should fail before the fix")
        await must("sh", "-c", AGENT_COMMAND, cwd=clone)
        for check in CHECKS * 2:
            await must("bash", "-ec", check, cwd=clone)
        spent = time.perf_counter() - began
        shutil.rmtree(clone)
        return spent


@dataclass
class _Told:
    """A repository of its own each time; the clock runs from the red run's report to the line in GitHub's ledger."""

    on: Stage
    numbers: Iterator[int] = field(default_factory=count)

    async def go(self) -> float:
        name = f"corner-shop/till{next(self.numbers)}"
        made = await self.on.drive.repo(NewRepo(name=name, files=sample().files))
        jobs = [
            NewJob(
                name=failure.job,
                conclusion="failure",
                steps=[NewStep(name=failure.step, conclusion="failure")],
                log=failure.log,
            )
            for failure in sample().failures
        ]
        began = time.time()
        red = await self.on.drive.run(
            NewRun(repo=name, branch="main", workflow_path=WORKFLOW_PATH, event="push", conclusion="failure", jobs=jobs)
        )
        ref = RunRef(repository=name, repository_id=made.id, run_id=red.run_id, run_attempt=red.attempt)
        report = await Story(self.on, name, ids.sweep_id(ref, self.on.info.url)).waits_for_review()
        if report.proposal is None:
            raise RuntimeError(f"{name} was not fixed: {report.reason}")
        calls = (await self.on.drive.ledger()).calls
        opened = next(call for call in calls if call.effect == "pull.create" and f"/{name}/" in call.path)
        return opened.time.timestamp() - began
