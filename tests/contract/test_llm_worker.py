"""The `llm` agent's worker is there where it is asked for, and nowhere else is its library loaded."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
BUILD = """
import asyncio, os, sys
from sweeper.config import only_settings
from sweeper.cli import worker_role
from sweeper.cli.model_worker import model_workers
from sweeper.errors import SweeperError
assert "pydantic_ai" not in sys.modules
{before}
async def main():
    from tests.support.temporal import time_skipping_env
    async with time_skipping_env() as env:
        try:
            workers = model_workers(env.client, only_settings({settings}))
            print("SAID", [worker.task_queue for worker in workers], "pydantic_ai" in sys.modules)
        except SweeperError as error:
            print("SAID", type(error).__name__, error)
asyncio.run(main())
sys.stdout.flush()
os._exit(0)  # the SDK's threads may crash an interpreter that ends by itself
"""
LLM: dict[str, object] = {"agents": ("llm",), "model": "openai:m", "model_url": "http://127.0.0.1:1/v1"}


def said(settings: dict[str, object], before: str = "") -> str:
    """What a process says that builds the worker under these settings."""
    code = BUILD.format(settings=settings, before=before)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=100)
    assert done.returncode == 0, done.stderr
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("SAID "))
    return line.removeprefix("SAID ")


def test_it_polls_a_queue_of_its_own() -> None:
    assert said(LLM) == "['sweeper-llm'] True"


def test_without_the_agent_there_is_no_worker_and_no_library() -> None:
    assert said({"agents": ("autofix",)}) == "[] False"


def test_without_the_extra_a_sentence_says_what_to_install() -> None:
    told = said(LLM, before="sys.modules['pydantic_ai'] = None")
    assert told == "MissingTool The agent `llm` needs more packages: pip install 'ci-sweeper[llm]'."


def test_a_host_that_may_not_see_code_is_refused_at_the_start() -> None:
    told = said({**LLM, "model_providers": ("api.openai.com",)})
    assert told.startswith("PolicyDenied 127.0.0.1 may not see code")
