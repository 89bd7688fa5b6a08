"""Running a check as its job does, on one commit: a fresh tree, a fresh home, every step before it, then itself.

Nothing that an earlier tree installed is ever there: an environment made for another tree lies both ways. Safe twice:
trees and homes are destroyed before they are made.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from sweeper.activities.checks import CheckRunner, Command
from sweeper.activities.job_files import FileCommands, expand, parse_file_commands
from sweeper.activities.steps import (
    COLLECT_ONLY,
    PLAIN,
    REPORT,
    WITH_REPORT,
    JobState,
    failing_step,
    in_job,
    left_at,
)
from sweeper.model import Check, CheckResult, Part, PlanStep, Tally, Workspace
from sweeper.policy.plan import shell_argv
from sweeper.policy.proof.reports import MAX_BYTES, Report, read_report
from sweeper.policy.proof.tallies import collected_tests, printed_tally
from sweeper.ports import Gate, Ports, SandboxLimits, SandboxRun

FILE_BYTES = 256 << 10
"""Of one environment file; a larger one is not read."""


@dataclass(frozen=True)
class Tree:
    """A commit to check out under a name of the sweep's. `seconds` bound each command."""

    repository_id: int
    name: str
    commit: str
    seconds: float

    def at(self, commit: str) -> "Tree":
        """The same place for another commit."""
        return replace(self, commit=commit)


@dataclass(frozen=True)
class JobRun:
    """How a check's job went on one tree. `stopped_by`: a step before the check that failed, so the check never ran.

    `refused`: what was asked of the network and not given. `output` is the check's, redacted.
    """

    results: tuple[CheckResult, ...]
    stopped_by: CheckResult | None = None
    report: Report | None = None
    refused: tuple[str, ...] = ()
    output: bytes = b""

    @property
    def check(self) -> CheckResult | None:
        """The result of the check itself; None if a step before it failed."""
        return next((result for result in self.results if result.part is Part.CHECK), None)

    @property
    def is_green(self) -> bool:
        """Everything before it, and the check."""
        return self.stopped_by is None and self.check is not None and self.check.is_green


@dataclass(frozen=True)
class _Room:
    """Where the commands of one job run."""

    workspace: Workspace
    home: str
    gate: Gate | None
    state: JobState
    seconds: float


