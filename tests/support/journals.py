"""`Journals` in memory, over the commits of `FakeWorkspaces`: the same contract as the one on disk."""

import hashlib
import pickle
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from sweeper.errors import BadInput, Bug, HostLost, NonDeterminism, NotFound
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
from tests.support.workspaces import FakeCommit, FakeWorkspaces, Tree


@dataclass
class FakeJournals:
    """Its state is that of the workspaces. Look at `written`: how often each key changed something."""

    workspaces: FakeWorkspaces
    written: dict[str, int] = field(default_factory=dict)

    @property
    def recorded(self) -> dict[tuple[int, str], list[Entry]]:
        """The entries of each journal."""
        return self.workspaces.journals

    async def change(self, journal: JournalRef, tip: str, action: AgentAction, edits: Sequence[FileEdit]) -> Recorded:
        files = dict(self._files(journal, tip))
        for edit in edits:
            if edit.content is None:
                files.pop(edit.path, None)
            else:
                files[edit.path] = edit.content
        return await self._record(journal, tip, action, files)

    async def snapshot(self, journal: JournalRef, tip: str, action: AgentAction, workspace: Workspace) -> Recorded:
        with self.workspaces.call("snapshot"):
            if workspace.host != self.workspaces.host:
                raise HostLost(f"Workspace {workspace.name} is on host {workspace.host}; prepare it again on this one.")
            if known := await self.done(journal, tip, action):  # the tree may be gone by then
                return known
            return await self._record(journal, tip, action, dict(self.workspaces.tree(workspace)))

    async def _record(self, journal: JournalRef, tip: str, action: AgentAction, files: Tree) -> Recorded:
        if known := await self.done(journal, tip, action):
            return known
        entries, before = self._until(journal, tip), self._files(journal, tip)
        rewound = len(entries) < len(await self.entries(journal))
        if files == before:
            return Recorded(tip=tip, state=RecordState.NOTHING_CHANGED, rewound=rewound)
        commit = self._commit(journal, files, tip, action.key)
        paths = sorted(path for path in files.keys() | before.keys() if files.get(path) != before.get(path))
        entry = Entry(n=len(entries) + 1, commit=commit, action=action, paths=tuple(paths))
        self.recorded[journal.repository_id, journal.ref] = [*entries, entry]
        self.workspaces.records[journal.repository_id, journal.ref] = commit
        self.written[action.key] = self.written.get(action.key, 0) + 1
        return Recorded(tip=commit, state=RecordState.CREATED, entry=entry, rewound=rewound)

    async def done(self, journal: JournalRef, tip: str, action: AgentAction) -> Recorded | None:
        for entry in await self.entries(journal):
            if entry.action.key == action.key:
                if entry.action.arguments_hash != action.arguments_hash:
                    raise NonDeterminism(f"{action.key} was recorded with other arguments; report this.")
                return Recorded(tip=entry.commit, state=RecordState.DEDUPLICATED, entry=entry)
        return None

    async def entries(self, journal: JournalRef) -> tuple[Entry, ...]:
        if (journal.repository_id, journal.ref) not in self.workspaces.records:
            self.recorded.pop((journal.repository_id, journal.ref), None)
        return tuple(self.recorded.get((journal.repository_id, journal.ref), ()))

    def _until(self, journal: JournalRef, tip: str) -> list[Entry]:
        entries = self.recorded.get((journal.repository_id, journal.ref), [])
        if tip == journal.base:
            return []
        at = next((number for number, entry in enumerate(entries) if entry.commit == tip), None)
        if at is None:
            raise NotFound(f"{tip} is not in the journal on this host; restore it from its bundle.")
        return entries[: at + 1]

    async def patch(self, journal: JournalRef, tip: str, parent: str, meta: CommitMeta) -> Patch | None:
        files = self._files(journal, tip)
        if files == self._files(journal, journal.base):
            return None
        seal = f"{meta.name} {meta.email} {meta.date.isoformat()} {meta.message}"
        commit = self._commit(journal, files, journal.base, seal)
        return await self.workspaces.describe(journal.repository_id, parent, commit)

    async def bundle(self, journal: JournalRef, commit: str) -> bytes:
        chain = [entry.commit for entry in self._until(journal, commit)] if await self._is_tip(journal, commit) else []
        listed = {one: self.workspaces.commits[one] for one in (*chain, commit)}
        return pickle.dumps((listed, tuple(await self.entries(journal))[: len(chain)]))

    async def _is_tip(self, journal: JournalRef, commit: str) -> bool:
        return any(entry.commit == commit for entry in await self.entries(journal))

    async def restore(self, journal: JournalRef, commit: str, bundle: bytes) -> None:
        commits, entries = pickle.loads(bundle)
        if commit not in commits:
            raise Bug(f"The bundle has no commit {commit}; report this.")
        self.workspaces.commits |= commits
        self.workspaces.mirrored |= {(journal.repository_id, one) for one in commits}
        if entries:
            self.recorded[journal.repository_id, journal.ref] = list(entries)
            self.workspaces.records[journal.repository_id, journal.ref] = commit

    async def has(self, journal: JournalRef, commit: str) -> bool:
        return (journal.repository_id, commit) in self.workspaces.mirrored

    async def files(self, journal: JournalRef, commit: str, under: str, limit: int) -> tuple[FoundFile, ...]:
        return tuple(
            FoundFile(path=path, mode="100644", size=len(content))
            for path, content in sorted(self._files(journal, commit).items())
            if _is_under(path, under)
        )[:limit]

    async def read(self, journal: JournalRef, commit: str, path: str, limit: int) -> bytes | None:
        content = self._files(journal, commit).get(path)
        return content if content is not None and len(content) <= limit else None

    async def search(
        self, journal: JournalRef, commit: str, pattern: str, under: str, limit: int
    ) -> tuple[FoundLine, ...]:
        try:
            wanted = re.compile(pattern)
        except re.error:
            raise BadInput(f"{pattern!r} is no regular expression; write another one.") from None
        return tuple(
            FoundLine(path=path, line=number, text=text)
            for path, content in sorted(self._files(journal, commit).items())
            if _is_under(path, under)
            for number, text in enumerate(content.decode("utf-8", "replace").splitlines(), start=1)
            if wanted.search(text)
        )[:limit]

    def _files(self, journal: JournalRef, commit: str) -> Tree:
        if (journal.repository_id, commit) not in self.workspaces.mirrored:
            raise NotFound(f"Commit {commit} is not on this host; restore it from its bundle.")
        return self.workspaces.commits[commit].files

    def _commit(self, journal: JournalRef, files: Tree, parent: str, seal: str) -> str:
        listing = repr(sorted((path, hashlib.sha1(data).hexdigest()) for path, data in files.items()))
        commit = hashlib.sha1(f"{listing} {parent} {seal}".encode()).hexdigest()
        self.workspaces.commits[commit] = FakeCommit(files, (parent,))
        self.workspaces.mirrored.add((journal.repository_id, commit))
        return commit


def _is_under(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder.rstrip('/')}/")
