"""The journals of this host: the state of an attempt is a commit, each action that changes files is one more.

Implements the `Journals` port. Objects are written first, under the mirror's shared lock; then the ref is moved by
compare-and-set, and only that counts: killed before it, an action was not done, and a repeat makes the same commit
again; killed after it, the repeat finds its key.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from sweeper.errors import Bug, HostLost, Stale, Transient
from sweeper.model import CommitMeta, Patch, Workspace
from sweeper.model.journal import (
    AgentAction,
    Entry,
    FileEdit,
    FoundFile,
    FoundLine,
    JournalRef,
    Recorded,
    RecordState,
)
from worktrees import bundles, commits, tree_reading
from worktrees.git import GitDoor
from worktrees.homes import Owner
from worktrees.journal_log import NAMED_PATHS, Log, checked, with_paths
from worktrees.mirror import HeldMirror, Mirror
from worktrees.names import ABSENT, commit_id, record_ref
from worktrees.snapshot import Snapshot
from worktrees.threads import in_thread
from worktrees.tree_edits import TreeEdits
from worktrees.walk import TreeLimits
from worktrees.worktree import Worktrees


class Made(NamedTuple):
    """An action's commit. `paths`: the files it changes, None where git has to be asked."""

    commit: str
    paths: tuple[str, ...] | None = None


Make = Callable[[HeldMirror, CommitMeta], Made | None]
"""Makes an action's commit with that message, author and date; None if nothing changes."""


