"""Running a check as its job does, on one commit: a fresh tree, a fresh home, every step before it, then itself.

Nothing that an earlier tree installed is ever there: an environment made for another tree lies both ways. Safe twice:
trees and homes are destroyed before they are made.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

from sweeper.activities.checks import CheckRunner, Command
from sweeper.activities.steps import (
    COLLECT_ONLY,
    COLLECTED,
    PLAIN,
    REPORT,
    WITH_REPORT,
    FileCommands,
    JobState,
    failing_step,
    left_at,
)
from sweeper.errors import BadInput, NotFound, Unverifiable
from sweeper.model import Check, CheckResult, Part, PlanStep, Tally, Tool, Workspace
from sweeper.policy.environment import environment_steps
from sweeper.policy.planning import RunContext, expanded, parse_file_commands, shell_argv
from sweeper.policy.proof.collecting import Collection, Listing, listing
from sweeper.policy.proof.names import Names, matched, names_in
from sweeper.policy.proof.reports import MAX_BYTES, Report, read_report
from sweeper.policy.proof.side_effects import SideEffects
from sweeper.policy.proof.tallies import printed_tally
from sweeper.policy.redaction import redact
from sweeper.policy.version_files import file_of, version_in
from sweeper.ports import Gate, Ports, SandboxLimits, SandboxRun

FILE_BYTES = 1 << 20
"""Of one environment file; a larger one is not read."""
SET_UP = "Set up tools"
_NOT_TO_BE_RUN = (Unverifiable, BadInput)
"""BadInput: variables and commands are the repository's words, and a sandbox cannot pass on every one of them."""


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

    `problem`: it cannot be run here as CI runs it. `refused`: what was asked of the network and not given. `output` is
    the check's, redacted, as are `names`.
    """

    results: tuple[CheckResult, ...]
    stopped_by: CheckResult | None = None
    report: Report | None = None
    names: Names | None = None
    refused: tuple[str, ...] = ()
    output: bytes = b""
    problem: str | None = None
    effects: SideEffects = field(default_factory=SideEffects)

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
        self._artifacts = ports.artifacts
        self.commands = CheckRunner(ports.sandbox, ports.artifacts)

    async def run(self, check: Check, tree: Tree, *, after: bool = False, counted: bool = True) -> JobRun:
        """The job up to its check, offline. `after`: with its other tests. `counted`: tests are collected once more."""
        try:
            return await self._run(check, tree, after=after, counted=counted)
        except _NOT_TO_BE_RUN as reason:
            return JobRun(results=(), problem=str(reason))

    async def _run(self, check: Check, tree: Tree, *, after: bool, counted: bool) -> JobRun:
        async with self._room(check, tree, fetching=False) as room:
            before = await self._before(check, room)
            if before and not before[-1].is_green:
                return JobRun(results=before, stopped_by=before[-1], refused=_refused(room))
            number = len(before)
            result, output = await self._step(room, number, Part.CHECK, check, failing_step(check), WITH_REPORT)
            report = await self._report(room, number)
            names, tally = None, printed_tally(output)
            if report is not None:
                listed = await self._collected(check, room, number + 1) if counted else Listing()
                names, tally = await self._named(report, listed, output)
            result = result.model_copy(update={"tally": tally})
            others = await self._after(check, room, number + 2) if after else ()
            effects = await self._effects(room)
            return JobRun((*before, result, *others), None, report, names, _refused(room), output, effects=effects)

    async def names_of(self, tally: Tally | None) -> Names | None:
        """The names of an earlier run; None where there were none, or the store has them no more."""
        if tally is None or tally.names is None:
            return None
        with suppress(NotFound):
            return names_in((await self._artifacts.get(tally.names)).decode("utf-8", "replace"))
        return None

    async def fetch(self, check: Check, tree: Tree, *, whole: bool = False) -> None:
        """Fill the download cache with what the job asks for up to its check; how its steps end is judged later.

        The check itself runs only if it calls a package manager (`pip install -e . && pytest` in one step), or if it
        is asked for: `whole`, because a Makefile or a script may call one, which the command does not show.
        """
        if not self._may_download(check):
            return
        with suppress(*_NOT_TO_BE_RUN):
            async with self._room(check, tree, fetching=True) as room:
                before = await self._before(check, room)
                if (whole or self._calls_manager(check)) and all(result.is_green for result in before):
                    await self._step(room, len(before), Part.CHECK, check, failing_step(check))

    def _may_download(self, check: Check) -> bool:
        asks = check.before or check.tools or self._calls_manager(check)
        return self._downloads is not None and bool(asks)

    def _calls_manager(self, check: Check) -> bool:
        needed = environment_steps((), (), (check.command,))
        return not isinstance(needed, str) and bool(needed.path)

    async def _asked(self, check: Check, tree: Tree) -> tuple[Tool, ...]:
        """The tools of the check, with the versions that files of the tree name. Raises Unverifiable."""
        asked = []
        for tool in check.tools:
            if (path := file_of(tool)) is not None:
                data = await self._workspaces.read(tree.repository_id, tree.commit, path, FILE_BYTES)
                version = version_in(tool, path, data) if data is not None else None
                if version is None:
                    raise Unverifiable(f"{path} names no version of {tool.name}, which a setup step asks for")
                tool = tool.model_copy(update={"version": version})
            asked.append(tool)
        return tuple(asked)

    @asynccontextmanager
    async def _room(self, check: Check, tree: Tree, *, fetching: bool) -> AsyncIterator[_Room]:
        # Asking each program for its version takes a second the first time.
        installed = await asyncio.to_thread(self._sandbox.installed) if check.tools else ()
        tools = environment_steps(await self._asked(check, tree), installed, _commands(check))
        if isinstance(tools, str):
            raise Unverifiable(tools)
        async with AsyncExitStack() as stack:
            gate = None
            if self._downloads is not None and (self._may_download(check) or check.after):
                opened = self._downloads.fetching() if fetching else self._downloads.cached()
                gate = await stack.enter_async_context(opened)
            workspace = await self._workspaces.create(tree.repository_id, tree.name, tree.commit)
            home = await self._workspaces.home(tree.repository_id, f"{tree.name}.home")
            stack.push_async_callback(self._workspaces.remove, tree.repository_id, f"{tree.name}.home")
            yield _Room(workspace, home, gate, JobState.of(check, tools), tree.seconds)

    async def _before(self, check: Check, room: _Room) -> tuple[CheckResult, ...]:
        """Up to the first that fails without being allowed to."""
        results: list[CheckResult] = []
        for number, step in enumerate((*_set_up(room), *check.before)):
            result, _ = await self._step(room, number, Part.BEFORE, check, step)
            if step.may_fail and not result.is_green and result.limit is None:
                continue  # as in CI: what it did is there, and its end says nothing
            results.append(result)
            if not result.is_green:
                break
        return tuple(results)

    async def _after(self, check: Check, room: _Room, first: int) -> tuple[CheckResult, ...]:
        results = []
        for number, step in enumerate(check.after, start=first):
            result, output = await self._step(room, number, Part.AFTER, check, step, WITH_REPORT)
            report = await self._report(room, number)
            tally = report.tally() if report is not None else printed_tally(output)
            results.append(result.model_copy(update={"tally": tally}))
        return tuple(results)

    async def _collected(self, check: Check, room: _Room, number: int) -> Listing:
        """A list of many tests is longer than what is kept of an output, so it is taken from a file."""
        result, output = await self._step(room, number, Part.CHECK, check, failing_step(check), COLLECT_ONLY)
        if result.limit is not None:
            return Listing(collection=Collection.CUT)
        data = await self._workspaces.left_in(room.home, left_at(number, COLLECTED), MAX_BYTES)
        return await asyncio.to_thread(listing, data or output)

    async def _named(self, report: Report, listed: Listing, output: bytes) -> tuple[Names | None, Tally]:
        """The names as they are kept, and the counts that enter the history beside a reference to them.

        Foreign code chose the names. What is compared is redacted on both sides; a text that redaction broke is none.
        """
        text, names = await asyncio.to_thread(_kept, report, listed, output)
        kept = await self._artifacts.put(text) if names is not None else None
        return names, report.tally(listed.count).model_copy(update={"names": kept})

    async def _step(
        self, room: _Room, number: int, part: Part, check: Check, step: PlanStep, mode: str = PLAIN
    ) -> tuple[CheckResult, bytes]:
        step = await self._expanded(room, step)
        argv = shell_argv(step.shell, step.command)
        run = SandboxRun(
            workspace=room.workspace.path,
            argv=room.state.enter(argv, number, step.working_directory, mode),
            env={**step.env, **(room.gate.env if room.gate else {})},
            home=room.home,
            gate=room.gate.directory if room.gate else None,
            limits=SandboxLimits(seconds=room.seconds),
        )
        named = "" if part is Part.CHECK else step.name
        result = await self.commands.run(Command(check.name, step.command, part, named), run)
        if mode != COLLECT_ONLY:
            room.state.take(step.id, await self._left(room, number))
        return result

    async def _expanded(self, room: _Room, step: PlanStep) -> PlanStep:
        """The step with its variables, and with what was left for the run worked out. Raises Unverifiable.

        Directories are asked of the sandbox, and only where there is an expression.
        """
        step = step.model_copy(update={"env": room.state.env_of(step)})
        if not any("${{" in text for text in (step.command, step.working_directory, *step.env.values())):
            return step
        asked = ("/bin/sh", "-c", 'printf "%s\\n%s" "$PWD" "$HOME"')
        said = await self._sandbox.run(SandboxRun(workspace=room.workspace.path, argv=asked, home=room.home))
        workspace, _, home = said.output.decode("utf-8", "replace").partition("\n")
        state = room.state
        context = RunContext(env=state.env, outputs=state.outputs, workspace=workspace, temp=f"{home}/temp")
        return expanded(step, context)

    async def _left(self, room: _Room, number: int) -> FileCommands:
        env, path, output = [await self._file(room, number, name) for name in ("env", "path", "output")]
        return FileCommands(
            env=parse_file_commands(env),
            path=[line for line in path.decode("utf-8", "replace").splitlines() if line.strip()],
            outputs=parse_file_commands(output),
        )

    async def _file(self, room: _Room, number: int, name: str) -> bytes:
        return await self._workspaces.left_in(room.home, left_at(number, name), FILE_BYTES) or b""

    async def _effects(self, room: _Room) -> SideEffects:
        """Once for the whole job, when all of it has run: nothing of it is alive any more."""
        touched = await self._workspaces.touched(room.workspace)
        return SideEffects(touched=touched, env=room.state.env, path=tuple(room.state.path))

    async def _report(self, room: _Room, number: int) -> Report | None:
        data = await self._workspaces.left_in(room.home, left_at(number, REPORT), MAX_BYTES)
        return await asyncio.to_thread(read_report, data) if data else None


def _kept(report: Report, listed: Listing, output: bytes) -> tuple[bytes, Names | None]:
    text = matched(report, listed, output).text().encode("utf-8", "replace")
    kept = redact(text)
    names = names_in(kept.decode("utf-8", "replace")) if kept.count(b"\n") == text.count(b"\n") else None
    return kept, names


def _commands(check: Check) -> tuple[str, ...]:
    return (*(step.command for step in check.before), check.command, *(step.command for step in check.after))


def _set_up(room: _Room) -> Sequence[PlanStep]:
    commands = room.state.tools.commands
    step = {"name": SET_UP, "command": "\n".join(commands), "shell": "sh"}
    return (PlanStep.model_validate(step),) if commands else ()


def _refused(room: _Room) -> tuple[str, ...]:
    return tuple(room.gate.refused) if room.gate else ()
