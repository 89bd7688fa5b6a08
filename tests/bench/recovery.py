"""How soon a sweep goes on after its worker was killed, beside how long that may take."""

import asyncio
import json
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

from temporalio.api.enums.v1 import PendingActivityState
from temporalio.client import Client

from adapters.loopback.drive.answers import LedgerCall
from sweeper.model import Step
from tests.bench.measure import Row
from tests.support.service import Case, Process, Service, service

BENCH = "After kill -9 of the worker, until the sweep goes on"
GOES = 3
HEARTBEAT_SECONDS = 2.0
PARKED_SECONDS = 3.0
SLOW_AGENT = "sleep 30; sed -i s/bad/good/ file.txt"
_LOOK_EVERY = 0.02


async def rows(root: Path) -> list[Row]:
    """The allowed time is the plain row of each; a ratio above 1 has failed."""
    while_dead, while_alive, in_activity = [], [], []
    async with service(_made(root / "parked"), heartbeat=f"{HEARTBEAT_SECONDS:g}s") as served:
        served.starts("web")
        await served.ready()
        for go in range(GOES):
            while_dead.append(await _parked(served, f"before-{go}", review_first=True))
            while_alive.append(await _parked(served, f"after-{go}", review_first=False))
    async with service(_made(root / "active"), heartbeat=f"{HEARTBEAT_SECONDS:g}s", agent_command=SLOW_AGENT) as served:
        served.starts("web")
        await served.ready()
        for go in range(GOES):
            in_activity.append(await _in_activity(served, f"active-{go}"))
    return [
        *_row("parked, a review came while nobody worked; from the new worker's readiness", while_dead, PARKED_SECONDS),
        *_row("parked, a review comes when the new worker is ready", while_alive, PARKED_SECONDS),
        *_row("in the agent's activity, another worker at hand; from the kill", in_activity, HEARTBEAT_SECONDS + 2),
    ]


def _made(place: Path) -> Path:
    place.mkdir()
    return place


def _row(what: str, seconds: list[float], allowed: float) -> list[Row]:
    spent = median(seconds)
    return [
        Row(bench=BENCH, variant=f"allowed: {what}", seconds=allowed, goes=1),
        Row(bench=BENCH, variant=what, seconds=spent, goes=GOES, ratio=round(spent / allowed, 2), at_most=1),
    ]


async def _parked(served: Service, name: str, *, review_first: bool) -> float:
    worker = await _ready_worker(served)
    case = await served.red_run(name)
    await case.parked()
    await worker.ends(signal.SIGKILL)
    if review_first:
        await case.reviewed("APPROVED")
    anew = await _ready_worker(served)
    if not review_first:
        await case.reviewed("APPROVED")
    began = time.time()
    await case.waits_for("a human's merge")
    acted = next(call.time for call in (await served.drive.ledger()).calls if _is_look(call, case, began))
    await anew.ends()
    return acted.timestamp() - began


def _is_look(call: LedgerCall, case: Case, since: float) -> bool:
    """What a sweep that was rung does first: it reads its proposal anew."""
    return call.time.timestamp() > since and f"/repos/{case.red.ref.repository}/pulls/" in call.path


async def _in_activity(served: Service, name: str) -> float:
    """The other worker is started once the agent runs, so that the kill hits the one it runs on."""
    worker = await _ready_worker(served)
    case = await served.red_run(name)
    await case.until(lambda told: told.current_step is Step.FIX)
    client = await _client(served)
    await _until(lambda: _agent_runs(client, case, attempt=1))
    other = await _ready_worker(served)
    began = time.perf_counter()
    await worker.ends(signal.SIGKILL)
    await _until(lambda: _agent_runs(client, case, attempt=2))
    spent = time.perf_counter() - began
    await other.ends(signal.SIGKILL)
    await client.get_workflow_handle(case.sweep_id).terminate()
    return spent


async def _ready_worker(served: Service) -> Process:
    log = served.root / "worker.log"
    before = log.read_text().count("is ready") if log.exists() else 0
    worker = served.starts("worker")
    await _until(lambda: _says_ready(worker, before))
    return worker


async def _says_ready(worker: Process, before: int) -> bool:
    if not worker.is_alive:
        raise RuntimeError(worker.said())
    return worker.said().count("is ready") > before


async def _agent_runs(client: Client, case: Case, attempt: int) -> bool:
    query = f"WorkflowType = 'attempt' AND ExecutionStatus = 'Running' AND WorkflowId STARTS_WITH '{case.sweep_id}'"
    async for child in client.list_workflows(query):
        pending = (await client.get_workflow_handle(child.id).describe()).raw_description.pending_activities
        started = PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
        if any(one.activity_type.name == "fix" and (one.attempt, one.state) == (attempt, started) for one in pending):
            return True
    return False


async def _client(served: Service) -> Client:
    return await Client.connect(json.loads((served.state_dir / "temporal.json").read_text())["address"])


async def _until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await condition():
            await asyncio.sleep(_LOOK_EVERY)
