"""Records histories of attempts by a model, for the replay tests.

    python -m tests.replay.llm_record

writes `llm/v1-<scenario>.json`. As with sweeps: histories of earlier versions stay, and the current one is recorded
again only before its first release.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from temporalio.client import Client, WorkflowHistory

from sweeper.model import Allowance, Timeouts
from tests.replay.record import as_json
from tests.support.model_agent import (
    FINISH,
    MemoryTools,
    ScriptedModel,
    Turn,
    attempt_request,
    script,
    start,
    working,
)
from tests.support.temporal import time_skipping_env

HISTORIES = Path(__file__).with_name("llm")
EDIT = ("edit_file", {"path": "app.py", "old": "broken", "new": "fine"})
TURNS: tuple[Turn, ...] = (
    [("list_files", {}), ("read_file", {"path": "app.py"})],
    [EDIT],
    [("run_check", {"check": "pytest"})],
    [("finish", FINISH)],
)
Recorder = Callable[[Client], Awaitable[WorkflowHistory]]


async def mended(client: Client) -> WorkflowHistory:
    """Read, edited, checked, finished."""
    return await _ended(client, script(*TURNS))


async def used_up(client: Client) -> WorkflowHistory:
    """Ended by its allowance."""
    return await _ended(client, script([("list_files", {})]), calls=2)


async def misunderstood(client: Client) -> WorkflowHistory:
    """Answers that cannot be used, then a fix."""
    return await _ended(client, script([("no_such_tool", {})], [("list_files", {})] * 40, *TURNS))


async def thinking(client: Client) -> WorkflowHistory:
    """Killed, so to speak, while the model thinks about its third answer."""
    model = script(*TURNS)
    model.holds = 2
    async with working(client, MemoryTools(files={"app.py": "broken\n"}), model):
        handle = await start(client)
        while model.asked != [0, 1, 2]:
            await asyncio.sleep(0.01)
        history = await handle.fetch_history()
        await handle.terminate()
        return history


async def continued(client: Client) -> WorkflowHistory:
    """The run that goes on from an earlier one."""
    async with working(client, MemoryTools(files={"app.py": "broken\n"}), script(*TURNS)):
        handle = await start(client, timeouts=Timeouts(history_events=35))
        await handle.result()
        return await client.get_workflow_handle(handle.id).fetch_history()


async def _ended(client: Client, model: ScriptedModel, calls: int | None = None) -> WorkflowHistory:
    async with working(client, MemoryTools(files={"app.py": "broken\n"}), model):
        handle = await start(client, attempt_request(allowance=Allowance(model_calls=calls)))
        await handle.result()
        return await handle.fetch_history()


STORIES: dict[str, Recorder] = {
    "mended": mended,
    "used_up": used_up,
    "misunderstood": misunderstood,
    "thinking": thinking,
    "continued": continued,
}


async def record(name: str) -> WorkflowHistory:
    """One story on a server of its own."""
    async with time_skipping_env() as env:
        return await STORIES[name](env.client)


async def main() -> None:
    """All of them."""
    for name in STORIES:
        (HISTORIES / f"v1-{name}.json").write_text(as_json(await record(name)))


if __name__ == "__main__":
    asyncio.run(main())
