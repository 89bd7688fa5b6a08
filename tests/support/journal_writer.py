"""A worker that records one action and may be killed meanwhile: `python -m tests.support.journal_writer STATE BASE`."""

import asyncio
import sys
from pathlib import Path

from sweeper.model import Workspace
from sweeper.model.journal import JournalRef
from tests.support.journal_scene import HOST, REPO, SWEEP, an_action, edits
from worktrees.journal import JournalStore

EDITS = edits({"a.txt": "mended\n", "new/b.txt": "new\n"})


async def write(state: Path, base: str, tree: Path | None) -> None:
    """The first action of the journal: EDITS, or what lies in the workspace at `tree`."""
    journals = JournalStore(state, HOST)
    journal = JournalRef(repository_id=REPO, sweep=SWEEP, attempt=1, base=base)
    if tree is None:
        await journals.change(journal, base, an_action(), EDITS)
    else:
        workspace = Workspace(host=HOST, name=tree.name, repository_id=REPO, commit=base, path=str(tree))
        await journals.snapshot(journal, base, an_action(), workspace)


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]) if len(sys.argv) > 3 else None))
