"""The proof on a repository as it is in the world: break a copy, show it red, have it mended, show it green.

    python -m tests.reports.real_repositories PATH --job NAME --break 'sed ...' --fix 'sed ...' [--step NAME]

The plan comes from the repository's own workflow file, packages from the registries through the gate, every run from
the sandbox; nothing is faked. Only CI's log is made here: it is what the job said when it first ran. Wants a network,
so no test runs it. Markdown on stdout; exit code 1 unless the verdict is `fixed`.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from adapters.agents.command import CommandAgent
from adapters.sandbox import choose_sandbox
from sweeper.activities import requests
from sweeper.activities.checks import with_excerpts
from sweeper.activities.job_runs import JobRun, JobRunner, Tree
from sweeper.activities.reproducing import Reproducer
from sweeper.activities.verifier import Verifier
from sweeper.cli import composition
from sweeper.cli.plan import PlannedJobs, Wanted, lines, of_path
from sweeper.config import Settings, StateDir, load_settings
from sweeper.errors import BadInput
from sweeper.model import (
    CheckPlan,
    CheckResult,
    CommitMeta,
    Diagnosis,
    FixReport,
    GitAccess,
    JobEvidence,
    JobFacts,
    Limits,
    Part,
    Reproduction,
    RunFacts,
    RunRef,
    StepFacts,
    Verdict,
    VerdictKind,
)
from sweeper.model.task import Task
from sweeper.policy.triage import diagnose
from sweeper.ports import Artifacts, Ports, Sandbox
from tests.support.code_host import FakeCodeHost
from tests.support.git_origin import git
from tests.support.recording import patch_of

REPOSITORY_ID = 1
SWEEP = "sweep-1-1"
TAIL_LINES = 12


@dataclass(frozen=True)
class Wish:
    """What to do to which job of which repository."""

    path: Path
    wanted: Wanted
    breaking: str
    mending: str
    each: timedelta


@dataclass(frozen=True)
class Told:
    """How it went. `seconds` by part of the story."""

    at: str
    planned: PlannedJobs
    diagnosis: Diagnosis
    reproduction: Reproduction
    fix: FixReport | None
    verdict: Verdict | None
    seconds: dict[str, float]


class Scene:
    """One broken copy of a repository on real parts; CI is the one thing that is played."""

    def __init__(self, ports: Ports, wish: Wish, place: Path) -> None:
        self._ports = ports
        self._runner = JobRunner(ports)
        self._wish = wish
        self._copy = place / "copy"
        self._seconds: dict[str, float] = {}

    async def play(self) -> Told:
        """The whole story. Raises BadInput for a job without a plan, or a change that breaks nothing."""
        at, broken = self._broken()
        planned = _one(of_path(self._copy, self._wish.wanted).plans)
        await self._ports.workspaces.fetch(REPOSITORY_ID, [broken], GitAccess(url=self._copy.as_uri()))
        diagnosis = await self._ci(planned, broken)
        reproduction = await self._reproduced(planned.plan, broken, diagnosis)
        if reproduction.problem is not None or not reproduction.is_red:
            return Told(at, planned, diagnosis, reproduction, None, None, self._seconds)
        fix, verdict = await self._mended(planned.plan, broken, diagnosis, reproduction)
        return Told(at, planned, diagnosis, reproduction, fix, verdict, self._seconds)

    def _broken(self) -> tuple[str, str]:
        """The commit the repository is at, and one on top of it in our own copy, with the bug."""
        git("clone", "-q", "--no-hardlinks", str(self._wish.path.resolve()), str(self._copy), cwd=Path.cwd())
        at = git("rev-parse", "HEAD", cwd=self._copy)
        _sh(self._wish.breaking, self._copy)
        if not git("status", "--porcelain", cwd=self._copy):
            raise BadInput("The command of --break changed nothing; give one that plants a bug.")
        git("commit", "-q", "-a", "-m", "Plant a bug", cwd=self._copy)
        return at, git("rev-parse", "HEAD", cwd=self._copy)

    async def _ci(self, planned: PlannedJobs, broken: str) -> Diagnosis:
        """The job once, and what triage makes of a log with its words."""
        check = planned.plan.checks[0]
        tree = Tree(REPOSITORY_ID, SWEEP, broken, self._wish.each.total_seconds())
        with self._timed("downloads"):
            await self._runner.fetch(check, tree, whole=True)  # CI has a network
        with self._timed("the job, once"):
            run = await self._runner.run(check, tree, counted=False)
        if run.problem is not None:
            raise BadInput(f"The job cannot be run here: {run.problem}.")
        if run.is_green:
            raise BadInput("The job is green with the bug in; plant one that its tests notice.")
        job = JobFacts(
            id=1,
            name=planned.jobs[0],
            conclusion="failure",
            steps=(StepFacts(number=1, name=planned.step, conclusion="failure"),),
        )
        return diagnose(_facts(broken), [JobEvidence(job=job)], [_log(check.command, run)], planned.plan)

    async def _reproduced(self, plan: CheckPlan, broken: str, diagnosis: Diagnosis) -> Reproduction:
        request = requests.ReproduceRequest(
            workspace=await self._ports.workspaces.create(REPOSITORY_ID, SWEEP, broken),
            plan=plan,
            check_timeout=self._wish.each,
            diagnosis=diagnosis,
        )
        with self._timed("reproduce"):
            return await Reproducer(self._ports, self._runner).reproduce(request)

    async def _mended(
        self, plan: CheckPlan, broken: str, diagnosis: Diagnosis, shown: Reproduction
    ) -> tuple[FixReport, Verdict]:
        workspaces = self._ports.workspaces
        workspace = await workspaces.create(REPOSITORY_ID, f"{SWEEP}.fix1", broken)
        agent = CommandAgent(self._wish.mending, self._ports.sandbox, self._ports.artifacts)
        task = Task(
            sweep=SWEEP,
            attempt=1,
            repository="real/repository",
            failing_sha=broken,
            diagnosis=diagnosis,
            check_plan=plan,
        )
        meta = CommitMeta(message="Mend it", name="fix", email="fix@example.org", date=datetime.now(UTC))
        with self._timed("fix"):
            fix = await agent.fix(task, workspace, self._wish.each)
            patch = await patch_of(self._ports.journals, workspace, meta, f"refs/sweeper/{SWEEP}/1")
        if patch is None:
            raise BadInput("The command of --fix changed nothing; give one that mends the bug.")
        request = requests.VerifyRequest(
            sweep=SWEEP,
            name=f"{SWEEP}.verify1",
            repository_id=REPOSITORY_ID,
            commit=patch.commit,
            patch=patch,
            plan=plan,
            limits=Limits(),
            check_timeout=self._wish.each,
            diagnosis=diagnosis,
            reproduction=shown,
        )
        with self._timed("verify"):
            return fix, await Verifier(self._ports, self._runner).verify(request)

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        """Told at once, too: a large installation takes minutes."""
        began = time.monotonic()
        yield
        self._seconds[part] = time.monotonic() - began
        print(f"{part}: {self._seconds[part]:.1f} s", file=sys.stderr, flush=True)


def _one(plans: Sequence[PlannedJobs]) -> PlannedJobs:
    if len(plans) != 1:
        raise BadInput(f"{len(plans)} jobs fit; name one with --job, and its file with --workflow.")
    if not plans[0].plan.checks:
        raise BadInput(f"Job {plans[0].jobs[0]!r} has no check: {plans[0].plan.unverifiable}.")
    return plans[0]


def _sh(command: str, place: Path) -> None:
    if subprocess.run(["/bin/sh", "-c", command], cwd=place, check=False).returncode != 0:
        raise BadInput(f"{command!r} failed; give a --break that plants a bug.")


def _facts(sha: str) -> RunFacts:
    return RunFacts(
        run=RunRef(repository="real/repository", repository_id=REPOSITORY_ID, run_id=1),
        status="completed",
        conclusion="failure",
        event="push",
        head_sha=sha,
        head_branch="main",
        created_at=datetime.now(UTC),
    )


def _log(command: str, run: JobRun) -> bytes:
    """As Actions writes the failing step of a job."""
    red = run.stopped_by or run.check
    code = red.exit_code if red else 1
    head = f"##[group]Run {command.splitlines()[0]}\n##[endgroup]\n".encode()
    return head + run.output + f"\n##[error]Process completed with exit code {code}.\n".encode()


def ports(settings: Settings, state: StateDir, sandbox: Sandbox) -> Ports:
    """As a worker has them; there is no GitHub in this story."""
    return Ports(
        code_host=FakeCodeHost(),
        workspaces=composition.workspaces(state.worktrees, sandbox),
        journals=composition.journals(state.worktrees, sandbox),
        sandbox=sandbox,
        agents={},
        artifacts=composition.artifacts(state),
        downloads=composition.downloads(settings, state),
    )


async def markdown(told: Told, store: Artifacts) -> str:
    """All of it for people."""
    d = told.diagnosis
    parts = [
        f"at {told.at}, job {told.planned.jobs[0]!r}",
        "\n".join(lines([told.planned])),
        f"diagnosis: {d.failure_class.value}, {d.action.value}; tests: {', '.join(d.tests[:5]) or 'none named'}",
        await _runs("before", told.reproduction.results, store),
        f"reproduction: {told.reproduction.problem or 'red, as in CI'}",
    ]
    if told.verdict is not None and told.fix is not None:
        v = told.verdict
        findings = "".join(f"\n- {f.severity.value} {f.name}: {f.place} ({f.detail})" for f in v.findings)
        unchecked = "".join(f"\n- {sentence}" for sentence in v.unchecked)
        parts += [
            f"agent: {told.fix.agent}, {told.fix.outcome.value}",
            await _runs("after", v.results, store),
            f"verdict: {v.kind.value} {v.reason}",
            f"findings:{findings or ' none'}",
            f"not checked:{unchecked or ' none'}",
        ]
    parts.append("seconds: " + ", ".join(f"{name} {spent:.1f}" for name, spent in told.seconds.items()))
    return "\n\n".join(parts)


async def _runs(when: str, results: Sequence[CheckResult], store: Artifacts) -> str:
    rows = [f"### {when}", "", "| part | command | exit | seconds | tests |", "|---|---|---|---|---|"]
    for r in results:
        cells = (
            r.part.value,
            r.command.splitlines()[0][:60],
            f"{r.limit or r.exit_code}",
            f"{r.seconds:.1f}",
            _count(r),
        )
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    check = next((r for r in results if r.part is Part.CHECK), results[-1] if results else None)
    if check is not None:
        (filled,) = await with_excerpts([check], store)
        rows += ["", "```", *filled.excerpt.splitlines()[-TAIL_LINES:], "```"]
    return "\n".join(rows)


def _count(result: CheckResult) -> str:
    t = result.tally
    if t is None:
        return ""
    return f"{t.passed} passed, {t.failed} failed, {t.skipped} skipped, {t.collected} collected ({t.source})"


async def _main(wish: Wish) -> int:
    with tempfile.TemporaryDirectory(prefix="real-") as place:
        root = Path(place)
        settings, state = load_settings(use_working_directory=False), StateDir(root / "state")
        sandbox = await choose_sandbox(allow_unsandboxed=False, private=(state.root,))
        standing = ports(settings, state, sandbox)
        told = await Scene(standing, wish, root).play()
        print(await markdown(told, standing.artifacts))
        await standing.workspaces.discard(REPOSITORY_ID, SWEEP)
    return 0 if told.verdict is not None and told.verdict.kind is VerdictKind.FIXED else 1


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(prog="real_repositories", description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--job", required=True)
    parser.add_argument("--step")
    parser.add_argument("--workflow")
    parser.add_argument("--break", dest="breaking", required=True, metavar="CMD")
    parser.add_argument("--fix", required=True, metavar="CMD")
    parser.add_argument("--minutes", type=float, default=10.0, help="for each command")
    asked = parser.parse_args(argv)
    wanted = Wanted(job=asked.job, step=asked.step, workflow=asked.workflow)
    each = timedelta(minutes=asked.minutes)
    try:
        return asyncio.run(_main(Wish(asked.path, wanted, asked.breaking, asked.fix, each)))
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
