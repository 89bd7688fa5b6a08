"""The agent `command` with a model behind a door: what it reaches, what it cannot, and the names of its troubles."""

import json
import re
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from adapters.agents.command import CommandAgent
from adapters.agents.presence import find_program
from adapters.agents.presets import CLAUDE_CODE, Preset, preset_of
from adapters.agents.transcripts import read_claude
from adapters.artifacts import FileArtifacts
from adapters.models.proxy import ModelProxy
from adapters.models.proxy_upstream import upstream
from adapters.sandbox import Bubblewrap, Unsandboxed, choose_sandbox
from sweeper.errors import BadInput, MissingTool
from sweeper.model import Allowance, FixOutcome, FixReport, Trouble, Workspace
from sweeper.policy.model_access import ModelAccess
from sweeper.ports.agents import KeepsAccount
from tests.contract.test_agents import task
from tests.support.model_upstream import Provider, provider_on_loopback
from tests.support.sandboxes import Room, usable

pytestmark = pytest.mark.slow

KEY = "canary-" + "k3y" * 8
ASK = """
import json, os, urllib.request
asked = urllib.request.Request(
    os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages",
    json.dumps({"model": "other", "messages": []}).encode(),
    {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "content-type": "application/json"},
)
print(urllib.request.urlopen(asked).read().decode())
"""
FAKE = Preset(
    name="fake",
    program="fake-agent",
    install="make fake",
    providers=("anthropic",),
    script='exec fake-agent "$SWEEPER_PROMPT"',
    read=read_claude,
    signs=((re.compile("too much to read"), Trouble.CONTEXT_FULL),),
)


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    answer = {"words": "from the model", "usage": {"input_tokens": 30, "output_tokens": 4}}
    async with provider_on_loopback(Provider(answer=answer)) as running:
        yield running


@pytest.fixture
async def room(tmp_path: Path) -> Room:
    room = Room(await usable(Bubblewrap()), tmp_path)
    room.write({"ask.py": ASK})
    return room


def doors(provider: Provider) -> ModelProxy:
    return ModelProxy(upstream(ModelAccess(name="anthropic:good", url=provider.url, key=SecretStr(KEY))))


async def fix(
    command: str | Preset, room: Room, provider: Provider, allowance: Allowance | None = None
) -> tuple[FixReport, str]:
    """The report, and the whole log."""
    store = FileArtifacts(str(room.path.parent / "artefacts"))
    workspace = Workspace(host="h", name="w", repository_id=1, commit="0" * 40, path=str(room.path))
    told = task().model_copy(update={"allowance": allowance or Allowance()})
    agent = CommandAgent(command, room.sandbox, store, doors(provider))
    report = await agent.fix(told, workspace, timedelta(minutes=1))
    return report, (await store.get(report.log)).decode() if report.log else ""


async def with_program(tmp_path: Path, script: str) -> Room:
    """A room in whose sandbox `fake-agent` is found, as an operator would name its directory."""
    tools = tmp_path / "tools"
    (tools / "lib/node_modules").mkdir(parents=True)
    (tools / "bin").mkdir()
    program = tools / "bin/fake-agent"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    sandbox = await choose_sandbox(False, also=[tools / "bin"])
    assert isinstance(sandbox, Bubblewrap)
    return Room(await usable(sandbox), tmp_path)


async def test_it_reaches_the_model_without_knowing_the_key(room: Room, provider: Provider) -> None:
    report, log = await fix("env; cat /proc/self/environ; python3 ask.py", room, provider)
    assert report.outcome is FixOutcome.EDITED
    assert '"words": "from the model"' in log
    assert KEY not in log
    assert (provider.seen[0].headers["x-api-key"], provider.seen[0].body["model"]) == (KEY, "good")
    assert (report.spent.model_calls, report.spent.input_tokens, report.spent.output_tokens) == (1, 30, 4)
    assert report.spent.seconds == report.seconds > 0
    assert report.versions == {"prompt": "1", "model": "anthropic:good"}


async def test_without_a_sandbox_it_finds_the_model_at_another_port(tmp_path: Path, provider: Provider) -> None:
    room = Room(Unsandboxed(), tmp_path)
    room.write({"ask.py": ASK})
    report, log = await fix("env; python3 ask.py", room, provider)
    assert (report.outcome, report.spent.model_calls) == (FixOutcome.EDITED, 1)
    assert KEY not in log


