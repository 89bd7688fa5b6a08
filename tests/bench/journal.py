"""What one action of an agent costs, on a small and on a large tree, beside a commit a person makes in a checkout."""

import asyncio
import time
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from sweeper.model import GitAccess, Workspace
from sweeper.model.journal import AgentAction, FileEdit, JournalRef
from tests.bench.measure import Compared, Row, side_by_side, timed
from tests.bench.processes import must
from worktrees.journal import JournalStore
from worktrees.store import WorktreeStore

SMALL, LARGE = 1_000, 70_000
LINES = 20
LONG = 200
GOES = 3
HOST = "bench"
IDENTITY = ("-c", "user.name=bench", "-c", "user.email=bench@localhost.invalid")


async def rows(root: Path) -> list[Row]:
    """The same edit of one file each time; then how the cost grows with the tree and with the journal."""
    small, large = await _Tree.made(root / "small", 1, SMALL), await _Tree.made(root / "large", 2, LARGE)
    found: list[Row] = []
    for tree, edited, walked in ((small, 8.0, 40.0), (large, 0.6, 40.0)):
        found += await side_by_side(
            f"One edited file of {tree.files}, recorded",
            ("git add, git commit in a checkout", tree.commit_by_hand),
            {
                Compared(variant="journal: an edit", at_most=edited): tree.edit,
                Compared(variant="journal: an edit and its bundle", at_most=2 * edited): tree.edit_and_bundle,
                Compared(variant="journal: the tree of a workspace", at_most=walked): tree.snapshot,
                Compared(variant="journal: the answer to a repeat", at_most=edited): tree.repeat,
                Compared(variant="journal: a file read"): tree.read,
            },
            GOES,
        )
    long = await small.with_actions(LONG)
    return found + await side_by_side(
        "An edit in the journal, by what there is already",
        (f"{SMALL} files", small.edit),
        {
            Compared(variant=f"{LARGE} files", at_most=3): large.edit,
            Compared(variant=f"{SMALL} files, {LONG} actions before", at_most=3): long.edit,
        },
        GOES,
    )


def _path(number: int) -> str:
    return f"package{number % 25}/part{number % 500}/module{number}.py"


def _text(number: int) -> str:
    return "".join(f"value_{line} = {number * line}\n" for line in range(LINES))


@dataclass
class _Tree:
    """A repository of so many files, a checkout of it, and a journal and a workspace on its one commit."""

    files: int
    checkout: Path
    journals: JournalStore
    journal: JournalRef
    workspace: Workspace
    tip: str
    numbers: "count[int]" = field(default_factory=count)

    @classmethod
    async def made(cls, root: Path, repository_id: int, files: int) -> "_Tree":
        origin, state = root / "origin", root / "state"
        root.mkdir()
        await must("git", "init", "-q", "--bare", "-b", "main", origin)
        await _fill(origin, files)
        await must("git", "clone", "-q", origin, root / "checkout")
        base = (origin / "refs" / "heads" / "main").read_text().strip()
        store = WorktreeStore(state, HOST)
        await store.fetch(repository_id, [base], GitAccess(url=origin.as_uri()))
        return cls(
            files=files,
            checkout=root / "checkout",
            journals=JournalStore(state, HOST),
            journal=JournalRef(repository_id=repository_id, sweep="sweep-1-1", attempt=1, base=base),
            workspace=await store.create(repository_id, "sweep-1-1", base),
            tip=base,
        )

    async def commit_by_hand(self) -> float:
        path, text = self._next()
        began = time.perf_counter()
        (self.checkout / path).write_bytes(text)
        await must("git", "add", path, cwd=self.checkout)
        await must("git", *IDENTITY, "commit", "-q", "-m", "mend it", cwd=self.checkout)
        return time.perf_counter() - began

    async def edit(self) -> float:
        action, change = self._action(), self._edit()
        began = time.perf_counter()
        self.tip = (await self.journals.change(self.journal, self.tip, action, [change])).tip
        return time.perf_counter() - began

    async def edit_and_bundle(self) -> float:
        return await self.edit() + await timed(self.journals.bundle(self.journal, self.tip))

    async def repeat(self) -> float:
        action, change, tip = self._action(), self._edit(), self.tip
        self.tip = (await self.journals.change(self.journal, tip, action, [change])).tip
        return await timed(self.journals.change(self.journal, tip, action, [change]))

    async def snapshot(self) -> float:
        """Of one workspace, into a journal of its own each time."""
        path, text = self._next()
        Path(self.workspace.path, path).write_bytes(text)
        fresh = self.journal.model_copy(update={"attempt": 2 + next(self.numbers)})
        return await timed(self.journals.snapshot(fresh, fresh.base, self._action(), self.workspace))

    async def read(self) -> float:
        return await timed(self.journals.read(self.journal, self.tip, _path(next(self.numbers)), 1 << 20))

    async def with_actions(self, actions: int) -> "_Tree":
        """The same with a second journal that has so many already."""
        fresh = self.journal.model_copy(update={"sweep": "sweep-2-1"})
        other = _Tree(self.files, self.checkout, self.journals, fresh, self.workspace, fresh.base)
        for _ in range(actions):
            await other.edit()
        return other

    def _next(self) -> tuple[str, bytes]:
        number = next(self.numbers)
        return _path(number), f"changed = {number}\n{_text(number)}".encode()

    def _edit(self) -> FileEdit:
        path, text = self._next()
        return FileEdit(path=path, content=text)

    def _action(self) -> AgentAction:
        return AgentAction(key=f"bench/run/{next(self.numbers)}", tool="edit", arguments_hash="a", summary="mend it")


async def _fill(origin: Path, files: int) -> None:
    """One commit on `main`, without a checkout of so many files."""
    command = ("git", f"--git-dir={origin}", "fast-import", "--quiet")
    process = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.PIPE)
    stream = ["commit refs/heads/main\ncommitter bench <bench@localhost.invalid> 1700000000 +0000\ndata 6\nsample\n"]
    for number in range(files):
        text = _text(number)
        stream.append(f"M 100644 inline {_path(number)}\ndata {len(text)}\n{text}\n")
    await process.communicate("".join(stream).encode())
    if process.returncode != 0:
        raise RuntimeError("git fast-import failed")
