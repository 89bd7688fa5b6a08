"""The journal of an attempt: its state is a commit, and each action that changes files is one more."""

from collections.abc import Sequence
from typing import Protocol

from sweeper.model import CommitMeta, Patch, Workspace
from sweeper.model.journal import AgentAction, Entry, FileEdit, FoundFile, FoundLine, JournalRef, Recorded


class Journals(Protocol):
    """Journals on this host's disk. Trees are read and written without a checkout.

    `tip` is the journal's last commit as its owner knows it (`base` before the first action). Every method that writes
    first looks for the action's key: there with the same arguments, it answers from the record; with others, or on
    another tip, it raises NonDeterminism. Tip and record are compared and set in one step, so an action cut short
    leaves only loose objects; Stale if somebody else recorded another action at the same moment.
    Raises NotFound when `tip` is not on this host: restore it from its bundle.
    """

    async def change(self, journal: JournalRef, tip: str, action: AgentAction, edits: Sequence[FileEdit]) -> Recorded:
        """Record these files as one action, each at most once in it.

        Raises PolicyDenied for a path that no commit may hold, that lies behind a symlink, or that is no file's.
        """
        ...

    async def snapshot(self, journal: JournalRef, tip: str, action: AgentAction, workspace: Workspace) -> Recorded:
        """Record the tree that lies in a workspace of `tip` as one action. Raises PolicyDenied as above, HostLost."""
        ...

    async def done(self, journal: JournalRef, tip: str, action: AgentAction) -> Recorded | None:
        """What was recorded for the action; None if nothing was. Raises NonDeterminism."""
        ...

    async def entries(self, journal: JournalRef) -> tuple[Entry, ...]:
        """All that is recorded, oldest first; empty if there is no such journal."""
        ...

    async def patch(self, journal: JournalRef, tip: str, parent: str, meta: CommitMeta) -> Patch | None:
        """One commit on `base` with the tree of `tip`, kept with the journal, and its change since `parent` in
        numbers; None if the trees of `base` and `tip` are the same. The same arguments give the same commit.
        """
        ...

    async def bundle(self, journal: JournalRef, commit: str) -> bytes:
        """All that `commit` (tip or patch) has and `base` has not, for another host. A patch brings its journal."""
        ...

    async def restore(self, journal: JournalRef, commit: str, bundle: bytes) -> None:
        """Have `commit` on this host, whose mirror has `base`, and the journal at it unless it is further on here.

        Twice is a no-op. Raises Bug for a bundle without it; nothing of such a bundle is left.
        """
        ...

    async def has(self, journal: JournalRef, commit: str) -> bool:
        """Whether `commit` is on this host."""
        ...

    async def files(self, journal: JournalRef, commit: str, under: str, limit: int) -> tuple[FoundFile, ...]:
        """Files at or below a folder (empty: the root), at most `limit`."""
        ...

    async def read(self, journal: JournalRef, commit: str, path: str, limit: int) -> bytes | None:
        """A regular file's content; None if there is none of that name, or it is larger than `limit` bytes."""
        ...

    async def search(
        self, journal: JournalRef, commit: str, pattern: str, under: str, limit: int
    ) -> tuple[FoundLine, ...]:
        """Lines of text files that match an extended regular expression, at most `limit`. Raises BadInput."""
        ...
