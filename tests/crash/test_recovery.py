"""A worker dies with kill -9 while the sweep waits, or in the middle of an activity: the next one goes on by itself.

How soon is measured by `python -m tests.bench recovery`.
"""

import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sweeper.model import Step
from tests.support.red_run import AGENT
from tests.support.service import Case, Process, Service, service, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Service]:
    async with service(tmp_path, agent_command=f"sleep 3; {AGENT}") as made:
        made.starts("web")
        await made.ready()
        yield made


async def ready_worker(served: Service) -> Process:
    """One that asks for work; all of them write to one log."""
    log = served.root / "worker.log"
    before = log.read_text().count("is ready") if log.exists() else 0
    worker = served.starts("worker")

    async def says_so() -> bool:
        assert worker.is_alive, worker.said()
        return worker.said().count("is ready") > before

    await until(says_so)
    return worker


async def killed(worker: Process) -> None:
    assert await worker.ends(signal.SIGKILL) == -signal.SIGKILL


async def written_once(case: Case) -> None:
    written = (await case.service.drive.ledger()).effects
    assert (written["branch.push"], written["pull.create"]) == (1, 1)


@pytest.mark.parametrize("review_first", [True, False], ids=["review while nobody works", "review afterwards"])
async def test_killed_while_parked_the_next_worker_acts_on_the_review(served: Service, review_first: bool) -> None:
    worker = await ready_worker(served)
    case = await served.red_run("parked")
    await case.parked()
    await killed(worker)
    if review_first:
        await case.reviewed("APPROVED")
    await ready_worker(served)
    if not review_first:
        await case.reviewed("APPROVED")
    await case.waits_for("a human's merge")
    await written_once(case)


async def test_killed_while_the_agent_works_another_worker_does_that_try_again(served: Service) -> None:
    worker = await ready_worker(served)
    case = await served.red_run("working")
    await case.until(lambda told: told.current_step is Step.FIX)
    await ready_worker(served)
    await killed(worker)
    told = await case.parked()
    assert [attempt.n for attempt in told.attempts] == [1]
    await written_once(case)