async def test_it_reaches_nothing_but_the_model(room: Room, provider: Provider) -> None:
    port = provider.url.rpartition(":")[2]
    room.write({"other.py": f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 5)\n"})
    report, log = await fix("python3 other.py", room, provider)
    assert (report.outcome, report.trouble) == (FixOutcome.FAILED, Trouble.EXIT_CODE)
    assert "ConnectionRefusedError" in log
    assert provider.seen == []


async def test_what_a_killed_worker_had_spent_is_not_forgotten(room: Room, provider: Provider, tmp_path: Path) -> None:
    there = upstream(ModelAccess(name="anthropic:good", url=provider.url, key=SecretStr(KEY)))
    workspace = Workspace(host="h", name="w", repository_id=1, commit="0" * 40, path=str(room.path))
    store = FileArtifacts(str(tmp_path / "artefacts"))
    told = task().model_copy(update={"allowance": Allowance(model_calls=2)})
    reports = []
    for _ in range(2):
        agent = CommandAgent("python3 ask.py", room.sandbox, store, ModelProxy(there, place=tmp_path / "spent"))
        assert isinstance(agent, KeepsAccount)
        reports.append(await agent.fix(told, workspace, timedelta(minutes=1)))
    assert [report.spent.model_calls for report in reports] == [1, 2]
    assert agent.spent(told.sweep, told.attempt).model_calls == 2
    assert agent.spent(told.sweep, told.attempt + 1).model_calls == 0


async def test_what_it_may_use_ends_it_with_a_name(room: Room, provider: Provider) -> None:
    report, _ = await fix("python3 ask.py; python3 ask.py", room, provider, Allowance(model_calls=1))
    assert (report.outcome, report.trouble) == (FixOutcome.FAILED, Trouble.USED_UP)
    assert report.summary.startswith("This try has used up its model calls. ")
    assert report.spent.model_calls == 1


async def test_the_time_of_its_allowance_bounds_it(room: Room, provider: Provider) -> None:
    report, _ = await fix("sleep 600", room, provider, Allowance(seconds=0.5))
    assert report.outcome is FixOutcome.TIMED_OUT


async def test_a_model_that_is_away_is_not_the_agents_fault(room: Room, provider: Provider) -> None:
    provider.status = 401
    report, _ = await fix("python3 ask.py", room, provider)
    assert report.trouble is Trouble.MODEL_AWAY
    assert "SWEEPER_MODEL_KEY" in report.summary


async def test_a_model_that_came_back_is_no_trouble(room: Room, provider: Provider) -> None:
    provider.status, provider.recovers_after = 503, 1
    report, log = await fix("python3 ask.py; python3 ask.py; exit 3", room, provider)
    assert "from the model" in log
    assert report.trouble is Trouble.EXIT_CODE


async def test_what_it_leaves_at_home_is_not_in_the_tree(room: Room, provider: Provider) -> None:
    before = set(room.path.iterdir())
    report, _ = await fix('mkdir "$HOME/.agent" && echo secret >"$HOME/.agent/transcript"', room, provider)
    assert report.outcome is FixOutcome.EDITED
    assert set(room.path.iterdir()) == before


async def test_one_that_was_denied_everything_and_ends_well_is_told(tmp_path: Path, provider: Provider) -> None:
    said = json.dumps({"type": "result", "is_error": False, "result": "All done", "permission_denials": [{}, {}]})
    report, _ = await fix(FAKE, await with_program(tmp_path, f"echo '{said}'"), provider)
    assert (report.outcome, report.trouble, report.summary) == (FixOutcome.EDITED, Trouble.PERMISSION, "All done")
    assert report.versions["preset"] == "fake"


async def test_a_known_sign_in_its_output_names_the_trouble(tmp_path: Path, provider: Provider) -> None:
    report, _ = await fix(FAKE, await with_program(tmp_path, "echo too much to read; exit 1"), provider)
    assert (report.outcome, report.trouble) == (FixOutcome.FAILED, Trouble.CONTEXT_FULL)


async def test_its_prompt_has_the_failure_behind_bars(tmp_path: Path, provider: Provider) -> None:
    report, log = await fix(FAKE, await with_program(tmp_path, 'cat "$1"'), provider)
    assert report.outcome is FixOutcome.EDITED
    assert "\n| E501\n" in log
    assert log.startswith("Mend the cause of a failed CI run")


async def test_a_program_that_is_not_there_is_told_how_to_get(room: Room, provider: Provider) -> None:
    report, _ = await fix(FAKE, room, provider)
    assert (report.outcome, report.trouble) == (FixOutcome.FAILED, Trouble.NO_PROGRAM)
    assert "make fake" in report.summary
    with pytest.raises(MissingTool, match=r"make fake.*SWEEPER_AGENT_PATH"):
        await find_program(FAKE, room.sandbox)


async def test_a_program_is_found_with_its_version(tmp_path: Path) -> None:
    room = await with_program(tmp_path, "echo fake 1.2.3")
    assert await find_program(FAKE, room.sandbox) == f"fake: fake 1.2.3 {tmp_path}/tools/bin/fake-agent"


async def test_a_preset_without_a_fitting_model_is_refused(tmp_path: Path) -> None:
    store, sandbox = FileArtifacts(str(tmp_path)), Bubblewrap(binaries=())
    with pytest.raises(BadInput, match="speaks anthropic; set SWEEPER_MODEL"):
        CommandAgent(CLAUDE_CODE, sandbox, store)
    with pytest.raises(BadInput, match="speaks anthropic"):
        CommandAgent(
            CLAUDE_CODE, sandbox, store, ModelProxy(upstream(ModelAccess(name="openai:m", key=SecretStr(KEY))))
        )


def test_a_preset_that_is_none_is_refused_with_those_there_are() -> None:
    with pytest.raises(BadInput, match="claude-code, codex, aider"):
        preset_of("claude")
