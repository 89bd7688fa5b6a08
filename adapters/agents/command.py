"""Any command line as an agent: it is told what failed, edits the files, and ends.

Fixing twice is safe for us: each try gets a fresh workspace, and only the tree it leaves counts. What a killed worker
left running has ended, or is ended by the sandbox before it runs anything again.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from adapters.agents.presets import Preset
from adapters.agents.report import outcome_of, report, summary_of
from adapters.agents.telling import PROMPT_VERSION, told_files, told_variables
from adapters.agents.transcripts import Claim
from sweeper.errors import BadInput
from sweeper.model import FixOutcome, FixReport, Spent, Trouble, Workspace
from sweeper.model.task import Task
from sweeper.policy.briefing import suspected
from sweeper.ports import Artifacts, Sandbox, SandboxLimits, SandboxResult, SandboxRun
from sweeper.ports.models import ModelDoor, ModelDoors

NAME = "command"
_NO_PROGRAM_EXIT = 127
"""As shells say it; a preset's script is not begun without its program."""


class CommandAgent:
    """`FixAgent` that runs `sh -c <command>`, or a preset's script, in the worktree's root.

    SWEEPER_TASK names the task's JSON file. Exit code 0 means it claims to have edited; anything else is a failed try.
    With `doors` it reaches the configured model and nothing else; without, nothing at all.
    """

    def __init__(
        self, command: str | Preset, sandbox: Sandbox, artifacts: Artifacts, doors: ModelDoors | None = None
    ) -> None:
        """Raises BadInput for an empty command line, and for a preset that the model does not fit."""
        self._preset = command if isinstance(command, Preset) else None
        self._script = _script(command, doors)
        self._sandbox = sandbox
        self._artifacts = artifacts
        self._doors = doors

    @property
    def name(self) -> str:
        """As configured in SWEEPER_AGENTS."""
        return NAME

    def spent(self, sweep: str, attempt: int) -> Spent:
        """`KeepsAccount`."""
        return self._doors.spent(_key(sweep, attempt)) if self._doors is not None else Spent()

    async def fix(self, task: Task, workspace: Workspace, timeout: timedelta) -> FixReport:
        """Run it once, within `timeout` and the task's allowance."""
        async with self._door(task) as door:
            result = await self._sandbox.run(self._run(task, workspace, timeout, door))
            return await self._report(task, result, door)

    @asynccontextmanager
    async def _door(self, task: Task) -> AsyncIterator[ModelDoor | None]:
        if self._doors is None:
            yield None
            return
        async with self._doors.open(_key(task.sweep, task.attempt), task.allowance) as door:
            yield door

    def _run(self, task: Task, workspace: Workspace, timeout: timedelta, door: ModelDoor | None) -> SandboxRun:
        seconds = timeout.total_seconds()
        if (most := task.allowance.seconds) is not None:
            seconds = min(seconds, most)
        own = self._preset.env if self._preset else {}
        return SandboxRun(
            workspace=workspace.path,
            argv=("sh", "-c", self._script),
            env={**own, **told_variables(self._doors, door)},
            files=told_files(task),
            gate=door.directory if door else None,
            limits=SandboxLimits(seconds=seconds),
        )

    async def _report(self, task: Task, result: SandboxResult, door: ModelDoor | None) -> FixReport:
        said = await report(NAME, outcome_of(result), result, self._artifacts)
        claim = self._claim(result)
        trouble = _trouble(said, result, claim, door)
        told = {
            "spent": (door.spent if door else Spent()).model_copy(update={"seconds": result.seconds}),
            "summary": self._summary(said, claim, trouble, door),
            "versions": self._versions(),
            "suspicions": suspected(task),
            "trouble": trouble,
        }
        return said.model_copy(update=told)

    def _claim(self, result: SandboxResult) -> Claim:
        """Of the program itself, and else by the signs in what it printed, the last ones first."""
        if self._preset is None:
            return Claim()
        output = result.output.decode(errors="replace")
        claim = self._preset.read(output)
        if claim.trouble is not None:
            return claim
        lines = output.splitlines()[-200:]
        found = (trouble for line in reversed(lines) for sign, trouble in self._preset.signs if sign.search(line))
        return Claim(words=claim.words, trouble=next(found, None))

    def _summary(self, said: FixReport, claim: Claim, trouble: Trouble | None, door: ModelDoor | None) -> str:
        if trouble is Trouble.NO_PROGRAM and self._preset is not None:
            return f"There is no {self._preset.program} in the sandbox; install it ({self._preset.install})."
        own = said.summary if claim.words is None else summary_of(claim.words.encode())
        why = door.trouble if door else None
        return f"{why}. {own}".strip() if why else own

    def _versions(self) -> dict[str, str]:
        versions = {"prompt": PROMPT_VERSION}
        if self._preset is not None:
            versions["preset"] = self._preset.name
        if self._doors is not None:
            versions["model"] = f"{self._doors.provider}:{self._doors.model}"
        return versions


def _key(sweep: str, attempt: int) -> str:
    return f"{sweep}/{attempt}"


def fitting(preset: Preset, provider: str | None) -> None:
    """Raises BadInput for a preset that does not speak that provider's protocol."""
    if provider not in preset.providers:
        speaks = " or ".join(preset.providers)
        raise BadInput(f"The preset {preset.name} needs a model that speaks {speaks}; set SWEEPER_MODEL to one")


def _script(command: str | Preset, doors: ModelDoors | None) -> str:
    if isinstance(command, Preset):
        fitting(command, doors.provider if doors is not None else None)
        return f"command -v {command.program} >/dev/null || exit {_NO_PROGRAM_EXIT}\n{command.script}"
    if not command.strip():
        raise BadInput("The agent `command` has no command line; set SWEEPER_AGENT_COMMAND")
    return command


def _trouble(said: FixReport, result: SandboxResult, claim: Claim, door: ModelDoor | None) -> Trouble | None:
    """The first that is known, from what is ours to know down to what it says itself."""
    if result.exit_code == _NO_PROGRAM_EXIT:
        return Trouble.NO_PROGRAM
    if result.limit not in (None, "time"):
        return Trouble.LIMIT
    if door is not None and door.trouble is not None:
        return Trouble.USED_UP if door.is_used_up else Trouble.MODEL_AWAY
    if claim.trouble is not None:
        return claim.trouble
    return Trouble.EXIT_CODE if said.outcome is FixOutcome.FAILED else None