class JournalStore:
    """Journals in the mirrors under `root`, where `WorktreeStore` has its workspaces; the arguments are the same."""

    def __init__(self, root: Path, host: str, owner: Owner | None = None, limits: TreeLimits | None = None) -> None:
        self._root = root.absolute()
        self._host = host
        self._owner = owner
        self._limits = limits or TreeLimits()
        self._door = GitDoor(self._root / "home")

    async def change(self, journal: JournalRef, tip: str, action: AgentAction, edits: Sequence[FileEdit]) -> Recorded:
        """Record these files as one action. Safe twice: its key is found.

        Raises PolicyDenied (a path no commit may hold), NonDeterminism, NotFound (tip), Stale (another writer).
        """

        def make(mirror: HeldMirror, meta: CommitMeta) -> Made | None:
            planned = TreeEdits.plan(mirror, tip, edits, self._limits)
            return Made(planned.commit(mirror, tip, meta, self._root), planned.paths) if planned.edits else None

        return await in_thread(self._record, journal, tip, action, make)

    async def snapshot(self, journal: JournalRef, tip: str, action: AgentAction, workspace: Workspace) -> Recorded:
        """Record the tree that lies in a workspace of `tip`. Safe twice: its key is found, the tree not even looked at.

        Raises what `change` does, HostLost (another host's workspace).
        """

        def work() -> Recorded:
            known = self._known(journal, tip, action)
            if known is not None:
                return known
            self._require_ours(workspace, journal, tip)
            worktrees = Worktrees(self._root, journal.repository_id, self._mirror(journal), self._owner)
            with worktrees.holding(workspace.name, tip) as place:  # before the mirror's lock, as everywhere

                def make(mirror: HeldMirror, meta: CommitMeta) -> Made | None:
                    commit = Snapshot(mirror, tip, place.admin, self._limits).commit(place.tree, meta)
                    return Made(commit) if commit else None

                return self._record(journal, tip, action, make)

        return await in_thread(work)

    def _require_ours(self, workspace: Workspace, journal: JournalRef, tip: str) -> None:
        if workspace.host != self._host:
            raise HostLost(f"Workspace {workspace.name} is on host {workspace.host}; prepare it again on this one.")
        if (workspace.repository_id, workspace.commit) != (journal.repository_id, tip):
            raise Bug(f"Workspace {workspace.name} is of {workspace.commit}, not of {tip}; make one of the tip.")

    async def done(self, journal: JournalRef, tip: str, action: AgentAction) -> Recorded | None:
        """What was recorded for the action; None if nothing was. Only looks. Raises NonDeterminism, NotFound."""
        return await in_thread(self._known, journal, tip, action)

    def _known(self, journal: JournalRef, tip: str, action: AgentAction) -> Recorded | None:
        with self._mirror(journal).reading() as mirror:
            return _answered(mirror, Log.load(mirror, journal, tip), tip, checked(action))

    async def entries(self, journal: JournalRef) -> tuple[Entry, ...]:
        """All that is recorded, oldest first. Only looks."""

        def work() -> tuple[Entry, ...]:
            if not self._mirror(journal).exists:
                return ()
            with self._mirror(journal).reading() as mirror:
                at = mirror.read_ref(record_ref(journal.ref))
                return with_paths(mirror, Log.load(mirror, journal, at).entries(at)) if at else ()

        return await in_thread(work)

    async def patch(self, journal: JournalRef, tip: str, parent: str, meta: CommitMeta) -> Patch | None:
        """The journal as one commit on `base`, kept beside it. Safe twice: the same arguments, the same commit."""

        def work() -> Patch | None:
            with self._mirror(journal).reading() as mirror:
                Log.load(mirror, journal, tip).entries(tip)
                mirror.require(parent)
                tree = commits.tree_of(mirror, tip)
                if tree == commits.tree_of(mirror, journal.base):
                    return None
                commit = commits.write_commit(mirror, tree, [journal.base], meta)
                patch = commits.describe(mirror, commit_id(parent), commit)
            self._move(journal, bundles.patch_ref(journal), commit)
            return patch

        return await in_thread(work)

    async def bundle(self, journal: JournalRef, commit: str) -> bytes:
        """All that `commit` has and `base` has not; with a patch comes its journal. Only reads. Raises NotFound."""

        def work() -> bytes:
            with self._mirror(journal).reading() as mirror:
                return bundles.pack(mirror, journal, commit)

        return await in_thread(work)

    async def restore(self, journal: JournalRef, commit: str, bundle: bytes) -> None:
        """Have `commit` here, and the journal at it if it is not further on. Safe twice: what is here is left.

        Raises Bug (damaged, or another's bundle), NotFound (`base` is not here).
        """

        def work() -> None:
            with self._mirror(journal).reading() as mirror:
                refs = bundles.unpack(mirror, journal, commit, bundle)
            for ref, tip in refs.items():
                self._move(journal, ref, tip)

        await in_thread(work)

    async def has(self, journal: JournalRef, commit: str) -> bool:
        """Whether `commit` is on this host. Only looks."""

        def work() -> bool:
            if not self._mirror(journal).exists:
                return False
            with self._mirror(journal).reading() as mirror:
                return mirror.has(commit)

        return await in_thread(work)

    async def files(self, journal: JournalRef, commit: str, under: str, limit: int) -> tuple[FoundFile, ...]:
        """Files at or below a folder, at most `limit`. Only reads. Raises NotFound (commit), BadInput (folder)."""

        def work() -> tuple[FoundFile, ...]:
            with self._mirror(journal).reading() as mirror:
                return tree_reading.files(mirror, commit, under, limit)

        return await in_thread(work)

    async def read(self, journal: JournalRef, commit: str, path: str, limit: int) -> bytes | None:
        """A regular file's content; None for anything else, or a larger one. Only reads. Raises NotFound (commit)."""

        def work() -> bytes | None:
            with self._mirror(journal).reading() as mirror:
                return tree_reading.read(mirror, commit, path, limit)

        return await in_thread(work)

    async def search(
        self, journal: JournalRef, commit: str, pattern: str, under: str, limit: int
    ) -> tuple[FoundLine, ...]:
        """Lines of text files that match an extended regular expression. Only reads. Raises BadInput, NotFound."""

        def work() -> tuple[FoundLine, ...]:
            with self._mirror(journal).reading() as mirror:
                return tree_reading.search(mirror, commit, pattern, under, limit)

        return await in_thread(work)

    def _record(self, journal: JournalRef, tip: str, action: AgentAction, make: Make) -> Recorded:
        action = checked(action)
        with self._mirror(journal).reading() as mirror:
            log = Log.load(mirror, journal, tip)
            if known := _answered(mirror, log, tip, action):
                return known
            made = make(mirror, log.meta(tip, action))
            if made is None:
                return Recorded(tip=tip, state=RecordState.NOTHING_CHANGED)
            entry = Entry(n=log.number(tip), commit=made.commit, action=action, paths=(made.paths or ())[:NAMED_PATHS])
            if made.paths is None:
                (entry,) = with_paths(mirror, [entry])
        try:
            self._move(journal, journal.ref, made.commit, log.at or ABSENT)
        except Stale:
            return self._overtaken(journal, tip, action)
        return Recorded(tip=made.commit, state=RecordState.CREATED, entry=entry, rewound=log.rewinds(tip))

    def _overtaken(self, journal: JournalRef, tip: str, action: AgentAction) -> Recorded:
        """The ref moved meanwhile: the same action by another hand is an answer, another action is not ours to undo."""
        known = self._known(journal, tip, action)
        if known is None:
            raise Stale(f"Another action was recorded in {journal.ref} at the same time; ask again from its tip.")
        return known

    def _move(self, journal: JournalRef, ref: str, commit: str, old: str | None = None) -> None:
        """Set a ref; with `old`, only if it is there. A lock a killed git left goes while nobody else is in there."""
        argv = ("update-ref", record_ref(ref), commit_id(commit), *([old] if old else []))
        try:
            with self._mirror(journal).reading() as mirror:
                mirror.ask(*argv)
        except Transient:
            with self._mirror(journal).changing() as mirror:
                mirror.ask(*argv)

    def _mirror(self, journal: JournalRef) -> Mirror:
        return Mirror(self._root, journal.repository_id, self._door)


def _answered(mirror: HeldMirror, log: Log, tip: str, action: AgentAction) -> Recorded | None:
    found = log.find(tip, action)
    if found is None:
        return None
    (entry,) = with_paths(mirror, [found])
    return Recorded(tip=entry.commit, state=RecordState.DEDUPLICATED, entry=entry)
