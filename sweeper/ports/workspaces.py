"""Mirrors, worktrees and git over the network, on one host."""

from collections.abc import Sequence
from typing import Protocol

from sweeper.model import Effect, FileChange, GitAccess, Patch, Touched, Workspace
from sweeper.model.upkeep import HostTrace


class Workspaces(Protocol):
    """Mirrors and worktrees on this host's disk. The state of an attempt is a commit; directories are thrown away.

    Raises Transient, OutcomeUnknown, Permanent, AuthBroken, MissingTool. What lies in a workspace is hostile.
    """

    @property
    def host(self) -> str:
        """Stable id of this host's state directory; names its task queue."""
        ...

    async def fetch(self, repository_id: int, commits: Sequence[str], access: GitAccess) -> None:
        """Have these exact commits in the mirror. Twice is a no-op."""
        ...

    async def create(self, repository_id: int, name: str, commit: str) -> Workspace:
        """A fresh checkout under that name; one left over from an earlier try is destroyed first."""
        ...

    async def describe(self, repository_id: int, parent: str, commit: str) -> Patch:
        """The change between any two commits, in numbers."""
        ...

    async def diff(self, repository_id: int, parent: str, commit: str) -> bytes:
        """Unified diff, binary-safe, no external drivers."""
        ...

    async def changes(self, repository_id: int, parent: str, commit: str, limit: int) -> tuple[FileChange, ...]:
        """Each file that differs between two commits, with both contents up to `limit` bytes; renames are found."""
        ...

    async def read(self, repository_id: int, commit: str, path: str, limit: int) -> bytes | None:
        """A regular file's content; None if there is none of that name, or it is larger."""
        ...

    async def restored(self, repository_id: int, commit: str, source: str, paths: Sequence[str]) -> str:
        """Commit id of `commit` with these paths as in `source` (absent there: removed), the same each time."""
        ...

    async def submodules(self, repository_id: int, commit: str) -> tuple[str, ...]:
        """Directories of a commit that another repository belongs into; in a workspace they are empty."""
        ...

    async def home(self, repository_id: int, name: str) -> str:
        """A fresh, empty directory for `SandboxRun.home`, under a name of its own; goes with its sweep's workspaces."""
        ...

    async def left_in(self, home: str, path: str, limit: int) -> bytes | None:
        """A regular file that a command left in a home; None for anything else, or one larger than `limit` bytes."""
        ...

    async def touched(self, workspace: Workspace) -> Touched:
        """What was done to the files of a checkout since it was made. Follows no link. Raises NotFound."""
        ...

    async def remove(self, repository_id: int, name: str) -> None:
        """Remove one workspace or home. Twice is a no-op."""
        ...

    async def merge(self, repository_id: int, ours: str, theirs: str) -> str | None:
        """Commit id of the merge of two commits, the same each time; None on conflict."""
        ...

    async def push(
        self,
        repository_id: int,
        branch: str,
        commit: str,
        expected: str | None,
        access: GitAccess,
        effect_key: str,
    ) -> Effect:
        """Put `branch` at `commit` if it is at `expected` (None: absent) or already there. Raises Stale otherwise."""
        ...

    async def delete_branch(
        self, repository_id: int, branch: str, ours: str, access: GitAccess, effect_key: str
    ) -> Effect:
        """Delete `branch` if it is still at `ours`; gone already is `deduplicated`, moved on is `skipped`."""
        ...

    async def traces(self) -> tuple[HostTrace, ...]:
        """What lies on this host of each sweep: worktrees, parts of them, recorded attempts. Only looks."""
        ...

    async def discard(self, repository_id: int, sweep: str) -> None:
        """Remove every workspace and ref of a sweep (names `<sweep>` and `<sweep>.*`). Twice is a no-op."""
        ...
