"""Showing the failure on the tree that CI built, before anybody changes it. Safe twice: every tree is made anew."""

from collections.abc import Sequence
from dataclasses import dataclass

from sweeper.activities import requests
from sweeper.activities.job_runs import JobRun, JobRunner, Tree
from sweeper.model import Check, CheckResult, Part, Reproduction, TestedTree
from sweeper.policy.proof.judging import MOST_UNCHECKED
from sweeper.policy.triage import same_failure
from sweeper.ports import Ports, Workspaces

ATTRIBUTES_BYTES = 256 << 10
SAID_CHARS = 160
NO_MARK = (
    "What CI's failure looks like is not known well enough to compare; that it fails here too is all that is shown."
)


@dataclass(frozen=True)
class _Shown:
    """A check's runs on the untouched tree."""

    runs: tuple[JobRun, ...]
    problem: str | None

    @property
    def is_red(self) -> bool:
        return not any(run.is_green for run in self.runs)

    @property
    def is_mixed(self) -> bool:
        return not self.is_red and not all(run.is_green for run in self.runs)

    def results(self) -> tuple[CheckResult, ...]:
        """The first run whole; of the others the check alone: the history stays small."""
        again = tuple(run.check for run in self.runs[1:] if run.check is not None)
        return (*self.runs[0].results, *again)


class Reproducer:
    """Runs a plan two times, a third time when they differ."""

    def __init__(self, ports: Ports, runner: JobRunner) -> None:
        self._workspaces = ports.workspaces
        self._runner = runner

    async def reproduce(self, request: requests.ReproduceRequest) -> Reproduction:
        """What the untouched tree shows. All tries red: broken. `problem`: nothing can be concluded here."""
        workspace, tested = request.workspace, request.tested
        if tested is not None and await tested_commit(self._workspaces, workspace.repository_id, tested) is None:
            return Reproduction(problem=f"conflict: {tested.commit} does not merge with {tested.merged_with} any more")
        seconds = request.check_timeout.total_seconds()
        tree = Tree(workspace.repository_id, workspace.name, workspace.commit, seconds)
        shown = []
        for check in request.plan.checks:
            shown.append(await self._show(check, tree))
            if shown[-1].problem is not None:
                break
        lacks = await handicaps(self._workspaces, tree)
        problem, unchecked = self._judge(request, shown, lacks)
        described = await self._workspaces.describe(tree.repository_id, tree.commit, tree.commit)
        return Reproduction(
            results=tuple(result for one in shown for result in one.results()),
            problem=problem,
            is_flaky=any(one.is_mixed for one in shown) and not any(one.is_red for one in shown),
            commit=tree.commit,
            tree=described.tree,
            unchecked=unchecked[:MOST_UNCHECKED],
        )

    async def _show(self, check: Check, tree: Tree) -> _Shown:
        await self._runner.fetch(check, tree)
        runs: list[JobRun] = []
        while len(runs) < 2 or (len(runs) == 2 and runs[0].is_green != runs[1].is_green):
            run = await self._runner.run(check, tree, after=not runs, counted=not runs)
            if not runs and _asked_by_itself(run):
                await self._runner.fetch(check, tree, whole=True)
                run = await self._runner.run(check, tree, after=True)
            runs.append(run)
            if problem := self._problem(run):
                return _Shown(tuple(runs), problem)
        return _Shown(tuple(runs), None)

    def _problem(self, run: JobRun) -> str | None:
        if run.problem is not None:
            return run.problem
        if run.stopped_by is None:
            return self._runner.commands.problem([r for r in run.results if r.part is Part.CHECK])
        said = self._runner.commands.problem([run.stopped_by])
        if run.refused:
            return needs_network(run.refused)
        return said or f"step {run.stopped_by.step!r} fails here before the failing one"

    def _judge(
        self, request: requests.ReproduceRequest, shown: Sequence[_Shown], lacks: tuple[str, ...]
    ) -> tuple[str | None, tuple[str, ...]]:
        """Whether what is red here is what was red in CI."""
        problem = next((one.problem for one in shown if one.problem is not None), None)
        red = [one.runs[0] for one in shown if one.is_red]
        mixed = tuple(
            f"Check {one.runs[0].results[0].check!r} is red only sometimes here."
            for one in shown
            if one.is_mixed and red
        )
        if problem is not None or not red or request.diagnosis is None:
            return problem, (*lacks, *mixed)
        alike = [same_failure(request.diagnosis, run.output) for run in red]
        if any(alike):
            return None, (*lacks, *mixed)
        refused = tuple(dict.fromkeys(place for run in red for place in run.refused))
        if refused:
            return needs_network(refused), ()
        if lacks:
            return " ".join(lacks), ()
        if None in alike:
            return None, (NO_MARK, *mixed)
        return f"fails here for another reason than in CI: {_last_words(red[0].output)}", ()


async def tested_commit(workspaces: Workspaces, repository_id: int, tested: TestedTree) -> str | None:
    """The commit that CI built: the one that was pushed, or its merge; None on conflict."""
    if tested.merged_with is None:
        return tested.commit
    return await workspaces.merge(repository_id, tested.commit, tested.merged_with)


async def handicaps(workspaces: Workspaces, tree: Tree) -> tuple[str, ...]:
    """What of a commit is not in its checkout here, each as a sentence."""
    found = []
    if submodules := await workspaces.submodules(tree.repository_id, tree.commit):
        named = ", ".join(submodules[:3]) + (", ..." if len(submodules) > 3 else "")
        found.append(f"Submodules are not checked out here, so these directories are empty: {named}.")
    attributes = await workspaces.read(tree.repository_id, tree.commit, ".gitattributes", ATTRIBUTES_BYTES)
    if attributes is not None and b"filter=lfs" in attributes:
        found.append("The repository needs LFS, which is not fetched here: its large files are pointers.")
    return tuple(found)


def _asked_by_itself(run: JobRun) -> bool:
    """Whether a check asked for what was not fetched before: it installs in a way that its command does not show."""
    return run.check is not None and not run.is_green and bool(run.refused)


def needs_network(refused: Sequence[str]) -> str:
    """Why a command could not be judged offline."""
    return f"needs_network({', '.join(refused[:3])})"


def _last_words(output: bytes) -> str:
    lines = [line.strip() for line in output.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1][:SAID_CHARS] if lines else "it printed nothing"
