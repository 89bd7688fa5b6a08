"""Runs one hostile agent as the product runs any: in the real sandbox, on a real workspace, its tree into a journal."""

import asyncio
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cached_property
from pathlib import Path

from adapters.agents.command import CommandAgent
from adapters.sandbox import Bubblewrap
from adapters.sandbox.redacting import RedactingSandbox
from sweeper.activities.verifier import FILE_BYTES
from sweeper.errors import PolicyDenied
from sweeper.model import Allowance, Check, CheckPlan, CommitMeta, Limits, Tool, Workspace
from sweeper.model.journal import AgentAction, JournalRef
from sweeper.model.task import Task
from sweeper.policy.redaction import Redactor
from sweeper.policy.rendering.story import change, story
from sweeper.policy.tampering import Exam, tampering
from sweeper.ports import SandboxFacts, SandboxLimits, SandboxResult, SandboxRun
from sweeper.ports.models import ModelDoors
from tests.security.agents.case import Hostile
from tests.security.agents.door import ALLOWANCE, door_for
from tests.security.agents.host import LISTED, Host, planted
from tests.security.agents.leavings import Left, entries
from tests.support.git_origin import GitOrigin, git
from tests.support.sandboxes import alive
from tests.support.scene_doubles import MemoryArtifacts
from tests.support.values import NOW, attempt, diagnosis, verdict
from worktrees.journal import JournalStore
from worktrees.store import Owner, WorktreeStore
from worktrees.walk import TreeLimits

REPOSITORY = 7
WHOLE_SECONDS = 100.0
TIGHT = {"memory_bytes": 512 << 20, "processes": 128, "file_bytes": 256 << 20, "output_bytes": 16 << 20}
FILES = {
    "app.py": "answer = 41\n",
    "test_app.py": "from app import answer\n\n\ndef test_answer():\n    assert answer == 42\n",
    "pkg/__init__.py": "",
    "pkg/part.py": "part = 1\n",
    ".gitignore": "build/\n*.ignored\n",
}
PLAN = CheckPlan(checks=(Check(name="check", command="python -m pytest -q"),), source="ci.yml")
META = CommitMeta(message="Mend it\n", name="CI Sweeper", email="ci-sweeper@localhost", date=NOW)
_LOOK_AROUND = (
    'env | sort; find "$HOME" /tmp /dev/shm /var/tmp /run -mindepth 1 2>/dev/null | sort; ls -A / /sweeper; '
    "cat /proc/sysvipc/shm /proc/sysvipc/msg; python3 -c 'import sys, json; print(json.__file__, *sorted(sys.modules))'"
)


class Tight:
    """A sandbox with smaller bounds, so that reaching them costs others on this machine nothing."""

    def __init__(self, inner: Bubblewrap) -> None:
        self._inner = inner
        self.disk_bytes: int | None = None
        self.search_path = inner.search_path

    def installed(self) -> tuple[Tool, ...]:
        return self._inner.installed()

    def owner(self) -> tuple[int, int] | None:
        return self._inner.owner()

    async def probe(self) -> SandboxFacts:
        return await self._inner.probe()

    async def run(self, run: SandboxRun) -> SandboxResult:
        limits = SandboxLimits.model_validate({**TIGHT, "seconds": run.limits.seconds})
        if self.disk_bytes is not None:
            spare = shutil.disk_usage(run.workspace).free - self.disk_bytes
            limits = limits.model_copy(update={"spare_disk_bytes": spare})
        return await self._inner.run(run.model_copy(update={"limits": limits}))


