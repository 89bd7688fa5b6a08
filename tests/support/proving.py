"""The verifier on real parts: git, worktrees and a sandbox."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from adapters.sandbox import Bubblewrap, Unsandboxed
from sweeper.activities import requests
from sweeper.activities.job_runs import JobRunner
from sweeper.activities.reproducing import Reproducer
from sweeper.activities.verifier import Verifier
from sweeper.model import Check, CheckPlan, Diagnosis, Limits, Reproduction, Verdict
from sweeper.ports import Downloads, Ports
from tests.support.code_host import FakeCodeHost
from tests.support.git_origin import GitOrigin
from tests.support.scene_doubles import MemoryArtifacts
from worktrees.journal import JournalStore
from worktrees.store import Owner, WorktreeStore

REPO = 7
SWEEP = "sweep-1-1"


class RealBench:
    """One repository under `root`, its plan, and what is asked of the verifier."""

    def __init__(
        self, root: Path, sandbox: Bubblewrap | Unsandboxed, each: timedelta, downloads: Downloads | None = None
    ) -> None:
        self._root = root
        self.origin = GitOrigin(root)
        owner = sandbox.owner()
        whose = Owner(uid=owner[0], gid=owner[1]) if owner else None
        self.store = WorktreeStore(root / "state", "here", whose)
        self.journals = JournalStore(root / "state", "here", whose)
        self.artifacts = MemoryArtifacts()
        self.ports = Ports(
            FakeCodeHost(), self.store, sandbox, {}, self.artifacts, downloads=downloads, journals=self.journals
        )
        self.runner = JobRunner(self.ports)
        self.plan = CheckPlan(checks=(Check(name="check", command="sh check.sh"),))
        self._each = each

    def commit(
        self,
        files: Mapping[str, str | bytes | None],
        parent: str | None = None,
        links: Mapping[str, str] | None = None,
        programs: Sequence[str] = (),
    ) -> str:
        """A commit with these files (None: deleted) and links on top of `parent`; `programs` may be executed."""
        made = self.origin.commit(files, "main", parent)
        if not links and not programs:
            return made
        for path, target in (links or {}).items():
            (self.origin.clone / path).symlink_to(target)
        for path in programs:
            (self.origin.clone / path).chmod(0o755)
        return self.origin.commit_as_it_lies()

    async def reproduce(self, base: str, diagnosis: Diagnosis | None = None) -> Reproduction:
        """What the untouched tree shows."""
        await self.store.fetch(REPO, [base], self.origin.access)
        workspace = await self.store.create(REPO, SWEEP, base)
        request = requests.ReproduceRequest(
            workspace=workspace, plan=self.plan, check_timeout=self._each, diagnosis=diagnosis
        )
        return await Reproducer(self.ports, self.runner).reproduce(request)

    async def verify(self, base: str, fix: str, shown: Reproduction, diagnosis: Diagnosis | None = None) -> Verdict:
        """The verdict on a commit on top of `base`."""
        await self.store.fetch(REPO, [base, fix], self.origin.access)
        request = requests.VerifyRequest(
            sweep=SWEEP,
            name=f"{SWEEP}.verify1",
            repository_id=REPO,
            commit=fix,
            patch=await self.store.describe(REPO, base, fix),
            plan=self.plan,
            limits=Limits(),
            check_timeout=self._each,
            diagnosis=diagnosis,
            reproduction=shown,
        )
        return await Verifier(self.ports, self.runner).verify(request)

    async def discard(self) -> None:
        """As at the end of a sweep."""
        await self.store.discard(REPO, SWEEP)

    def left_over(self) -> list[str]:
        """Names of workspaces and homes that are still there."""
        return sorted(path.name for path in (self._root / "state").glob("t*/*/*"))
