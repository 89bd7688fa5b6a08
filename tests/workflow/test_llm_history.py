"""A long attempt keeps its histories and its conversation small, and loses nothing on the way."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from pydantic_ai.messages import ToolReturnPart
from temporalio.client import Client, WorkflowHistory
from temporalio.testing import WorkflowEnvironment

from adapters.agents.llm.folding import FOLDED, FULL_BYTES
from adapters.agents.llm.workflow import HISTORY_BYTES
from sweeper.model import Allowance, FixOutcome, Timeouts
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

BIG = "\n".join(f"line {number} of a file that is as long as an answer may be" for number in range(400))
STEPS = 200


@pytest.fixture
async def env() -> AsyncIterator[WorkflowEnvironment]:
    async with time_skipping_env() as env:
        yield env


async def histories(client: Client, workflow_id: str, first_run: str | None) -> list[WorkflowHistory]:
    """Of every run, in order."""
    found, run = [], first_run
    while run:
        history = await client.get_workflow_handle(workflow_id, run_id=run).fetch_history()
        found.append(history)
        last = history.events[-1].workflow_execution_continued_as_new_event_attributes
        run = last.new_execution_run_id or None
    return found


def counting(steps: int) -> ScriptedModel:
    """Each step counts up in a file, by an edit that fits only once."""

    def says(number: int) -> Turn:
        if number == steps:
            return [("finish", FINISH)]
        edit = {"path": "n.txt", "old": f"n={number};", "new": f"n={number + 1};"}
        return [("edit_file", edit), ("read_file", {"path": "big.txt"})]

    return ScriptedModel(says)


async def test_an_attempt_goes_on_with_an_empty_history_and_loses_nothing(env: WorkflowEnvironment) -> None:
    tools, model = MemoryTools(files={"n.txt": "n=0;", "big.txt": "short"}), counting(12)
    async with working(env.client, tools, model):
        handle = await start(env.client, timeouts=Timeouts(history_events=60))
        report = (await handle.result()).report
        runs = await histories(env.client, handle.id, handle.first_execution_run_id)
    assert len(runs) > 2
    assert all(len(run.events) < 100 for run in runs)
    assert tools.at_the_end()["n.txt"] == "n=12;"
    assert model.asked == list(range(13))
    assert set(tools.edits.values()) == {1}
    assert len(tools.edits) == report.actions == 12
    assert report.spent.model_calls == 13
    assert report.outcome is FixOutcome.EDITED


async def test_the_allowance_is_the_only_bound_on_steps(env: WorkflowEnvironment) -> None:
    steps = 55
    tools = MemoryTools()
    model = script(*[[("list_files", {})]] * steps, [("finish", FINISH)])
    async with working(env.client, tools, model):
        handle = await start(env.client, timeouts=Timeouts(history_events=100_000))
        report = (await handle.result()).report
        runs = await histories(env.client, handle.id, handle.first_execution_run_id)
    assert (report.outcome, report.spent.model_calls) == (FixOutcome.NO_CHANGE, steps + 1)
    asked = [
        sum(
            event.activity_task_scheduled_event_attributes.activity_type.name.endswith("request")
            for event in run.events
        )
        for run in runs
    ]
    assert max(asked) > 50, "one run has to go beyond the library's own bound"


async def test_no_bound_on_events_is_too_small_to_make_progress(env: WorkflowEnvironment) -> None:
    tools, model = MemoryTools(files={"n.txt": "n=0;", "big.txt": ""}), counting(3)
    async with working(env.client, tools, model):
        report = (await (await start(env.client, timeouts=Timeouts(history_events=1))).result()).report
    assert (report.outcome, report.spent.model_calls) == (FixOutcome.EDITED, 4)


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_two_hundred_steps_with_full_answers_stay_within_bounds(env: WorkflowEnvironment) -> None:
    tools, model = MemoryTools(files={"n.txt": "n=0;", "big.txt": BIG}), counting(STEPS)
    request = attempt_request(allowance=Allowance(model_calls=STEPS + 1), agent_timeout=timedelta(days=1))
    async with working(env.client, tools, model):
        handle = await start(env.client, request)
        report = (await handle.result()).report
        runs = await histories(env.client, handle.id, handle.first_execution_run_id)
    sizes = [sum(event.ByteSize() for event in run.events) for run in runs]
    print(json.dumps({"runs": len(runs), "bytes": sum(sizes), "events": sum(len(run.events) for run in runs)}))
    assert report.outcome is FixOutcome.EDITED
    assert tools.at_the_end()["n.txt"] == f"n={STEPS};"
    assert model.asked == list(range(STEPS + 1))
    assert max(sizes) < 2 * HISTORY_BYTES
    assert max(event.ByteSize() for run in runs for event in run.events) < 512 << 10


async def test_old_answers_give_way_to_a_note_and_new_ones_stay(env: WorkflowEnvironment) -> None:
    tools = MemoryTools(files={"big.txt": BIG})
    model = script(*[[("read_file", {"path": "big.txt"})]] * 12, [("finish", FINISH)])
    async with working(env.client, tools, model):
        await (await start(env.client)).result()
    parts = [part for message in model.seen[-1] for part in message.parts]
    answers = [str(part.content) for part in parts if isinstance(part, ToolReturnPart)]
    assert len(answers) == 12
    assert answers[0] == FOLDED
    assert answers[-1].startswith("| line 0")
    assert sum(len(answer) for answer in answers) <= FULL_BYTES
