"""Upkeep killed at each of its activities, in the story of a service whose database was lost.

One sweep's run still fails: it is started again and finds its proposal. One's failure is gone: it is undone. A run
failed that nobody told of: it gets its sweep. One sweep waits over its time: the operator is told. All of that once.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from adapters.loopback.drive.requests import NewPush
from adapters.temporal.embedded import Restarts
from sweeper.activities import names
from sweeper.model import Budget, Checkpoint, Step, WaitingFor
from sweeper.workflows.progress import MEMO
from sweeper.workflows.upkeep import WORKFLOW_ID
from tests.crash.rows import FIRST_PASS, SECOND_PASS, Killed, Point
from tests.support.dying_worker import Doom, Moment
from tests.support.household import AT_ONCE, Case, Household, household, until
from tests.support.killable import KillableService
from tests.support.red_run import MAINTAINER
from tests.support.values import run_ref

ONCE_EACH = {"branch.push": 1, "pull.create": 1}
UNDONE = {**ONCE_EACH, "comment.create": 1, "pull.close": 1, "branch.delete": 1}
OVERDUE = "sweep-1-1"
RESTARTS = Restarts(most=1000, first_wait=0.1, longest_wait=0.1)
_MOMENTS = {Point.BEFORE: Moment.BEFORE, Point.AFTER: Moment.AFTER}
_STRIKES: Mapping[Killed, Callable[[KillableService], Awaitable[None]]] = {
    Killed.WORKER: KillableService.kill_worker,
    Killed.TEMPORAL: KillableService.kill_temporal,
    Killed.BOTH: KillableService.kill_both,
}
_PATIENCE = 120.0
_LOOK_EVERY = 0.1


async def differs(root: Path, killed: Killed, point: Point) -> str:
    """In which way it ended otherwise than undisturbed; empty if it did not."""
    async with household(root, restarts=RESTARTS) as home:
        service = KillableService(home, root)
        async with service.up():
            kept, gone = await _parked(home, "kept"), await _parked(home, "gone")
        home.lose_database()
        mended = NewPush(repo=gone.run.repository, branch="main", files={"file.txt": "good\n"}, user=MAINTAINER)
        await home.drive.push(mended)
        async with service.up():
            # Without a look back: what was known is for the look at remains, not for the one at runs.
            await _disturbed(home, service, FIRST_PASS, killed, point, lookback=timedelta(0))
            untold = await home.red_run("untold")
            await _one_waits_too_long(home)
            await _disturbed(home, service, SECOND_PASS, killed, point, channels=("command",))
            await kept.parked()
            await untold.parked()
            return await _differences(service, kept, gone, untold)


async def _parked(home: Household, name: str) -> Case:
    case = await home.red_run(name)
    await home.passes()
    await case.parked()
    return case


async def _one_waits_too_long(home: Household) -> None:
    now = datetime.now(UTC)
    told = Checkpoint(
        run=run_ref(),
        workflow_version=1,
        current_step=Step.AWAIT_REVIEW,
        goal="a fix",
        budget=Budget(attempts_remaining=1),
        waiting_for=WaitingFor(what="review", since=now - timedelta(days=1), until=now - timedelta(hours=2)),
        updated_at=now,
    )
    await home.client.start_workflow("sweep", id=OVERDUE, task_queue="nobody", memo={MEMO: told})

    async def is_named() -> bool:
        return any(case.workflow == OVERDUE for case in await home.sweeps.stuck())

    await until(is_named, "it is named")


async def _disturbed(
    home: Household,
    service: KillableService,
    activities: Sequence[names.Activity],  # type: ignore[type-arg]  # of any request and answer
    killed: Killed,
    point: Point,
    **wish: object,
) -> None:
    """A pass, in which each of these activities is killed once."""

    def doom(number: int) -> None:
        if number < len(activities):
            name = activities[number].name
            service.dooms.tell(Doom(name=name, activity=name, moment=_MOMENTS[point]), WORKFLOW_ID)

    doom(0)
    passing = asyncio.create_task(home.passes(AT_ONCE.model_copy(update=wish)))
    try:
        for number, activity in enumerate(activities):
            async with asyncio.timeout(_PATIENCE):
                while not service.dooms.stands(activity.name):
                    await asyncio.sleep(_LOOK_EVERY)
            doom(number + 1)
            await _STRIKES[killed](service)
            service.dooms.go(activity.name)
        await passing
    except TimeoutError:
        raise AssertionError(f"it never came to {point} {activity.name}") from None
    finally:
        passing.cancel()
        with suppress(asyncio.CancelledError, AssertionError):
            await passing


async def _differences(service: KillableService, kept: Case, gone: Case, untold: Case) -> str:
    found = [
        f"{case.run.repository}: {effects}"
        for case, expected in ((kept, ONCE_EACH), (untold, ONCE_EACH), (gone, UNDONE))
        if (effects := await case.effects()) != expected
    ]
    found += [f"gone: {name} is left" for name in (await gone.seen()).branches if name != "main"]
    found += [f"gone: pull request {pull.number} is open" for pull in (await gone.seen()).pulls if pull.state == "open"]
    found += [f"gone: {name} on disk" for name in gone.home.on_disk() if name.startswith(gone.sweep)]
    told = [line for line in service.alerts.read_text().splitlines() if line.strip()] if service.alerts.exists() else []
    if len(set(told)) != 1 or OVERDUE not in told[0]:
        found.append(f"alerts: {told}")
    return "; ".join(found)
