"""What a proof costs besides the check itself: a fresh worktree, a sandbox, a snapshot of what was left.

Beside the bare check in a tree that is there, and beside unpacking the tree from an archive. Taking it all away again
is in no figure.
"""

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from adapters.sandbox import choose_sandbox
from sweeper.cli.composition import journals, workspaces
from sweeper.model import CommitMeta, GitAccess
from sweeper.ports import Journals, Sandbox, SandboxRun, Workspaces
from tests.bench.measure import Compared, Row, side_by_side, timed
from tests.bench.processes import must, repository
from tests.support.recording import patch_of

SIZES = (50, 5000)
LINES = 40
GOES = {50: 5, 5000: 3}
REPOSITORY_ID = 1
CHECK = ("sh", "-c", "echo green >result.txt")
BARE, TAR, OURS = "bare check in a tree that is there", "tar x of the tree", "worktree, check in its sandbox, snapshot"
MOST_TO_BARE = {50: 1000, 5000: 10_000}
MOST_TO_TAR = {50: 300, 5000: 30}
META = CommitMeta(message="check", name="bench", email="bench@localhost.invalid", date=datetime(2026, 1, 5, tzinfo=UTC))


async def rows(root: Path) -> list[Row]:
    """Two tables for each size, of the same goes. Raises MissingTool where there is no sandbox."""
    found: list[Row] = []
    for files in SIZES:
        found += await _of_size(root / str(files), files)
    return found


async def _of_size(root: Path, files: int) -> list[Row]:
    origin = root / "origin"
    commit = await repository(origin, _files(files))
    sandbox = await choose_sandbox(allow_unsandboxed=False)
    store = workspaces(root / "store", sandbox)
    await store.fetch(REPOSITORY_ID, [commit], GitAccess(url=origin.as_uri()))
    archive = root / "tree.tar"
    await must("git", "archive", "-o", archive, "main", cwd=origin)
    bench = f"Proving a trivial check, {files} files"
    measured = await side_by_side(
        f"{bench}, beside the bare check",
        (BARE, lambda: timed(must(*CHECK, cwd=origin))),
        {
            Compared(variant=TAR): _Tar(archive, root).go,
            Compared(variant=OURS, at_most=MOST_TO_BARE[files]): _Ours(
                store, journals(root / "store", sandbox), sandbox, commit
            ).go,
        },
        GOES[files],
    )
    return [*measured, *_beside_tar(f"{bench}, beside tar x", measured, MOST_TO_TAR[files])]


def _beside_tar(bench: str, measured: list[Row], at_most: float) -> list[Row]:
    """The same medians, to the other measure."""
    tar, ours = (next(row for row in measured if row.variant == name) for name in (TAR, OURS))
    ratio = round(ours.seconds / tar.seconds, 2)
    return [
        tar.model_copy(update={"bench": bench, "ratio": None}),
        ours.model_copy(update={"bench": bench, "ratio": ratio, "at_most": at_most}),
    ]


def _files(number: int) -> dict[str, str]:
    """Of ordinary size, a hundred to a directory at most."""
    return {
        f"package{n // 100}/module{n}.py": "".join(f"value_{line} = {n * line}\n" for line in range(LINES))
        for n in range(number)
    }


@dataclass
class _Tar:
    archive: Path
    root: Path
    numbers: Iterator[int] = field(default_factory=count)

    async def go(self) -> float:
        place = self.root / f"tar{next(self.numbers)}"
        place.mkdir()
        spent = await timed(must("tar", "-x", "-f", self.archive, "-C", place))
        shutil.rmtree(place)
        return spent


@dataclass
class _Ours:
    store: Workspaces
    journals: Journals
    sandbox: Sandbox
    commit: str
    numbers: Iterator[int] = field(default_factory=count)

    async def go(self) -> float:
        name = f"bench{next(self.numbers)}"
        began = time.perf_counter()
        workspace = await self.store.create(REPOSITORY_ID, name, self.commit)
        result = await self.sandbox.run(SandboxRun(workspace=workspace.path, argv=CHECK))
        patch = await patch_of(self.journals, workspace, META, f"refs/sweeper/{name}/1")
        spent = time.perf_counter() - began
        if result.exit_code != 0 or patch is None or patch.files != ("result.txt",):
            raise RuntimeError(f"the check did not leave what it should: {result.output!r}, {patch}")
        await self.store.discard(REPOSITORY_ID, name)
        return spent
