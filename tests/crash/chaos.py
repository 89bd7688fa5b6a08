"""Random schedules of trouble: `python -m tests.crash.chaos N SEED` runs the seeds SEED .. SEED + N - 1.

A real listener, worker and Temporal, killed at random; GitHub failing at random; webhooks doubled, reordered, late.
Markdown on stdout, `build/reports/chaos.json` beside it, non-zero if a schedule ended badly.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

from adapters.loopback.core.state import HookMode
from adapters.loopback.drive.requests import FaultRule
from sweeper.model import Strict
from tests.crash.company import LOOK_EVERY, Company, Trial, sweep_settings
from tests.crash.oracle import Seen, differences, look_at, settled
from tests.crash.reference import PATIENCE, Reference, played, references
from tests.crash.rows import Killed
from tests.crash.scenarios import scenario
from tests.crash.schedules import Fault, Kill, Schedule, schedule
from tests.support.dying_worker import read_diary

REPORT = Path("build", "reports", "chaos.json")
SIDE_BY_SIDE = 3
_HEARTBEAT = timedelta(seconds=3)


class Outcome(Strict):
    """What came of a schedule. `why`: in which way it failed."""

    schedule: Schedule
    passed: bool
    why: str
    seconds: float


class Report(Strict):
    """All schedules."""

    rows: tuple[Outcome, ...]
    passed: int
    failed: int


async def run(seeds: Sequence[int]) -> list[Outcome]:
    """Every seed's outcome, in order."""
    with tempfile.TemporaryDirectory(prefix="chaos-") as place:
        stories = {story.scenario: story for story in await references(Path(place))}
    left, outcomes = iter(seeds), dict[int, Outcome]()
    await asyncio.gather(*(_side(left, stories, outcomes) for _ in range(min(SIDE_BY_SIDE, len(seeds)))))
    return [outcomes[seed] for seed in seeds]


async def _side(left: Iterator[int], stories: dict[str, Reference], outcomes: dict[int, Outcome]) -> None:
    """One company; schedule after schedule, so that no kill of one disturbs another."""
    with tempfile.TemporaryDirectory(prefix="chaos-") as place:
        Path(place).chmod(0o755)
        async with Company(Path(place), with_web=True, sweeps=sweep_settings(_HEARTBEAT)) as company:
            for seed in left:
                wanted, started = schedule(seed), time.monotonic()
                try:
                    seen = await _Chaos(company, wanted).run()
                    why = differences(settled(seen), stories[wanted.scenario].seen)
                except Exception as error:  # noqa: BLE001 - whatever it is, it is the verdict
                    why = f"{type(error).__name__}: {error}"
                outcomes[seed] = Outcome(
                    schedule=wanted, passed=not why, why=why, seconds=round(time.monotonic() - started, 1)
                )
                print(f"{seed}: {why or 'ok'} ({wanted})", file=sys.stderr, flush=True)


class _Chaos:
    """One schedule on a company."""

    def __init__(self, company: Company, wanted: Schedule) -> None:
        self._company = company
        self._wanted = wanted

    async def run(self) -> Seen:
        await self._company.drive.hooks(self._wanted.hooks)
        story = scenario(self._wanted.scenario)
        trial = await self._company.trial(story)
        await self._company.spoil(*(_rule(fault, trial) for fault in self._wanted.faults))
        killing = asyncio.create_task(self._kill(trial))
        try:
            async with asyncio.timeout(PATIENCE), played(trial, story):
                result = await trial.result()
        finally:
            killing.cancel()
            await asyncio.wait({killing})
            await self._company.drive.hooks(HookMode.RELEASE)
            await self._company.let_go()
            await self._company.all_up()
        if killing.done() and not killing.cancelled() and (error := killing.exception()):
            raise error
        await self._one_sweep(trial)
        return await look_at(trial, result)

    async def _kill(self, trial: Trial) -> None:
        kept_back = self._wanted.hooks is HookMode.HOLD
        for kill in self._wanted.kills:
            await self._comes_to(trial, 0 if kept_back else kill.step)
            await asyncio.sleep(kill.after_ms / 1000)
            await self._strike(kill)
            if kept_back:
                await self._company.drive.hooks(HookMode.RELEASE)
                kept_back = False

    async def _comes_to(self, trial: Trial, step: int) -> None:
        while len([one for one in read_diary(self._company.life.diary) if trial.sweep_id in one.workflow_id]) < step:
            await asyncio.sleep(LOOK_EVERY / 2)

    async def _strike(self, kill: Kill) -> None:
        if kill.killed is Killed.WEB:
            self._company.kill_web()
        if kill.killed in (Killed.WORKER, Killed.BOTH):
            self._company.kill_worker()
        if kill.killed in (Killed.TEMPORAL, Killed.BOTH):
            self._company.kill_temporal()
        await self._company.all_up()

    async def _one_sweep(self, trial: Trial) -> None:
        run = str(trial.red.ref.run_id)
        found = {
            execution.id
            async for execution in self._company.client.list_workflows('WorkflowType = "sweep"')
            if run in execution.id
        }
        assert found == {trial.sweep_id}, f"one run has the sweeps {found}"


def _rule(fault: Fault, trial: Trial) -> FaultRule:
    rule: dict[str, object] = {"method": fault.method, "nth": fault.nth, "kind": fault.kind, "when": fault.when}
    if fault.kind in ("429", "403_secondary"):
        rule["retry_after"] = 1
    return FaultRule.model_validate(rule | {"path": rf"/octo/{trial.name}(\.git)?(/|$)"})


def markdown(report: Report) -> str:
    """One line per seed."""
    lines = ["| seed | schedule | seconds | |", "|---|---|---|---|"]
    lines += [
        f"| {row.schedule.seed} | {row.schedule} | {row.seconds} | {'ok' if row.passed else f'**FAILED**: {row.why}'} |"
        for row in report.rows
    ]
    return "\n".join([*lines, "", f"{report.passed} passed, {report.failed} failed."])


def main() -> int:
    """The exit code: 0 if every schedule ended as it should."""
    count, first = (int(word) for word in (sys.argv[1:] + ["10", "1"][len(sys.argv) - 1 :]))
    rows = asyncio.run(run(range(first, first + count)))
    failed = sum(not row.passed for row in rows)
    report = Report(rows=tuple(rows), passed=len(rows) - failed, failed=failed)
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text(report.model_dump_json(indent=2) + "\n")
    print(markdown(report))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
