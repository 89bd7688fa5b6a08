"""The workspaces of this host: what the rest of the product knows of git on disk.

Implements the `Workspaces` port. git blocks, so each call runs on a thread of its own; whether two calls may run side
by side is decided by the mirror's lock alone, so several worker processes may share a state directory.
"""

from collections.abc import Sequence
from pathlib import Path

from sweeper.errors import BadInput
from sweeper.model import Effect, FileChange, GitAccess, Patch, Touched, Workspace
from sweeper.model.upkeep import HostTrace
from worktrees import commits, reading
from worktrees.git import GitDoor
from worktrees.homes import Owner, read_left
from worktrees.inventory import traces_on
from worktrees.mirror import Mirror
from worktrees.names import branch_ref, commit_id, remote_url, workspace_name
from worktrees.remote import RemoteBranch
from worktrees.threads import in_thread
from worktrees.touched import touched
from worktrees.worktree import Worktrees

__all__ = ["Owner", "WorktreeStore"]


class WorktreeStore:
    """Mirrors and worktrees under `root`.

    `owner`: the sandbox user whom trees are given to (needs root).
    """

    def __init__(self, root: Path, host: str, owner: Owner | None = None) -> None:
        self._root = root.absolute()
        self._host = host
        self._owner = owner
        self._door = GitDoor(self._root / "home")

    @property
    def host(self) -> str:
        """Stable id of this host's state directory."""
        return self._host

    async def fetch(self, repository_id: int, commits: Sequence[str], access: GitAccess) -> None:
        """Have these exact commits in the mirror, pinned. Safe twice: pinned ones cost no network.

        Raises NotFound (the repository does not have one), AuthBroken, Transient, Permanent (damaged remote).
        """
        remote_url(access.url)
        wanted = [commit_id(commit) for commit in commits]

        def work() -> None:
            with self._mirror(repository_id).changing() as mirror:
                mirror.fetch(wanted, access)

        await in_thread(work)

    async def create(self, repository_id: int, name: str, commit: str) -> Workspace:
        """A fresh checkout under that name. Safe twice: what lies there is destroyed first. Raises NotFound."""
        place = await in_thread(self._worktrees(repository_id).create, name, commit)
        return Workspace(host=self._host, name=name, repository_id=repository_id, commit=commit, path=str(place.tree))

    async def describe(self, repository_id: int, parent: str, commit: str) -> Patch:
        """The change between any two commits, in numbers."""

        def work() -> Patch:
            with self._mirror(repository_id).reading() as mirror:
                return commits.describe(mirror, commit_id(parent), commit_id(commit))

        return await in_thread(work)

    async def diff(self, repository_id: int, parent: str, commit: str) -> bytes:
        """Unified diff, binary-safe, no external drivers, no attributes of the repository."""

        def work() -> bytes:
            with self._mirror(repository_id).reading() as mirror:
                return commits.diff(mirror, parent, commit)

        return await in_thread(work)

    async def changes(self, repository_id: int, parent: str, commit: str, limit: int) -> tuple[FileChange, ...]:
        """Each file that differs, with both contents up to `limit` bytes; renames are found. Only reads."""

        def work() -> tuple[FileChange, ...]:
            with self._mirror(repository_id).reading() as mirror:
                return reading.changes(mirror, parent, commit, limit)

        return await in_thread(work)

    async def submodules(self, repository_id: int, commit: str) -> tuple[str, ...]:
        """Directories of a commit that another repository belongs into; in a workspace they are empty."""

        def work() -> tuple[str, ...]:
            with self._mirror(repository_id).reading() as mirror:
                found = reading.entries(mirror, commit)
                return tuple(reading.readable(entry.path) for entry in found if entry.is_submodule)

        return await in_thread(work)

    async def read(self, repository_id: int, commit: str, path: str, limit: int) -> bytes | None:
        """A regular file's content; None if there is none of that name, or it is larger. Only reads."""

        def work() -> bytes | None:
            with self._mirror(repository_id).reading() as mirror:
                return reading.read(mirror, commit, path, limit)

        return await in_thread(work)

    async def restored(self, repository_id: int, commit: str, source: str, paths: Sequence[str]) -> str:
        """Commit id of `commit` with these paths as in `source`. Safe twice: the same objects each time."""

        def work() -> str:
            with self._mirror(repository_id).reading() as mirror:
                mirror.require(source)
                return reading.restored(mirror, commit, source, paths)

        return await in_thread(work)

    async def home(self, repository_id: int, name: str) -> str:
        """A fresh, empty directory of the sandbox user's. Safe twice: what lay there is destroyed first."""
        return str(await in_thread(self._worktrees(repository_id).home, name))

    async def left_in(self, home: str, path: str, limit: int) -> bytes | None:
        """A regular file that a command left in a home; None for anything else, or a larger one. Only reads."""
        place = Path(home)
        if not place.is_relative_to(self._root / "trees"):
            raise BadInput(f"{home} is no directory of this host's workspaces; make a home first.")
        return await in_thread(read_left, place, path, limit)

    async def touched(self, workspace: Workspace) -> Touched:
        """What was done to the files of a checkout since it was made. Only looks. Raises NotFound."""

        def work() -> Touched:
            worktrees = self._worktrees(workspace.repository_id)
            with worktrees.holding(workspace.name, workspace.commit) as place:
                with self._mirror(workspace.repository_id).reading() as mirror:
                    entries = tuple(reading.entries(mirror, workspace.commit))
                return touched(entries, place.tree, worktrees.completed_ns(place))

        return await in_thread(work)

    async def remove(self, repository_id: int, name: str) -> None:
        """Remove one workspace or home. Safe twice: the second finds nothing."""
        await in_thread(self._worktrees(repository_id).remove, name)

    async def merge(self, repository_id: int, ours: str, theirs: str) -> str | None:
        """Commit id of the merge, the same each time; None on conflict. Raises NotFound."""

        def work() -> str | None:
            with self._mirror(repository_id).reading() as mirror:
                return commits.merge(mirror, ours, theirs)

        return await in_thread(work)

    async def push(
        self,
        repository_id: int,
        branch: str,
        commit: str,
        expected: str | None,
        access: GitAccess,
        effect_key: str,
    ) -> Effect:
        """Put `branch` at `commit` if it is at `expected` (None: absent). Safe twice: the second is deduplicated.

        Raises Stale, AuthBroken, PolicyDenied, OutcomeUnknown, Transient.
        """

        def work() -> Effect:
            with self._mirror(repository_id).reading() as mirror:
                return RemoteBranch(mirror, branch, access, effect_key).push(commit, expected)

        _check_remote(branch, access)
        return await in_thread(work)

    async def delete_branch(
        self, repository_id: int, branch: str, ours: str, access: GitAccess, effect_key: str
    ) -> Effect:
        """Delete `branch` if it is still at `ours`. Safe twice: gone is `deduplicated`; moved on is `skipped`."""

        def work() -> Effect:
            with self._mirror(repository_id).reading() as mirror:
                return RemoteBranch(mirror, branch, access, effect_key).delete(ours)

        _check_remote(branch, access)
        return await in_thread(work)

    async def discard(self, repository_id: int, sweep: str) -> None:
        """Remove every workspace and record of a sweep. Safe twice: the second finds nothing."""
        workspace_name(sweep)

        def work() -> None:
            self._worktrees(repository_id).remove_all(sweep)
            if self._mirror(repository_id).exists:
                with self._mirror(repository_id).changing() as mirror:
                    mirror.forget(sweep)

        await in_thread(work)

    async def traces(self) -> tuple[HostTrace, ...]:
        """What lies here of each sweep. Only looks."""
        return await in_thread(traces_on, self._root, self._host, self._door)

    def _mirror(self, repository_id: int) -> Mirror:
        return Mirror(self._root, repository_id, self._door)

    def _worktrees(self, repository_id: int) -> Worktrees:
        return Worktrees(self._root, repository_id, self._mirror(repository_id), self._owner)


def _check_remote(branch: str, access: GitAccess) -> None:
    """Bad input is told before anything is locked or made."""
    branch_ref(branch)
    remote_url(access.url)
