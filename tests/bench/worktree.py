"""A fresh checkout as an attempt gets it, beside git's own worktree and an unpacked archive."""

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from adapters.sandbox import choose_sandbox
from sweeper.cli.composition import workspaces
from sweeper.model import GitAccess
from tests.bench.measure import Compared, Row, side_by_side
from tests.bench.processes import must, repository, run
from worktrees.store import WorktreeStore

FILES, LINES = 1000, 60
BENCH = f"A fresh checkout of {FILES} files, and taking it away again"
GOES = 5
REPOSITORY_ID = 1


async def rows(root: Path) -> list[Row]:
    """Made, removed, and made again by the next."""
    origin = root / "origin"
    commit = await repository(origin, _files())
    store = workspaces(root / "store", await choose_sandbox(allow_unsandboxed=True))
    await store.fetch(REPOSITORY_ID, [commit], GitAccess(url=origin.as_uri()))
    plain = _Plain(root, origin)
    return await side_by_side(
        BENCH,
        ("git worktree add, git worktree remove", plain.worktree),
        {
            Compared(variant="git archive, tar, rm"): plain.archive,
            Compared(variant="workspace: create, discard", at_most=20): _Ours(store, commit).go,
        },
        GOES,
    )


def _files() -> dict[str, str]:
    """Many, of ordinary size."""
    return {
        f"package{number % 25}/module{number}.py": "".join(f"value_{line} = {number * line}\n" for line in range(LINES))
        for number in range(FILES)
    }


@dataclass
class _Plain:
    root: Path
    origin: Path
    numbers: Iterator[int] = field(default_factory=count)

    async def worktree(self) -> float:
        place = self.root / f"plain{next(self.numbers)}"
        began = time.perf_counter()
        await must("git", "worktree", "add", "-q", "--detach", place, "main", cwd=self.origin)
        await must("git", "worktree", "remove", place, cwd=self.origin)
        return time.perf_counter() - began

    async def archive(self) -> float:
        place = self.root / f"archive{next(self.numbers)}"
        began = time.perf_counter()
        place.mkdir()
        script = f"git archive main | tar -x -C {place}"
        if await run("sh", "-c", script, cwd=self.origin) != 0:
            raise RuntimeError(f"{script} failed")
        shutil.rmtree(place)
        return time.perf_counter() - began


@dataclass
class _Ours:
    store: WorktreeStore
    commit: str
    numbers: Iterator[int] = field(default_factory=count)

    async def go(self) -> float:
        name = f"bench{next(self.numbers)}"
        began = time.perf_counter()
        await self.store.create(REPOSITORY_ID, name, self.commit)
        await self.store.discard(REPOSITORY_ID, name)
        return time.perf_counter() - began
