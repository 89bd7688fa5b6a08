"""`sweeper doctor`: is everything here that a sweep needs?"""

import platform
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import typer
from rich.table import Table

from sweeper import __version__
from sweeper.cli.command import JsonOption, answer, results, run
from sweeper.config import Settings, StateDir, load_settings, prepare_state_dir
from sweeper.errors import SweeperError
from sweeper.model import Strict

if TYPE_CHECKING:  # the adapters are loaded by the command that needs them
    from temporalio.client import Client

STUCK = 1
"""Exit code: nothing is missing here, but something does not go on."""


class Finding(Strict):
    """One thing looked at. `detail` names path and version, or what to do."""

    name: str
    ok: bool
    detail: str
    exit_code: int = 0


class Diagnosis(Strict):
    """All findings; `ok` if none is missing."""

    ok: bool
    findings: tuple[Finding, ...]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor")(doctor)


def doctor(as_json: JsonOption = False) -> None:
    """Check this machine: git, sandbox, Temporal, GitHub, state directory. Says what to do about what is missing."""
    run(_doctor(as_json), as_json)


async def _doctor(as_json: bool) -> int:
    settings = load_settings()
    state = prepare_state_dir(settings)
    looks = (
        ("git", _git),
        ("sandbox", _sandbox),
        ("agent", _agent),
        ("temporal", _temporal),
        ("github", _github),
        ("webhooks", _webhooks),
        ("worker", _worker),
    )
    findings = [_python(), Finding(name="state", ok=True, detail=str(state.root))]
    findings += [await _look(name, look, settings, state) for name, look in looks]
    findings += await _stuck(settings, state)
    report = Diagnosis(ok=all(finding.ok for finding in findings), findings=tuple(findings))
    if as_json:
        answer(report)
    else:
        table = Table("", "what", "found", box=None)
        for finding in findings:
            table.add_row("[green]ok[/]" if finding.ok else "[red]--[/]", finding.name, finding.detail)
        results.print(table)
    return max(finding.exit_code for finding in findings)


def _python() -> Finding:
    return Finding(
        name="sweeper", ok=True, detail=f"{__version__}, Python {platform.python_version()} ({sys.executable})"
    )


async def _look(
    name: str, look: Callable[[Settings, StateDir], Awaitable[str]], settings: Settings, state: StateDir
) -> Finding:
    try:
        return Finding(name=name, ok=True, detail=await look(settings, state))
    except SweeperError as error:
        return Finding(name=name, ok=False, detail=str(error), exit_code=error.exit_code)


async def _git(_settings: Settings, state: StateDir) -> str:
    from sweeper.cli.composition import git_version

    return await git_version(state)


async def _sandbox(settings: Settings, state: StateDir) -> str:
    from adapters.sandbox import choose_sandbox

    facts = await (await choose_sandbox(settings.allow_unsandboxed, private=(state.root,))).probe()
    if facts.name == "none":
        return "NONE: allowed by SWEEPER_ALLOW_UNSANDBOXED, code of repositories runs with all rights of this user"
    return f"{facts.name} {facts.version} ({facts.path}); holds {', '.join(facts.held)}"


async def _agent(settings: Settings, state: StateDir) -> str:
    from adapters.agents.presence import find_program
    from adapters.agents.presets import preset_of
    from adapters.sandbox import choose_sandbox
    from sweeper.cli.agents_needed import require_agents
    from sweeper.cli.composition import model_doors

    require_agents(settings)
    doors = model_doors(settings)
    model = f", with the model {doors.provider}:{doors.model}" if doors else ""
    if not settings.agent_preset:
        return f"{', '.join(settings.agents)}{model}"
    preset = preset_of(settings.agent_preset)
    sandbox = await choose_sandbox(settings.allow_unsandboxed, (state.root,), settings.agent_path)
    return f"{await find_program(preset, sandbox)}{model}"


async def _temporal(settings: Settings, _state: StateDir) -> str:
    from adapters.temporal.client import address_of, connect
    from adapters.temporal.server import find_temporal
    from sweeper.cli.temporal import outside_target

    target = outside_target(settings)
    if target is not None:
        return f"outside service at {address_of(await connect(target))}"
    return f"embedded, {find_temporal()}"


async def _github(settings: Settings, state: StateDir) -> str:
    from sweeper.cli.composition import code_host

    if settings.github_token is None and settings.app_id is None:
        return f"{settings.github_url}: no credentials set; demo and try need none, serve needs SWEEPER_GITHUB_TOKEN"
    host = code_host(settings, state)
    try:
        return f"{settings.github_url} as {await host.check_login()}"
    finally:
        host.close()


async def _webhooks(settings: Settings, _state: StateDir) -> str:
    if not settings.webhook_secrets:
        return "SWEEPER_WEBHOOK_SECRETS is not set; demo and try need none, serve refuses every webhook without"
    return f"{len(settings.webhook_secrets)} secret(s)"


async def _stuck(settings: Settings, state: StateDir) -> list[Finding]:
    """One finding for each that cannot go on, and what upkeep did; where no Temporal runs, none is looked at."""
    from sweeper.cli.temporal import reach, sweeps_of

    try:
        client = await reach(settings, state)
        cases = await sweeps_of(client, settings, state).stuck()
        upkeep = Finding(name="upkeep", ok=True, detail=await _upkeep(client))
    except SweeperError as error:
        return [Finding(name="sweeps", ok=True, detail=f"not looked at: {error}")]
    stuck = [
        Finding(name="stuck", ok=False, detail=f"{case.workflow}: {case.sentence}", exit_code=STUCK) for case in cases
    ]
    none = [] if stuck else [Finding(name="sweeps", ok=True, detail="none is stuck")]
    return [*none, *stuck, upkeep]


async def _upkeep(client: "Client") -> str:
    from adapters.temporal.upkeep import read_upkeep

    told = await read_upkeep(client)
    if told is None or told.last_pass is None:
        return "has not run yet"
    remarks = [f"passed at {told.last_pass:%Y-%m-%d %H:%M:%S} UTC", *told.left.values(), *told.problems]
    return "; ".join(remarks)


async def _worker(_settings: Settings, state: StateDir) -> str:
    from adapters.temporal.life import read_worker_life

    life = read_worker_life(state.root)
    if life.alive:
        return "alive"
    return f"none since {life.since:%Y-%m-%d %H:%M:%S} UTC" if life.since else "none has run yet"