class Arena:
    """One host, one mirror, and agents that come one after the other."""

    def __init__(self, host: Host, sandbox: Bubblewrap) -> None:
        self.host = host
        self.mark = f"hostile-agent-{os.getpid()}-{host.place.name}"
        self._sandbox = Tight(sandbox)
        owner = sandbox.owner()
        given = Owner(uid=owner[0], gid=owner[1]) if owner else None
        limits = TreeLimits(entries=1500, file_bytes=8 << 20, total_bytes=16 << 20)
        self._root = host.state / "worktrees"
        self.store = WorktreeStore(self._root, "here", given)
        self.journals = JournalStore(self._root, "here", given, limits)
        self._origin = GitOrigin(host.place / "origin")
        self._count = 0
        self._first: list[str] | None = None

    @cached_property
    def hidden(self) -> str:
        """A commit that the mirror has and no workspace of ours."""
        files = {"hidden.txt": self.host.canary("hidden")}
        return self._origin.commit(files, "hidden", self.base)

    @cached_property
    def base(self) -> str:
        """What most agents start from."""
        return self._origin.commit(FILES)

    async def attack(self, case: Hostile) -> Left:
        """Run it once. The sandbox's probe has passed."""
        self._count += 1
        base = self._origin.commit(case.files, "main", self.base) if case.files else self.base
        journal = JournalRef(repository_id=REPOSITORY, sweep=f"sweep-{self._count}", attempt=1, base=base)
        await self.store.fetch(REPOSITORY, [journal.base, self.hidden], self._origin.access)
        workspace = await self.store.create(REPOSITORY, f"{journal.sweep}.fix1", journal.base)
        try:
            if self._first is None:
                self._first = await self._look_around(journal)
            before = self._mirror(journal)
            left = await asyncio.wait_for(self._run(case, workspace, journal), WHOLE_SECONDS)
            left.mirror = tuple(_differences(before, self._mirror(journal)))
            left.tree = entries(Path(workspace.path))
            await asyncio.wait_for(self._take(left, workspace, journal), WHOLE_SECONDS)
            seen = await self._look_around(journal)
            left.after = "\n".join(line for line in seen if line not in self._first)
        finally:
            await self.store.discard(REPOSITORY, journal.sweep)
        left.remains = tuple(f"{path} is still there" for path in self._remains())
        left.host = tuple(self.host.wrongs())
        self.host.heal()
        left.canaries = tuple(self.host.canaries.values())
        return left

    async def _run(self, case: Hostile, workspace: Workspace, journal: JournalRef) -> Left:
        if not case.has_model:
            return await self._told(case, workspace, journal, None)
        async with door_for(self.host.canary("model key"), case.scolds) as door:
            left = await self._told(case, workspace, journal, door.doors)
            left.door = tuple(door.wrongs(left.report))
            return left

    async def _told(self, case: Hostile, workspace: Workspace, journal: JournalRef, doors: ModelDoors | None) -> Left:
        artifacts = MemoryArtifacts()
        command = case.command(self._filler(workspace, journal), self.mark)
        task = Task(
            sweep=journal.sweep,
            attempt=1,
            repository="octo/app",
            failing_sha=journal.base,
            diagnosis=diagnosis(),
            check_plan=PLAN,
            allowance=ALLOWANCE if doors else Allowance(),
        )
        self._sandbox.disk_bytes = case.disk_bytes
        agent = CommandAgent(command, self._around(case), artifacts, doors)
        report = await agent.fix(task, workspace, timedelta(seconds=case.seconds))
        self._sandbox.disk_bytes = None
        return Left(case, report, alive=alive(self.mark), log=b"".join(artifacts.stored.values()))

    def _around(self, case: Hostile) -> Tight | RedactingSandbox:
        """With the operator's list only where it is about that: shapes of secrets are known without one."""
        is_told = "{listed}" in case.program + case.shell
        return RedactingSandbox(self._sandbox, Redactor([LISTED])) if is_told else self._sandbox

    async def _take(self, left: Left, workspace: Workspace, journal: JournalRef) -> None:
        """Its tree into the journal, the journal into a patch, and a look at that."""
        action = AgentAction(key=f"{journal.sweep}/1", tool="command", arguments_hash="sha256:0")
        try:
            recorded = await self.journals.snapshot(journal, journal.base, action, workspace)
        except PolicyDenied as denied:
            left.refusal = str(denied)
            return
        left.patch = await self.journals.patch(journal, recorded.tip, journal.base, META)
        if left.patch is not None:
            left.changes = await self.store.changes(REPOSITORY, journal.base, left.patch.commit, FILE_BYTES)
            exam = Exam(plan=PLAN, diagnosis=diagnosis(command="python -m pytest -q"), limits=Limits())
            left.findings = tampering(left.changes, left.patch, exam)
        ended = attempt(agent=left.report.agent, fix=left.report, patch=left.patch, verdict=verdict())
        left.told = f"{change(ended, 3)}\n\n{story(ended, (), 3000, {})}"

    async def _look_around(self, journal: JournalRef) -> list[str]:
        """What a run in a fresh workspace finds there, line by line."""
        workspace = await self.store.create(REPOSITORY, f"{journal.sweep}.next", journal.base)
        run = SandboxRun(workspace=workspace.path, argv=("sh", "-c", _LOOK_AROUND), limits=SandboxLimits(seconds=20))
        return (await self._sandbox.run(run)).output.decode("utf-8", "replace").splitlines()

    def _filler(self, workspace: Workspace, journal: JournalRef) -> "Filler":
        own = {"mirror": str(self._root / "mirrors" / f"{REPOSITORY}.git"), "tree": workspace.path}
        return Filler({**self.host.words, **own, "ref": journal.ref, "hidden": self.hidden, "base": journal.base})

    def _mirror(self, journal: JournalRef) -> dict[str, str]:
        """Where its refs are, but for pins and this sweep's own, and what its settings and hooks are."""
        mirror = self._root / "mirrors" / f"{REPOSITORY}.git"
        lines = git("for-each-ref", "--format=%(refname) %(objectname)", cwd=mirror).splitlines()
        files = [path for path in (mirror / "config", *mirror.glob("hooks/*"), *mirror.glob("worktrees/*/config*"))]
        return dict(line.split(" ") for line in lines) | {str(path): path.read_text() for path in files}

    def _remains(self) -> Iterator[str]:
        for place in ("trees/*/*", "trash/*", f"mirrors/{REPOSITORY}.git/worktrees/*"):
            yield from (path.name for path in self._root.glob(place))


class Filler:
    """Replaces marks in braces."""

    def __init__(self, words: dict[str, str]) -> None:
        self._words = words

    def __call__(self, text: str) -> str:
        for word, value in self._words.items():
            text = text.replace("{" + word + "}", value)
        return text


def _differences(before: dict[str, str], after: dict[str, str]) -> Iterator[str]:
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield f"{name} of the mirror was changed"


@contextmanager
def arena(place: Path, sandbox: Bubblewrap) -> Iterator[Arena]:
    """Everything under `place`, which is empty."""
    with planted(place, sandbox.owner()) as host:
        yield Arena(host, sandbox)
