"""The real sandbox: bubblewrap, probed before it is trusted.

The event loop's own thread starts it, never a pool thread: --die-with-parent follows the parent *thread*.
"""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from adapters.sandbox import gate, layout, probe
from adapters.sandbox.binary import Binary, find_binaries
from adapters.sandbox.cgroups import Parents, find_parents
from adapters.sandbox.identity import sandbox_identity
from adapters.sandbox.layers import Inside, command_line, make_stage
from adapters.sandbox.layout import Data, Mount
from adapters.sandbox.leftovers import end_leftovers
from adapters.sandbox.limits import Guard, bounded
from adapters.sandbox.output import CappedOutput, drain
from adapters.sandbox.pipes import in_memory, to_the_end
from adapters.sandbox.problems import NO_BWRAP, ROOT_ALONE, KernelSettings, explain
from adapters.sandbox.seccomp import filter_program
from adapters.sandbox.tools import HostView, Tools, find_tools
from adapters.sandbox.tree import SetupFailed, Tree, behind_gate
from adapters.sandbox.underway import Underway, end_left_runs
from adapters.sandbox.versions import installed_tools
from sweeper.errors import MissingTool, SweeperError
from sweeper.model import Tool
from sweeper.ports import SandboxFacts, SandboxResult, SandboxRun

NAME = "bubblewrap"


class Bubblewrap:
    """`Sandbox` over bwrap. `private`: directories no tool may make visible (the state directory). The rest is found.

    Running twice is two runs; nothing of one is left for the next but what it wrote in its workspace.
    """

    def __init__(
        self,
        private: Sequence[Path] = (),
        tools: Tools | None = None,
        binaries: Sequence[Binary] | None = None,
        groups: Parents | None = None,
    ) -> None:
        self._tools = tools or find_tools(HostView.of_this_process(tuple(private)))
        self._binaries = find_binaries() if binaries is None else tuple(binaries)
        self._identity = sandbox_identity()
        self._groups = find_parents() if groups is None else groups
        self._filter = [program] if (program := filter_program()) else []
        self._lock = asyncio.Lock()
        self._facts: SandboxFacts | None = None
        self._binary: Binary | None = None
        self._installed: tuple[Tool, ...] | None = None

    @property
    def search_path(self) -> tuple[str, ...]:
        """Directories where programs are looked for inside."""
        return self._tools.search_path

    def which(self, name: str) -> str | None:
        """Where a program is found inside; None if it is not."""
        return self._tools.which(name)

    def installed(self) -> tuple[Tool, ...]:
        """Asked once, which takes a second; then remembered."""
        if self._installed is None:
            self._installed = installed_tools(self.which, self.search_path)
        return self._installed

    def owner(self) -> tuple[int, int] | None:
        """Host uid and gid that must own a workspace; None: the worker's own will do."""
        return self._identity.owner

    async def probe(self) -> SandboxFacts:
        """Try each bwrap there is with a real run; the first that holds is used from then on. Asked once.

        What a killed worker left half-made is ended first.
        """
        async with self._lock:
            if self._facts is None:
                await asyncio.to_thread(end_leftovers)
                self._facts = await self._probe_all()
            return self._facts

    async def run(self, run: SandboxRun) -> SandboxResult:
        """As the port says. Raises MissingTool with the probe's sentence, BadInput for a name that cannot be passed."""
        facts = await self.probe()
        if facts.problem is not None or self._binary is None:
            raise MissingTool(facts.problem or NO_BWRAP)
        await end_left_runs()
        result, _ = await self._execute(self._binary, run)
        return result

    async def _probe_all(self) -> SandboxFacts:
        facts = SandboxFacts(name=NAME, problem=NO_BWRAP)
        for binary in self._binaries:
            facts = await self._probe_one(binary)
            if facts.problem is None:
                self._binary = binary
                break
        return facts

    async def _probe_one(self, binary: Binary) -> SandboxFacts:
        place = Path(tempfile.mkdtemp(prefix="sweeper-probe-"))
        try:
            problem, held = await self._look_around(binary, place)
        except SweeperError as error:
            problem, held = str(error), ()
        finally:
            shutil.rmtree(place, ignore_errors=True)
        version = await asyncio.to_thread(binary.version)
        return SandboxFacts(name=NAME, version=version, path=str(binary.path), held=held, problem=problem)

    async def _look_around(self, binary: Binary, place: Path) -> tuple[str | None, tuple[str, ...]]:
        canary, workspace = place / "canary", place / "work"
        if self._identity.switches:
            make_stage()
        canary.touch()
        workspace.mkdir()
        self._give_away(workspace)
        result, bounds = await self._execute(binary, probe.probe_run(workspace, canary))
        left = workspace / probe.LEFT_BEHIND
        seen = probe.Seen(result=result, file_uid=left.lstat().st_uid if left.exists() else None)
        problem = probe.judge(seen, self._identity, filtered=bool(self._filter))
        return problem, () if problem else (*probe.held(filtered=bool(self._filter)), *bounds)

    def _give_away(self, place: Path) -> None:
        if owner := self.owner():
            try:
                os.chown(place, *owner, follow_symlinks=False)
            except OSError as error:  # EINVAL: that user is not in our namespace
                raise MissingTool(ROOT_ALONE) from error

    async def _execute(self, binary: Binary, run: SandboxRun) -> tuple[SandboxResult, tuple[str, ...]]:
        self._prepare(run)
        started, output = time.monotonic(), CappedOutput()
        guard = Guard(run.limits, self._groups, Path(run.workspace))
        try:
            files = {**layout.synthetic_etc(self._identity), **_inside_names(run.files)}
            if run.gate is not None:
                files |= gate.program()
            with in_memory([*files.values(), *self._filter]) as descriptors:
                line = partial(command_line, binary, self._identity, inside=self._inside(run, list(files), descriptors))
                with Underway() as underway:
                    async with Tree(line, descriptors) as tree:
                        code = await _supervise(tree, guard, output, underway)
                limit = tree.ended_by or guard.explain(code)
        finally:
            await to_the_end(asyncio.to_thread(guard.close))
        seconds = time.monotonic() - started
        if code is None and limit is None:
            return _not_started(output.bytes(), seconds), guard.held
        return SandboxResult(exit_code=code, seconds=seconds, output=output.bytes(), limit=limit), guard.held

    def _prepare(self, run: SandboxRun) -> None:
        layout.refuse_bad_names(run)
        if run.gate is not None:
            gate.refuse_bad_gate(run.gate)
        if run.home is not None:
            layout.refuse_bad_home(run.home)
            self._give_away(Path(run.home))

    def _inside(self, run: SandboxRun, files: Sequence[str], descriptors: Sequence[int]) -> Inside:
        tools = [Mount(str(tool.source), str(tool.target)) for tool in self._tools.directories]
        argv = bounded(run.argv, run.limits, self._identity.uid)
        return Inside(
            argv=behind_gate(gate.through_gate(argv, self.which("python3")) if run.gate else argv),
            directory=layout.working_directory(run.working_directory),
            env=layout.environment(self.search_path, run.env),
            mounts=[*tools, *_own_places(run)],
            data=[Data(descriptor, target) for descriptor, target in zip(descriptors, files, strict=False)],
            filters=descriptors[len(files) :],
        )


