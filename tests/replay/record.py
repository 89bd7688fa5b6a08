"""Records histories of whole sweeps, for the replay tests.

    python -m tests.replay.record

runs each scenario with the real workflows and the fakes on a time-skipping server, and writes
`histories/v<WORKFLOW_VERSION>-<scenario>.json`. Histories of earlier versions stay: sweeps of theirs may still run.
Re-recording the current version is right before its first release, and never to make a replay test pass after it.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio.client import WorkflowHistory

from sweeper import ids
from sweeper.model import WORKFLOW_VERSION, MergeMode, Outcome, ReviewState, Step
from tests.support.sandbox import Reply
from tests.support.scene import FIXES, FIXES_MORE, REPOSITORY_ID, SETTINGS, Scene, sweep_scene
from tests.support.scene_doubles import BusyAgent

HISTORIES = Path(__file__).with_name("histories")
QUIET = {"poll_interval": timedelta(days=2)}
Story = Callable[[Scene], Awaitable[None]]


async def merged(scene: Scene) -> None:
    """Approved, and merged by the sweep."""
    await scene.start(**QUIET)
    await scene.waits_for("review")
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    await scene.ends(Outcome.MERGED)


async def merged_by_a_human(scene: Scene) -> None:
    """Handed over, and merged by somebody."""
    await scene.start(merge_mode=MergeMode.HAND_OVER, **QUIET)
    await scene.waits_for("review")
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    await scene.waits_for("a human's merge")
    scene.github.merge_by(scene.pull.number, "ann")
    await scene.ring()
    await scene.ends(Outcome.MERGED)


async def merged_after_changes(scene: Scene) -> None:
    """Changes requested, a second attempt on a target that has moved, approved, proved again, merged."""
    scene.agent_does(FIXES, FIXES_MORE)
    await scene.start(**QUIET)
    await scene.waits_for("review")
    scene.review(ReviewState.CHANGES_REQUESTED)
    await scene.ring()
    await scene.until(lambda told: told.current_step is Step.AWAIT_REVIEW and told.budget.attempts_remaining == 1)
    scene.push("main", {"other.py": "x = 1\n"})
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    await scene.ends(Outcome.MERGED)


async def expired(scene: Scene) -> None:
    """Nobody answered."""
    await scene.start(**QUIET)
    await scene.ends(Outcome.EXPIRED)


async def cancelled(scene: Scene) -> None:
    """Called off while it waits."""
    await scene.start(**QUIET)
    await scene.waits_for("review")
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


async def cancelled_while_fixing(scene: Scene) -> None:
    """Called off while the agent works."""
    scene.agents["scripted"] = agent = BusyAgent()
    await scene.start(**QUIET)
    await agent.started.wait()
    await scene.cancel()
    await scene.ends(Outcome.CANCELLED)


async def not_reproduced(scene: Scene) -> None:
    """Nothing to fix."""
    scene.sandbox.on("pytest", Reply(0))
    await scene.start(**QUIET)
    await scene.ends(Outcome.NOT_REPRODUCED)


async def parked(scene: Scene) -> None:
    """Still waiting for a review."""
    await scene.start(**QUIET)
    await scene.waits_for("review")


async def parked_and_continued(scene: Scene) -> None:
    """Still waiting, in a run that continues an earlier one."""
    timeouts = SETTINGS.timeouts.model_copy(update={"history_events": 40})
    await scene.start(timeouts=timeouts, **QUIET)
    await scene.waits_for("review")
    await scene.looks_again()


STORIES: tuple[Story, ...] = (
    merged,
    merged_by_a_human,
    merged_after_changes,
    expired,
    cancelled,
    cancelled_while_fixing,
    not_reproduced,
    parked,
    parked_and_continued,
)
WITH_ATTEMPT = (merged, cancelled_while_fixing)
WITH_TARGET = (merged, parked)
WITH_SPENDING = (merged_after_changes,)


async def record(story: Story) -> dict[str, WorkflowHistory]:
    """File name to history: of the sweep's first and newest run and, where they tell more, of attempt and target."""
    async with sweep_scene() as scene:
        await story(scene)
        name = f"v{WORKFLOW_VERSION}-{getattr(story, '__name__', 'story')}"
        client, first, newest = scene.env.client, scene.handle.first_execution_run_id, (await scene.info()).execution
        found = {name: await client.get_workflow_handle(scene.workflow_id).fetch_history()}
        if newest.run_id != first:
            found[f"{name}-before"] = await client.get_workflow_handle(scene.workflow_id, run_id=first).fetch_history()
        if story in WITH_ATTEMPT:
            found[f"{name}-attempt"] = await client.get_workflow_handle(f"{scene.workflow_id}-a1").fetch_history()
        if story in WITH_TARGET:
            target = ids.target_id(REPOSITORY_ID, "main")
            found[f"{name}-target"] = await client.get_workflow_handle(target).fetch_history()
        if story in WITH_SPENDING:
            purse = ids.spending_id(scene.github.api_url)
            found[f"{name}-spending"] = await client.get_workflow_handle(purse).fetch_history()
        return found


def as_json(history: WorkflowHistory) -> str:
    """One event a line, without the name of the machine it was recorded on."""
    events = [json.dumps(_impersonal(event), sort_keys=True) for event in history.to_json_dict()["events"]]
    return f'{{"workflow_id": {json.dumps(history.workflow_id)}, "events": [\n' + ",\n".join(events) + "\n]}\n"


def _impersonal(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: "recorder" if key == "identity" else _impersonal(item) for key, item in value.items()}
    return [_impersonal(item) for item in value] if isinstance(value, list) else value


async def _main() -> None:
    for old in HISTORIES.glob(f"v{WORKFLOW_VERSION}-*.json"):
        old.unlink()
    for story in STORIES:
        for name, history in (await record(story)).items():
            (HISTORIES / f"{name}.json").write_text(as_json(history))
            print(f"{name}: {len(history.events)} events")


if __name__ == "__main__":
    asyncio.run(_main())
