"""Attempts by a model that ended, or were under way, under older code go on under this code."""

import json
from pathlib import Path

import pytest
from pydantic_ai.durable_exec.temporal import PydanticAIPlugin
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer

from adapters.agents.llm.workflow import LlmWorkflow
from sweeper.worker import workflow_runner
from tests.replay.llm_record import HISTORIES, STORIES

RECORDED = sorted(HISTORIES.glob("*.json"))


def _history(text: str) -> WorkflowHistory:
    recorded = json.loads(text)
    return WorkflowHistory.from_json(recorded.pop("workflow_id"), recorded)


async def _failure(text: str) -> Exception | None:
    replayer = Replayer(
        workflows=[LlmWorkflow],
        workflow_runner=workflow_runner(),
        data_converter=pydantic_data_converter,
        plugins=[PydanticAIPlugin()],
    )
    result = await replayer.replay_workflow(_history(text), raise_on_replay_failure=False)
    return result.replay_failure


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
async def test_a_recorded_attempt_goes_on_under_this_code(path: Path) -> None:
    assert await _failure(path.read_text()) is None


def test_this_version_has_every_history() -> None:
    assert {f"v1-{name}" for name in STORIES} <= {path.stem for path in RECORDED}, "python -m tests.replay.llm_record"


async def test_a_history_with_another_tool_in_it_is_detected() -> None:
    text = (HISTORIES / "v1-mended.json").read_text()
    assert '"edit_file"' in text
    changed = text.replace('"name": "edit_file"', '"name": "delete_file"')
    assert changed != text
    assert isinstance(await _failure(changed), workflow.NondeterminismError)