def _own_places(run: SandboxRun) -> list[Mount]:
    """The workspace, and what else of the host this run was given."""
    places = [Mount(str(Path(run.workspace).resolve()), layout.WORK_AT, writable=True)]
    if run.home is not None:
        places.append(Mount(str(Path(run.home).resolve()), layout.HOME_AT, writable=True))
    if run.gate is not None:
        places.append(Mount(str(Path(run.gate).resolve()), layout.GATE_AT))
    return places


async def _supervise(tree: Tree, guard: Guard, output: CappedOutput, underway: Underway) -> int | None:
    """Let the command run under its bounds; its exit code, or None if it was ended or never came to start."""
    limits = guard.limits
    reading = asyncio.ensure_future(drain(tree.output, output, limits.output_bytes, partial(tree.kill, "output")))
    with ExitStack() as cleanup:
        cleanup.callback(reading.cancel)
        try:
            pid = await tree.hold()
            underway.led_by(pid)
            guard.apply(pid)
        except (SetupFailed, ProcessLookupError):
            await reading
            return None
        timer = asyncio.get_running_loop().call_later(limits.seconds, tree.kill, "time")
        cleanup.callback(timer.cancel)
        watching = asyncio.ensure_future(guard.watch(pid, tree.kill))
        cleanup.callback(watching.cancel)
        tree.release()
        code = await tree.exit_code()
        await reading
        return code


def _not_started(said: bytes, seconds: float) -> SandboxResult:
    """bwrap gave up before the command. A missing directory is the command's own fault, the rest the machine's."""
    words = said.decode(errors="replace")
    if "bwrap: Can't chdir to" in words:
        return SandboxResult(exit_code=layout.NO_DIRECTORY_EXIT, seconds=seconds, output=layout.NO_DIRECTORY)
    raise MissingTool(explain(None, words, KernelSettings.read()))


def _inside_names(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {f"{layout.FILES_AT}/{name}": content for name, content in files.items()}
