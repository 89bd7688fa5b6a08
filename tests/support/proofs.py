"""A verifier on fakes: commits are dictionaries, and a scripted command looks at the files it is run on.

`Tests` plays pytest: it "runs" what the tree says, writes a report where the real one would, and collects when asked.
"""

import html
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from sweeper.activities import requests
from sweeper.activities.job_runs import JobRunner
from sweeper.activities.reproducing import Reproducer
from sweeper.activities.verifier import Verifier
from sweeper.model import (
    Check,
    CheckPlan,
    Diagnosis,
    GitAccess,
    Limits,
    Patch,
    Reproduction,
    TestedTree,
    Verdict,
)
from sweeper.ports import Gate, Ports, SandboxRun
from tests.support.code_host import FakeCodeHost
from tests.support.journals import FakeJournals
from tests.support.sandbox import FakeSandbox, Reply
from tests.support.scene_doubles import MemoryArtifacts
from tests.support.workspaces import FakeWorkspaces, Tree

REPO = 7
SWEEP = "sweep-1-1"
ACCESS = GitAccess(url="file:///nowhere")
MINUTE = timedelta(minutes=1)
_JOB = re.compile(r"job (\d+) (\S+) (plain|report|collect) ")


def asked(run: SandboxRun) -> tuple[str, str]:
    """(number of the command in its job, what a test tool is asked for)."""
    found = _JOB.search(" ".join(run.argv))
    assert found is not None
    return found[1], found[3]


def collection(tests: Iterable[str]) -> bytes:
    """What `pytest --collect-only -q` prints for tests (dotted, each in a file)."""
    nodes = [f"{test.rpartition('.')[0].replace('.', '/')}.py::{test.rpartition('.')[2]}" for test in tests]
    return "\n".join([*nodes, "", f"{len(nodes)} tests collected in 0.01s", ""]).encode()


def junit(ends: Mapping[str, str]) -> bytes:
    """A report as pytest writes it: test (dotted) to passed, failed or skipped."""
    inside = {"passed": "", "failed": "<failure/>", "skipped": "<skipped/>"}
    cases = "".join(
        f'<testcase classname="{test.rpartition(".")[0]}" name="{html.escape(test.rpartition(".")[2])}">{inside[end]}'
        "</testcase>"
        for test, end in ends.items()
    )
    return f'<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite>{cases}</testsuite></testsuites>'.encode()


@dataclass
class FakeGate:
    """Gives nothing, and remembers what was asked."""

    directory: str = "/fake/gate"
    env: Mapping[str, str] = field(default_factory=lambda: {"HTTPS_PROXY": "http://127.0.0.1:3128"})
    refused: tuple[str, ...] = ()


@dataclass
class FakeDownloads:
    """Counts how it is opened."""

    gate: FakeGate = field(default_factory=FakeGate)
    opened: list[str] = field(default_factory=list)

    def fetching(self) -> AbstractAsyncContextManager[Gate]:
        return self._open("fetching")

    def cached(self) -> AbstractAsyncContextManager[Gate]:
        return self._open("cached")

    @asynccontextmanager
    async def _open(self, how: str) -> AsyncIterator[Gate]:
        self.opened.append(how)
        yield self.gate


Ends = Callable[[Tree], Mapping[str, str]]


class Bench:
    """One repository, one plan, and what its commands do. Drive it with `on` and `tests`; ask `reproduce`, `verify`."""

    def __init__(self, files: Mapping[str, str], *checks: Check) -> None:
        self.workspaces = FakeWorkspaces()
        self.sandbox = FakeSandbox()
        self.artifacts = MemoryArtifacts()
        self.downloads: FakeDownloads | None = None
        self.plan = CheckPlan(checks=checks or (Check(name="test", command="pytest"),))
        self.base = self.commit(files)

    def commit(self, files: Mapping[str, str], parent: str | None = None, branch: str = "main") -> str:
        made = self.workspaces.seed(REPO, files, branch, parent)
        self.workspaces.mirrored.add((REPO, made))
        return made

    def without(self, path: str, parent: str) -> str:
        """A commit in which a file is gone."""
        made = self.commit({}, parent)
        del self.workspaces.commits[made].files[path]
        return made

    def on(self, command: str, ends: Callable[[Tree], int]) -> None:
        """What a command's exit code is, by the files it runs on."""
        self.sandbox.on(command, lambda run: Reply(ends(self.workspaces.tree_at(run.workspace))))

    def tests(self, command: str, ends: Ends, *, exit_code: int | None = None, collected: int | None = None) -> None:
        """A command that is pytest. `exit_code` and `collected` lie when they are given."""

        def run(run: SandboxRun) -> Reply:
            number, mode = asked(run)
            found = ends(self.workspaces.tree_at(run.workspace))
            if mode == "collect":
                said = collection(found) if collected is None else f"{collected} tests collected in 0.01s\n".encode()
                return Reply(0, said)
            assert run.home is not None
            self.workspaces.homes[run.home][f".job/{number}/report.xml"] = junit(found)
            honest = 1 if "failed" in found.values() else 0
            return Reply(honest if exit_code is None else exit_code, b"== done ==\n")

        self.sandbox.on(command, run)

    @property
    def ports(self) -> Ports:
        return Ports(
            FakeCodeHost(),
            self.workspaces,
            self.sandbox,
            {},
            self.artifacts,
            downloads=self.downloads,
            journals=FakeJournals(self.workspaces),
        )

    async def reproduce(
        self, commit: str | None = None, diagnosis: Diagnosis | None = None, tested: TestedTree | None = None
    ) -> Reproduction:
        ports = self.ports
        workspace = await self.workspaces.create(REPO, SWEEP, commit or self.base)
        request = requests.ReproduceRequest(
            workspace=workspace, plan=self.plan, check_timeout=MINUTE, diagnosis=diagnosis, tested=tested
        )
        return await Reproducer(ports, JobRunner(ports)).reproduce(request)

    async def patch(self, commit: str, parent: str | None = None) -> Patch:
        return await self.workspaces.describe(REPO, parent or self.base, commit)

    async def verify(self, fix: str, **more: object) -> Verdict:
        """Of a commit on top of the base."""
        ports = self.ports
        request = requests.VerifyRequest(
            sweep=SWEEP,
            name=f"{SWEEP}.verify1",
            repository_id=REPO,
            commit=fix,
            patch=await self.patch(fix),
            plan=self.plan,
            limits=Limits(),
            check_timeout=MINUTE,
        )
        return await Verifier(ports, JobRunner(ports)).verify(request.model_copy(update=more))

    def commands(self) -> Iterator[Sequence[str]]:
        """What was run, without the job's own entry."""
        return (run.argv for run in self.sandbox.runs)
