"""Sweeps that ended or still wait under older code go on under this code."""

import ast
import importlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer

import sweeper.workflows.making
import sweeper.workflows.sweep
from sweeper.model import WORKFLOW_VERSION
from sweeper.worker import workflow_runner
from sweeper.workflows.attempt import AttemptWorkflow
from sweeper.workflows.spending import SpendingWorkflow
from sweeper.workflows.sweep import SweepWorkflow
from sweeper.workflows.target import TargetWorkflow
from tests.replay.record import HISTORIES, STORIES, WITH_ATTEMPT, WITH_SPENDING, WITH_TARGET, as_json

RECORDED = sorted(HISTORIES.glob("*.json"))
MERGED = HISTORIES / f"v{WORKFLOW_VERSION}-merged.json"


def _history(path: Path) -> WorkflowHistory:
    recorded = json.loads(path.read_text())
    return WorkflowHistory.from_json(recorded.pop("workflow_id"), recorded)


def _replayer(sweep: type = SweepWorkflow) -> Replayer:
    return Replayer(
        workflows=[sweep, AttemptWorkflow, TargetWorkflow, SpendingWorkflow],
        workflow_runner=workflow_runner(),
        data_converter=pydantic_data_converter,
    )


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
async def test_a_recorded_history_goes_on_under_this_code(path: Path) -> None:
    result = await _replayer().replay_workflow(_history(path), raise_on_replay_failure=False)
    assert result.replay_failure is None


def test_this_version_has_every_history() -> None:
    names = {path.stem for path in RECORDED}
    told = {f"v{WORKFLOW_VERSION}-{getattr(story, '__name__', '')}" for story in STORIES}
    attempts = {f"v{WORKFLOW_VERSION}-{getattr(story, '__name__', '')}-attempt" for story in WITH_ATTEMPT}
    targets = {f"v{WORKFLOW_VERSION}-{getattr(story, '__name__', '')}-target" for story in WITH_TARGET}
    purses = {f"v{WORKFLOW_VERSION}-{getattr(story, '__name__', '')}-spending" for story in WITH_SPENDING}
    assert told | attempts | targets | purses <= names, "python -m tests.replay.record"


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_history_says_nothing_of_the_machine_it_was_recorded_on(path: Path) -> None:
    assert as_json(_history(path)) == path.read_text()


def _insert(function: ast.AsyncFunctionDef) -> None:
    function.body[:0] = ast.parse("await self._proof.reproduce()").body


def _remove(function: ast.AsyncFunctionDef) -> None:
    function.body = ast.parse("return None").body


@pytest.mark.parametrize("change", [_insert, _remove], ids=["one more", "fewer"])
async def test_other_activities_in_an_old_history_are_detected(
    change: Callable[[ast.AsyncFunctionDef], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sweep's own source with one function changed, as modules of their own."""
    tree = ast.parse(Path(sweeper.workflows.making.__file__).read_text())
    (function,) = (node for node in ast.walk(tree) if getattr(node, "name", "") == "_reproduced")
    assert isinstance(function, ast.AsyncFunctionDef)
    change(function)
    making, name = (f"{part}_with_{change.__name__.strip('_')}" for part in ("making", "sweep"))
    (tmp_path / f"{making}.py").write_text(ast.unparse(ast.fix_missing_locations(tree)))
    source = Path(sweeper.workflows.sweep.__file__).read_text()
    assert "from sweeper.workflows.making import" in source
    (tmp_path / f"{name}.py").write_text(
        source.replace("from sweeper.workflows.making import", f"from {making} import")
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    changed: type = importlib.import_module(name).SweepWorkflow
    result = await _replayer(changed).replay_workflow(_history(MERGED), raise_on_replay_failure=False)
    assert isinstance(result.replay_failure, workflow.NondeterminismError)
