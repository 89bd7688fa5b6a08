"""Real coding agents, unmodified, in the sandbox, against a recorded model: each mends a real repository.

tests/e2e/install_cli_agents.sh gets them and the repository; where they are not, these tests are skipped.
"""

import asyncio
import json
import os
import tarfile
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import JsonValue, SecretStr

from adapters.agents.command import CommandAgent
from adapters.agents.presence import find_program
from adapters.agents.presets import PRESETS
from adapters.artifacts import FileArtifacts
from adapters.models.proxy import ModelProxy
from adapters.models.proxy_upstream import upstream
from adapters.models.recorded.options import RecordedInfo
from adapters.models.recorded.script import Script, ToolCall, Turn
from adapters.sandbox import choose_sandbox
from adapters.sandbox.layout import WORK_AT
from sweeper.model import Check, CheckPlan, Diagnosis, FailureClass, FixOutcome, Workspace
from sweeper.model.task import Task
from sweeper.policy.model_access import ModelAccess
from tests.support.commands import environment, sweeper
from tests.support.git_origin import git
from tests.support.local_repository import fingerprint
from tests.support.recorded_models import RecordedModel, recorded_here, recorded_process

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PLACE = Path(os.environ.get("SWEEPER_TEST_CLI_AGENTS", "build/cli-agents")).resolve()
SDIST = PLACE / "repositories/inflection-0.5.1.tar.gz"
SOURCE = "inflection/__init__.py"
CHECK = "python3 -m pytest -q -p no:cacheprovider test_inflection.py"
GOOD, BAD = 'word = word.replace("-", "_")', 'word = word.replace("_", "-")'
CHANGED = [f"--- a/{SOURCE}", f"+++ b/{SOURCE}", f"-    {BAD}", f"+    {GOOD}"]
PATIENCE = timedelta(minutes=9)
LAST_WORDS = "underscore() replaced the wrong way round; it makes underscores again."


def agent(name: str) -> object:
    """A case of its own, skipped where this agent is not installed."""
    program = PLACE / name / "bin" / PRESETS[name].program
    missing = None if program.exists() and SDIST.exists() else f"{name} is not installed; {install()}"
    return pytest.param(name, id=name, marks=[pytest.mark.skipif(missing is not None, reason=missing or "")])


def install() -> str:
    return "tests/e2e/install_cli_agents.sh gets it"


def broken_repository(place: Path) -> Path:
    """The project as its author published it, with one bug of ours, in git."""
    with tarfile.open(SDIST) as archive:
        archive.extractall(place, filter="data")
    (there,) = place.iterdir()
    source = there / SOURCE
    text = source.read_text()
    assert text.count(GOOD) == 1
    source.write_text(text.replace(GOOD, BAD))
    git("init", "-q", "-b", "main", cwd=there)
    git("add", "-A", cwd=there)
    git("commit", "-q", "-m", "as it is", cwd=there)
    return there


def claude_code(_: str) -> tuple[Turn, ...]:
    at = f"{WORK_AT}/{SOURCE}"
    edit: dict[str, JsonValue] = {"file_path": at, "old_string": BAD, "new_string": GOOD}
    return (
        Turn(text="I read the code.", calls=(ToolCall(name="Read", arguments={"file_path": at}),)),
        Turn(calls=(ToolCall(name="Edit", arguments=edit),)),
        Turn(calls=(ToolCall(name="Bash", arguments={"command": CHECK, "description": "Run the check"}),)),
        Turn(text=LAST_WORDS),
    )


def codex(_: str) -> tuple[Turn, ...]:
    patch = f"*** Begin Patch\n*** Update File: {SOURCE}\n@@\n-    {BAD}\n+    {GOOD}\n*** End Patch"
    commands = (f"cat {SOURCE}", f"apply_patch <<'END'\n{patch}\nEND\n", CHECK)
    return (
        *(Turn(calls=(ToolCall(name="exec_command", arguments={"cmd": one}),)) for one in commands),
        Turn(text=LAST_WORDS),
    )


def aider(broken: str) -> tuple[Turn, ...]:
    """It takes whole files. Its examples in front of the question look like turns that were taken."""
    answer = f"{LAST_WORDS}\n\n{SOURCE}\n```python\n{broken.replace(BAD, GOOD)}```\n"
    return (Turn(text=answer),) * 6


SAYS = {"claude-code": claude_code, "codex": codex, "aider": aider}


