"""An attempt by a model, from its briefing to its report."""

from collections.abc import AsyncIterator

import pytest
from temporalio.testing import WorkflowEnvironment

from sweeper.model import FixOutcome
from tests.support.model_agent import FINISH, MemoryTools, script, start, working
from tests.support.temporal import time_skipping_env


@pytest.fixture
async def env() -> AsyncIterator[WorkflowEnvironment]:
    async with time_skipping_env() as env:
        yield env


async def test_it_reads_edits_checks_and_reports(env: WorkflowEnvironment) -> None:
    tools = MemoryTools(files={"app.py": "x = 'broken'\n"})
    model = script(
        [("read_file", {"path": "app.py"})],
        [("edit_file", {"path": "app.py", "old": "broken", "new": "fine"})],
        [("run_check", {"check": "pytest"})],
        [("finish", FINISH)],
    )
    async with working(env.client, tools, model):
        answer = await (await start(env.client)).result()
    assert tools.at_the_end() == {"app.py": "x = 'fine'\n"}
    assert tools.used == ["read_file", "edit_file", "run_check"]
    report = answer.report
    assert (report.outcome, report.actions) == (FixOutcome.EDITED, 1)
    assert "a typo" in report.summary
    assert (report.spent.model_calls, report.spent.tokens) == (4, 440)
    assert report.versions == {"model": "openai:stand-in", "prompt": "fix.v1", "tools": "tools.v1"}
