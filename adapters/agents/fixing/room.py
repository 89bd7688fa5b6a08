"""Where fixers run: the workspace after the set-up steps of the check's job, in a home and behind a gate of its own.

What installs a check's tools in CI installs them for its fixer: another version of a formatter formats otherwise.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from adapters.agents.fixing.addresses import SCRIPT, arguments
from adapters.agents.fixing.marks import MARK, TIDY, Mark, read_mark
from sweeper.activities.steps import PLAIN, FileCommands, JobState, left_at
from sweeper.errors import Unverifiable
from sweeper.model import Check, PlanStep, Workspace
from sweeper.policy.environment import environment_steps
from sweeper.policy.planning import RunContext, expanded, parse_file_commands, shell_argv
from sweeper.ports import Downloads, Gate, Sandbox, SandboxLimits, SandboxResult, SandboxRun, Workspaces

_FILE_BYTES = 1 << 20
_QUIET = {"RUFF_NO_CACHE": "true", "NO_COLOR": "1"}
"""No cache directory in the patch, no colours in the summary."""


@dataclass(frozen=True)
class Means:
    """What fixers are run with. Without `workspaces` there are no homes, and so no set-up steps."""

    sandbox: Sandbox
    workspaces: Workspaces | None = None
    downloads: Downloads | None = None


class Clock:
    """The seconds that are left for all commands of one try."""

    def __init__(self, seconds: float) -> None:
        self.spent = 0.0
        self._seconds = seconds

    @property
    def left(self) -> float:
        """At least one second, so that a command ends by its limit and not by a wrong one."""
        return max(self._seconds - self.spent, 1.0)


class Room:
    """A job's surroundings, for its commands one after the other. `home` None: each has one of its own."""

    def __init__(self, means: Means, workspace: Workspace, check: Check, clock: Clock) -> None:
        self._means = means
        self._workspace = workspace
        self._check = check
        self._clock = clock
        self._number = 0
        self._state: JobState | None = None
        self._home: str | None = None
        self._gate: Gate | None = None

    @asynccontextmanager
    async def opened(self, *, fetching: bool) -> AsyncIterator["Room"]:
        """With a home and a gate while it lasts. Raises Unverifiable if a tool of the job is not on this machine."""
        check, workspaces = self._check, self._means.workspaces
        installed = await asyncio.to_thread(self._means.sandbox.installed) if check.tools else ()
        wanted = check.tools if workspaces is not None else ()
        commands = (*(step.command for step in check.before), check.command) if workspaces is not None else ()
        tools = environment_steps(wanted, installed, commands)
        if isinstance(tools, str):
            raise Unverifiable(tools)
        self._state = JobState.of(check, tools)
        async with AsyncExitStack() as stack:
            if self._means.downloads is not None:
                opened = self._means.downloads.fetching() if fetching else self._means.downloads.cached()
                self._gate = await stack.enter_async_context(opened)
            if workspaces is not None:
                name = f"{self._workspace.name}.home"
                self._home = await workspaces.home(self._workspace.repository_id, name)
                stack.push_async_callback(workspaces.remove, self._workspace.repository_id, name)
            yield self

    async def set_up(self) -> tuple[PlanStep, SandboxResult] | None:
        """Every step before the check; the one that failed without being allowed to."""
        if self._home is None:
            return None
        for step in (*_tools_step(self._entered.tools.commands), *self._check.before):
            result = await self.run(step)
            if result.limit is not None or (result.exit_code != 0 and not step.may_fail):
                return step, result
        return None

    async def run(self, step: PlanStep) -> SandboxResult:
        """A step as the job would run it. Raises Unverifiable, BadInput for what cannot be run here."""
        step = await self._expanded(step)
        argv = shell_argv(step.shell, step.command)
        number, self._number = self._number, self._number + 1
        result = await self._run(self._entered.enter(argv, number, step.working_directory, PLAIN), step.env)
        self._entered.take(step.id, await self._left(number))
        return result

    async def mark(self, since: Mark | None = None) -> Mark | None:
        """The tree as it is now; None if there is no repository to ask."""
        result = await self._run(("/bin/sh", "-c", MARK, "mark", since.tree if since else ""), {})
        return read_mark(result.output) if result.exit_code == 0 else None

    async def readdress(self, files: tuple[str, ...]) -> tuple[str, ...]:
        """Take the gate's own addresses out of these files; those that had to be put back as they were."""
        given = arguments(self._gate.env, files) if self._gate and files else ()
        if not given:
            return ()
        result = await self._run(("python3", "-I", "-c", SCRIPT, *given), {})
        return tuple(path for path in result.output.decode("utf-8", "replace").splitlines() if path in files)

    async def tidy(self, entered: Mark, set_up: Mark) -> None:
        """Undo what came between these two marks, the set-up steps' doing, where no fixer touched it since."""
        await self._run(("/bin/sh", "-c", TIDY, "tidy", set_up.tree, entered.tree), {})

    @property
    def _entered(self) -> JobState:
        if self._state is None:
            raise Unverifiable("no command can be run in a room that is not open")
        return self._state

    async def _run(self, argv: tuple[str, ...], env: dict[str, str]) -> SandboxResult:
        result = await self._means.sandbox.run(
            SandboxRun(
                workspace=self._workspace.path,
                argv=argv,
                env={**_QUIET, **env, **(self._gate.env if self._gate else {})},
                home=self._home,
                gate=self._gate.directory if self._gate else None,
                limits=SandboxLimits(seconds=self._clock.left),
            )
        )
        self._clock.spent += result.seconds
        return result

    async def _expanded(self, step: PlanStep) -> PlanStep:
        state = self._entered
        step = step.model_copy(update={"env": state.env_of(step)})
        if not any("${{" in text for text in (step.command, step.working_directory, *step.env.values())):
            return step
        said = await self._run(("/bin/sh", "-c", 'printf "%s\\n%s" "$PWD" "$HOME"'), {})
        workspace, _, home = said.output.decode("utf-8", "replace").partition("\n")
        context = RunContext(env=state.env, outputs=state.outputs, workspace=workspace, temp=f"{home}/temp")
        return expanded(step, context)

    async def _left(self, number: int) -> FileCommands:
        env, path, output = [await self._file(number, name) for name in ("env", "path", "output")]
        return FileCommands(
            env=parse_file_commands(env),
            path=[line for line in path.decode("utf-8", "replace").splitlines() if line.strip()],
            outputs=parse_file_commands(output),
        )

    async def _file(self, number: int, name: str) -> bytes:
        if self._home is None or self._means.workspaces is None:
            return b""
        return await self._means.workspaces.left_in(self._home, left_at(number, name), _FILE_BYTES) or b""


def _tools_step(commands: Sequence[str]) -> tuple[PlanStep, ...]:
    step = {"name": "Set up tools", "command": "\n".join(commands), "shell": "sh"}
    return (PlanStep.model_validate(step),) if commands else ()