class JobRunner:
    """Runs jobs of a plan."""

    def __init__(self, ports: Ports) -> None:
        self._workspaces = ports.workspaces
        self._sandbox = ports.sandbox
        self._downloads = ports.downloads
        self.commands = CheckRunner(ports.sandbox, ports.artifacts)

    async def run(self, check: Check, tree: Tree, *, after: bool = False, counted: bool = True) -> JobRun:
        """The job up to its check, offline. `after`: with its other tests. `counted`: tests are collected once more."""
        async with self._room(check, tree, fetching=False) as room:
            before = await self._before(check, room)
            if before and not before[-1].is_green:
                return JobRun(results=before, stopped_by=before[-1], refused=_refused(room))
            number = len(before)
            result, output = await self._step(room, number, Part.CHECK, check, failing_step(check), WITH_REPORT)
            report = await self._report(room, number)
            collected = None
            if report is not None and counted:
                collected = await self._collected(check, room, number + 1)
            result = result.model_copy(update={"tally": _tally(report, collected, output)})
            others = await self._after(check, room, number + 2) if after else ()
            return JobRun((*before, result, *others), None, report, _refused(room), output)

    async def fetch(self, check: Check, tree: Tree) -> None:
        """Fill the download cache with what the steps before the check ask for; how they end is judged later."""
        if self._downloads is not None and (check.before or check.tools):
            async with self._room(check, tree, fetching=True) as room:
                await self._before(check, room)

    @asynccontextmanager
    async def _room(self, check: Check, tree: Tree, *, fetching: bool) -> AsyncIterator[_Room]:
        async with AsyncExitStack() as stack:
            gate = None
            if self._downloads is not None and (check.before or check.after or check.tools):
                opened = self._downloads.fetching() if fetching else self._downloads.cached()
                gate = await stack.enter_async_context(opened)
            workspace = await self._workspaces.create(tree.repository_id, tree.name, tree.commit)
            home = await self._workspaces.home(tree.repository_id, f"{tree.name}.home")
            stack.push_async_callback(self._workspaces.remove, tree.repository_id, f"{tree.name}.home")
            yield _Room(workspace, home, gate, JobState.of(check, self.commands.search_path), tree.seconds)

    async def _before(self, check: Check, room: _Room) -> tuple[CheckResult, ...]:
        """Up to the first that fails."""
        results: list[CheckResult] = []
        for number, step in enumerate((*environment(check), *check.before)):
            result, _ = await self._step(room, number, Part.BEFORE, check, step)
            results.append(result)
            if not result.is_green:
                break
        return tuple(results)

    async def _after(self, check: Check, room: _Room, first: int) -> tuple[CheckResult, ...]:
        results = []
        for number, step in enumerate(check.after, start=first):
            result, output = await self._step(room, number, Part.AFTER, check, step, WITH_REPORT)
            report = await self._report(room, number)
            results.append(result.model_copy(update={"tally": _tally(report, None, output)}))
        return tuple(results)

    async def _collected(self, check: Check, room: _Room, number: int) -> int | None:
        _, output = await self._step(room, number, Part.CHECK, check, failing_step(check), COLLECT_ONLY)
        return collected_tests(output)

    async def _step(
        self, room: _Room, number: int, part: Part, check: Check, step: PlanStep, mode: str = PLAIN
    ) -> tuple[CheckResult, bytes]:
        known = await self._known(room, step)
        command = expand(step.command, known)
        argv = shell_argv(check.model_copy(update={"command": command, "shell": step.shell}))
        run = SandboxRun(
            workspace=room.workspace.path,
            argv=in_job(argv, number, expand(step.working_directory, known), mode),
            env={
                **{name: expand(value, known) for name, value in room.state.env_of(step).items()},
                **(room.gate.env if room.gate else {}),
            },
            home=room.home,
            gate=room.gate.directory if room.gate else None,
            limits=SandboxLimits(seconds=room.seconds),
        )
        named = "" if part is Part.CHECK else step.name
        result = await self.commands.run(Command(check.name, command, part, named), run)
        if mode != COLLECT_ONLY:
            room.state.take(step.id, await self._left(room, number))
        return result

    async def _known(self, room: _Room, step: PlanStep) -> dict[str, str]:
        """What expressions that wait for the run stand for; asked of the sandbox only where there are some."""
        texts = (step.command, step.working_directory, *room.state.env_of(step).values())
        if not any("${{" in text for text in texts):
            return {}
        asked = ("/bin/sh", "-c", 'printf "%s\\n%s" "$PWD" "$HOME"')
        said = await self._sandbox.run(SandboxRun(workspace=room.workspace.path, argv=asked, home=room.home))
        workspace, _, home = said.output.decode("utf-8", "replace").partition("\n")
        known = {"github.workspace": workspace, "runner.temp": f"{home}/temp", "runner.os": "Linux"}
        known |= {f"env.{name}": value for name, value in room.state.env_of(step).items()}
        for step_id, outputs in room.state.outputs.items():
            known |= {f"steps.{step_id}.outputs.{name}": value for name, value in outputs.items()}
        return known

    async def _left(self, room: _Room, number: int) -> FileCommands:
        env, path, output = [await self._file(room, number, name) for name in ("env", "path", "output")]
        return FileCommands(
            env=parse_file_commands(env),
            path=[line for line in path.decode("utf-8", "replace").splitlines() if line.strip()],
            outputs=parse_file_commands(output),
        )

    async def _file(self, room: _Room, number: int, name: str) -> bytes:
        return await self._workspaces.left_in(room.home, left_at(number, name), FILE_BYTES) or b""

    async def _report(self, room: _Room, number: int) -> Report | None:
        data = await self._workspaces.left_in(room.home, left_at(number, REPORT), MAX_BYTES)
        return read_report(data) if data else None


def environment(check: Check) -> Sequence[PlanStep]:
    """Seam: steps that install the tools of a check."""
    return ()


def _refused(room: _Room) -> tuple[str, ...]:
    return tuple(room.gate.refused) if room.gate else ()


def _tally(report: Report | None, collected: int | None, output: bytes) -> Tally | None:
    return report.tally(collected) if report is not None else printed_tally(output)
