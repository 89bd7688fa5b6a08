"""What was done to the files of a workspace, as one commit: by a journal with one action, the way of an attempt."""

from itertools import count
from pathlib import Path

from sweeper.model import CommitMeta, Patch, Workspace
from sweeper.model.journal import AgentAction, JournalRef
from sweeper.ports import Journals
from worktrees.homes import Owner
from worktrees.journal import JournalStore
from worktrees.store import WorktreeStore
from worktrees.walk import TreeLimits

_NUMBERS = count(1)


def journal_at(workspace: Workspace, ref: str) -> JournalRef:
    """The journal that is kept at `refs/sweeper/<sweep>/<n>`, begun on the workspace's commit."""
    sweep, n = ref.split("/")[-2:]
    return JournalRef(repository_id=workspace.repository_id, sweep=sweep, attempt=int(n), base=workspace.commit)


async def patch_of(journals: Journals, workspace: Workspace, meta: CommitMeta, ref: str) -> Patch | None:
    """The tree as it lies there; None if nothing changed. Each call is an action of its own."""
    action = AgentAction(key=f"test/{next(_NUMBERS)}", tool="test", arguments_hash="none")
    journal = journal_at(workspace, ref)
    recorded = await journals.snapshot(journal, workspace.commit, action, workspace)
    return await journals.patch(journal, recorded.tip, workspace.commit, meta)


class RecordingStore(WorktreeStore):
    """Workspaces, and the journals beside them."""

    def __init__(self, root: Path, host: str, owner: Owner | None = None, limits: TreeLimits | None = None) -> None:
        super().__init__(root, host, owner)
        self.journals = JournalStore(root, host, owner, limits)

    async def snapshot(self, workspace: Workspace, meta: CommitMeta, ref: str) -> Patch | None:
        """As `patch_of`."""
        return await patch_of(self.journals, workspace, meta, ref)
