"""What a step of a model's agent costs: time, events and bytes of history; and what a kill in the middle adds."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from adapters.models.recorded.script import Script, Turn
from sweeper.model import Strict
from tests.bench.measure import Row
from tests.crash.agent_run import AgentRun, agent_run
from tests.support.recorded_models import says

STEPS = (10, 50, 200)
"""Calls of tools before the last ones."""
SPARE = 10


class Cost(Strict):
    """Of one attempt. `events` and `sent` (bytes) are of all runs of the model's workflow; `largest`: of one run."""

    seconds: float
    events: int
    sent: int
    largest: int


async def rows(root: Path) -> list[Row]:
    """Seconds are of one go each. A history that grew with the square of its steps would fail its bound."""
    costs, killed = {}, {}
    for steps in STEPS:
        costs[steps] = await _cost(root / f"plain-{steps}", steps, kill=False)
        killed[steps] = await _cost(root / f"killed-{steps}", steps, kill=True)
    told: tuple[tuple[str, Callable[[Cost], float], float], ...] = (
        ("seconds", lambda cost: cost.seconds, 4),
        ("events", lambda cost: cost.events, 2),
        ("kilobytes", lambda cost: cost.sent / 1000, 12),
    )
    found = [_beside_few(unit, costs, steps, of, bound) for unit, of, bound in told for steps in STEPS]
    for steps in STEPS:
        bench = f"Resume overhead, {steps} steps, the worker killed at half of them"
        plain, after = costs[steps], killed[steps]
        found += [
            Row(bench=bench, variant="undisturbed", seconds=plain.seconds, goes=1),
            Row(
                bench=bench,
                variant="killed once",
                seconds=after.seconds,
                goes=1,
                ratio=round(after.seconds / plain.seconds, 2),
                at_most=6 if steps == STEPS[0] else 3,
            ),
        ]
    return found


def _beside_few(unit: str, costs: Mapping[int, Cost], steps: int, told: Callable[[Cost], float], bound: float) -> Row:
    """Of one step, beside a step of the shortest attempt."""
    bench = f"One step of an agent by a model: {unit}{'' if unit == 'seconds' else ' of history'}"
    base, here = told(costs[STEPS[0]]) / STEPS[0], told(costs[steps]) / steps
    if steps == STEPS[0]:
        return Row(bench=bench, variant=f"{steps} steps", seconds=here, goes=1, unit=unit)
    ratio = round(here / base, 2)
    return Row(bench=bench, variant=f"{steps} steps", seconds=here, goes=1, ratio=ratio, at_most=bound, unit=unit)


async def _cost(root: Path, steps: int, *, kill: bool) -> Cost:
    root.mkdir()
    async with agent_run(root, script=_script(steps)) as run:
        began = time.perf_counter()
        await run.start(model_calls=steps + SPARE)
        if kill:
            await run.model.until(lambda ledger: ledger.total >= steps // 2)
            await run.service.kill_worker()
        seen = await run.seen()
        seconds = time.perf_counter() - began
        if seen.distinct != steps + 2 or seen.files != ("file.txt",):
            raise AssertionError(f"an agent of {steps} steps came to {seen}")
        return await _history(run, seconds)


async def _history(run: AgentRun, seconds: float) -> Cost:
    client, workflow_id = run.home.client, f"{run.case.sweep}-a1-llm"
    events, sizes = 0, []
    async for execution in client.list_workflows(f"WorkflowId = '{workflow_id}'"):
        described = await client.get_workflow_handle(workflow_id, run_id=execution.run_id).describe()
        info = described.raw_description.workflow_execution_info
        events += info.history_length
        sizes.append(info.history_size_bytes)
    return Cost(seconds=seconds, events=events, sent=sum(sizes), largest=max(sizes))


def _script(steps: int) -> Script:
    """Writes and reads in turn, then the fix."""
    turns: list[Turn] = []
    for number in range(steps):
        if number % 2:
            turns.append(says("read_file", path="file.txt"))
        else:
            turns.append(says("write_file", path="file.txt", content=f"still bad, step {number}\n" * 20))
    turns.append(says("write_file", path="file.txt", content="good\n"))
    turns.append(says("finish", cause="it was bad", change="it is good now", risk="none", confidence="high"))
    return Script(turns=tuple(turns))
