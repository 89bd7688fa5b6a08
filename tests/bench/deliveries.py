"""A storm of webhooks for one failing run, beside as many signed ones that are only verified and dropped."""

import asyncio
import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles

import httpx
from temporalio.client import Client

from sweeper.intake import Answer, Result
from tests.bench.measure import Row
from tests.support import payloads
from tests.support.deliveries import Delivery, said
from tests.support.service import Case, Service, service

BENCH = "2,000 deliveries of one failing run through the real endpoint, eight at a time"
DELIVERIES, BATCH, AT_A_TIME = 2000, 200, 8


async def rows(root: Path) -> list[Row]:
    """Batches of both kinds take turns, so that a busy moment hits both.

    Raises RuntimeError if the storm made a second sweep or the sweep's history longer.
    """
    async with service(root) as served:
        served.starts("serve")
        await served.ready()
        case = await served.red_run("storm")
        await case.parked()
        before = await _history_length(case)
        known, dropped = Storm(served, Delivery.of(case)), Storm(served, _ping())
        for _ in range(DELIVERIES // BATCH):
            await dropped.rage()
            await known.rage()
        added, sweeps = await _history_length(case) - before, await _count_sweeps(case)
    answers = [said(response) for response in known.responses]
    if added or sweeps != 1 or any(answer != _duplicate(case) for answer in answers):
        raise RuntimeError(f"{len(answers)} deliveries left {sweeps} sweeps and added {added} events to its history")
    told = f"the failing run: {sweeps} sweep, {added} events added to its history"
    return [*_compare("all of them", dropped.spent, known.spent, told), *_slowest(dropped, known)]


@dataclass
class Storm:
    """One delivery, again and again."""

    served: Service
    delivery: Delivery
    spent: float = 0.0
    each: list[float] = field(default_factory=list)
    responses: list[httpx.Response] = field(default_factory=list)

    async def rage(self) -> None:
        """One batch of it."""
        began = time.perf_counter()
        await asyncio.gather(*(self._post(BATCH // AT_A_TIME) for _ in range(AT_A_TIME)))
        self.spent += time.perf_counter() - began

    async def _post(self, times: int) -> None:
        for _ in range(times):
            began = time.perf_counter()
            self.responses.append(await self.delivery.to(self.served.url, self.served.http))
            self.each.append(time.perf_counter() - began)


def _ping() -> Delivery:
    return Delivery("ping", "bench", payloads.encode({"zen": "Keep it simple.", "hook_id": 1}))


def _duplicate(case: Case) -> Answer:
    return Answer(
        result=Result.DUPLICATE, workflow_id=case.sweep_id, reason="seen: this run attempt has its sweep already"
    )


def _compare(what: str, plain: float, ours: float, told: str) -> list[Row]:
    rate = f"{what}: verified and dropped ({DELIVERIES / plain:.0f} a second)"
    return [
        Row(bench=BENCH, variant=rate, seconds=plain, goes=DELIVERIES),
        Row(
            bench=BENCH,
            variant=f"{what}: {told} ({DELIVERIES / ours:.0f} a second)",
            seconds=ours,
            goes=DELIVERIES,
            ratio=round(ours / plain, 2),
            at_most=8,
        ),
    ]


def _slowest(dropped: Storm, known: Storm) -> list[Row]:
    plain, ours = (quantiles(storm.each, n=100)[-1] for storm in (dropped, known))
    return [
        Row(bench=BENCH, variant="99 % are answered within: verified and dropped", seconds=plain, goes=DELIVERIES),
        Row(
            bench=BENCH,
            variant="99 % are answered within: the failing run",
            seconds=ours,
            goes=DELIVERIES,
            ratio=round(ours / plain, 2),
            at_most=8,
        ),
    ]


async def _client(case: Case) -> Client:
    found = json.loads((case.service.state_dir / "temporal.json").read_text())
    return await Client.connect(found["address"])


async def _history_length(case: Case) -> int:
    handle = (await _client(case)).get_workflow_handle(case.sweep_id)
    return (await handle.describe()).history_length


async def _count_sweeps(case: Case) -> int:
    return (await (await _client(case)).count_workflows('WorkflowType = "sweep"')).count