def model_address(name: str, info: RecordedInfo) -> tuple[str, str]:
    """PROVIDER:NAME and where it is, in the shape this agent speaks."""
    provider = PRESETS[name].providers[-1]
    return f"{provider}:recorded", info.url if provider == "anthropic" else info.openai_url


def script(name: str, repository: Path) -> Script:
    return Script(turns=SAYS[name]((repository / SOURCE).read_text()))


def changed(diff: str) -> list[str]:
    return [line for line in diff.splitlines() if line.startswith(("+", "-"))]


async def asked_in_the_open(model: RecordedModel) -> list[str | None]:
    """The turns that were said, each asked for with the real key."""
    calls = await model.calls()
    assert {call.key for call in calls} == {"expected"}
    return [call.turn for call in calls]


@pytest.mark.parametrize("name", [agent(name) for name in SAYS])
async def test_a_real_coding_agent_mends_a_real_repository_in_the_sandbox(name: str, tmp_path: Path) -> None:
    repository = broken_repository(tmp_path / "project")
    sandbox = await choose_sandbox(False, also=[PLACE / name / "bin"])
    give_away(repository, sandbox.owner())
    async with recorded_here(script(name, repository), tmp_path / "model") as model:
        address, url = model_address(name, model.info)
        doors = ModelProxy(upstream(ModelAccess(name=address, url=url, key=SecretStr(model.info.key))))
        store = FileArtifacts((tmp_path / "artefacts").as_uri())
        report = await CommandAgent(PRESETS[name], sandbox, store, doors).fix(
            task(), Workspace(host="h", name="w", repository_id=1, commit="0" * 40, path=str(repository)), PATIENCE
        )
        turns = await asked_in_the_open(model)
    give_away(repository, (os.getuid(), os.getgid()))
    log = (await store.get(report.log)).decode() if report.log else ""
    print(await find_program(PRESETS[name], sandbox), report.model_dump_json(indent=1), log[-2000:], sep="\n")
    assert (report.outcome, report.trouble) == (FixOutcome.EDITED, None)
    assert report.spent.model_calls == len(turns) > 0
    assert report.spent.tokens > 0
    assert "fallback" not in turns
    assert LAST_WORDS in report.summary or name == "aider"
    assert model.info.key not in log
    assert git("status", "--porcelain", cwd=repository).strip() == f"M {SOURCE}"
    assert changed(git("diff", cwd=repository)) == CHANGED


@pytest.mark.parametrize("name", [agent(name) for name in SAYS])
async def test_try_takes_a_real_coding_agents_fix_through_proof_review_and_merge(name: str, tmp_path: Path) -> None:
    repository = broken_repository(tmp_path / "project")
    was = fingerprint(repository)
    async with recorded_process(script(name, repository), tmp_path / "model") as model:
        address, url = model_address(name, model.info)
        env = environment(
            tmp_path / "state",
            agent_preset=name,
            agent_path=str(PLACE / name / "bin"),
            model=address,
            model_url=url,
            model_key=model.info.key,
        )
        words = ("--check", CHECK, "--agent", "command", "--yes", "--json")
        ended = await asyncio.to_thread(sweeper, "try", repository, *words, env=env, patience=PATIENCE.total_seconds())
        told = ended.document_as(0)
        turns = await asked_in_the_open(model)
    print(json.dumps(told, indent=1))
    assert (told["outcome"], told["verdict"]) == ("merged", "fixed")
    assert changed(Path(str(told["patch_file"])).read_text()) == CHANGED
    assert "fallback" not in turns
    assert fingerprint(repository) == was


def task() -> Task:
    return Task(
        sweep="sweep-1-1",
        attempt=1,
        repository="jpvanhal/inflection",
        failing_sha="0" * 40,
        diagnosis=Diagnosis(
            job="test",
            step="tests",
            command=CHECK,
            failure_class=FailureClass.TEST,
            action="fix",
            signature="s",
            files=(SOURCE,),
            error_lines=("AssertionError: assert 'free-bsd' == 'free_bsd'",),
        ),
        check_plan=CheckPlan(checks=(Check(name="tests", command=CHECK),)),
    )


def give_away(place: Path, owner: tuple[int, int] | None) -> None:
    for path in (place, *place.rglob("*")):
        if owner is not None:
            os.chown(path, *owner, follow_symlinks=False)
