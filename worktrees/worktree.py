"""Fresh checkouts of one commit: destroy, then create, so that a kill at any point only costs another try.

The administration of a worktree (HEAD, index, ready marker) lies in the mirror, where no sandbox sees it; the
directory itself belongs to the sandbox user and holds files and a synthetic `.git`. git on the host is always told
`--git-dir=<administration> --work-tree=<directory>`; it never trusts what lies in the directory.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sweeper.errors import NotFound
from worktrees import synthetic
from worktrees.durable import outlast_stamp, sync_directory, write_durably
from worktrees.git import GitCall
from worktrees.homes import Owner, make_home
from worktrees.hostile import remove_tree
from worktrees.locks import locked
from worktrees.mirror import HeldMirror, Mirror
from worktrees.names import belongs_to, commit_id, workspace_name

_READY = "sweeper-ready"


@dataclass(frozen=True)
class Place:
    """Where a worktree of a repository lies on this host."""

    name: str
    tree: Path
    admin: Path
    trash: Path
    lock: Path


class Worktrees:
    """The worktrees of one repository."""

    def __init__(self, root: Path, repository_id: int, mirror: Mirror, owner: Owner | None) -> None:
        self._root = root
        self._id = int(repository_id)
        self._mirror = mirror
        self._owner = owner

    def place(self, name: str) -> Place:
        """Where a worktree of that name lies, whether it exists or not. Raises BadInput for an unsafe name."""
        workspace_name(name)
        return Place(
            name=name,
            tree=self._trees / name,
            admin=self._mirror.path / "worktrees" / name,
            trash=self._root / "trash" / f"{self._id}.{name}",
            lock=self._root / "locks" / f"{self._id}.{name}.lock",
        )

    def create(self, name: str, commit: str) -> Place:
        """A complete checkout of `commit`, whatever lay there before. Raises NotFound if the commit was not fetched.

        Only adding git's administration needs the mirror for itself; files are written beside other work.
        """
        place = self.place(name)
        commit_id(commit)
        with locked(place.lock) as lock:
            self._destroy(place)
            with self._mirror.changing() as mirror:
                mirror.require(commit)
                mirror.pin(commit)
                self._add(mirror.also_holding(lock), place, commit)
            with self._mirror.reading() as mirror:
                self._fill(mirror.also_holding(lock), place, commit)
        return place

    @contextmanager
    def holding(self, name: str, commit: str) -> Iterator[Place]:
        """Hold a worktree that was completed for that commit: a half-made one looks like a mass deletion.

        Raises NotFound otherwise.
        """
        place = self.place(name)
        marker = place.admin / _READY
        with locked(place.lock):
            if not marker.is_file() or marker.read_bytes() != _marker(name, commit) or not place.tree.is_dir():
                raise NotFound(f"Workspace {name} is not complete on this host; create it again.")
            yield place

    def completed_ns(self, place: Place) -> int:
        """When a worktree that is held was complete, by the file system's clock; what is done to it is later."""
        return (place.admin / _READY).stat().st_ctime_ns

    def remove(self, name: str) -> None:
        """Remove one worktree or home, whatever is left of it. Twice is a no-op."""
        place = self.place(name)
        with locked(place.lock):
            self._destroy(place)
            place.lock.unlink(missing_ok=True)

    def home(self, name: str) -> Path:
        """A fresh, empty directory under that name; it is removed as worktrees are."""
        place = self.place(name)
        with locked(place.lock):
            self._destroy(place)
            make_home(place.tree, self._owner)
        return place.tree

    def remove_all(self, sweep: str) -> None:
        """Remove every worktree of a sweep, also those of which only a part is left."""
        workspace_name(sweep)
        for name in sorted(name for name in self._known() if belongs_to(name, sweep)):
            self.remove(name)

    @property
    def _trees(self) -> Path:
        return self._root / "trees" / str(self._id)

    def _known(self) -> set[str]:
        mine = f"{self._id}."
        trash = {path.name.removeprefix(mine) for path in self._root.glob(f"trash/{mine}*")}
        return trash.union(*(_names(path) for path in (self._trees, self._mirror.path / "worktrees")))

    def _destroy(self, place: Place) -> None:
        """Marker first, so that nothing half removed counts as ready; then the files; then git's administration."""
        (place.admin / _READY).unlink(missing_ok=True)
        remove_tree(place.tree, place.trash)
        if place.admin.exists():
            with self._mirror.changing(), suppress(FileNotFoundError):  # a half-made one goes as the lock is taken
                shutil.rmtree(place.admin)

    def _add(self, mirror: HeldMirror, place: Place, commit: str) -> None:
        """`git worktree add` of the empty directory, locked so that no prune ever takes it."""
        for folder in (self._trees.parent, self._trees):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o711)  # the sandbox user passes through to its own tree, and lists nothing
        options = ("--quiet", "--no-checkout", "--detach", "--lock", "--reason", "sweeper")
        mirror.ask("worktree", "add", *options, str(place.tree), commit)

    def _fill(self, mirror: HeldMirror, place: Place, commit: str) -> None:
        argv = ("read-tree", "--reset", "-u", "--no-recurse-submodules", commit)
        mirror.door.ask(GitCall(argv, git_dir=place.admin, work_tree=place.tree, holding=mirror.locks))
        (place.tree / ".git").unlink()
        synthetic.build(mirror, commit, place.admin / "index", place.tree / ".git")
        if self._owner is not None:
            _give_away(place.tree, self._owner)
        sync_directory(place.tree)
        write_durably(place.admin / _READY, _marker(place.name, commit))
        outlast_stamp(place.admin / _READY)  # what is done to the files from now on is told by its time


def _marker(name: str, commit: str) -> bytes:
    return f"{commit} {name}\n".encode()


def _names(directory: Path) -> set[str]:
    with suppress(FileNotFoundError):
        return {path.name for path in directory.iterdir()}
    return set()


def _give_away(tree: Path, owner: Owner) -> None:
    """Nothing hostile has run in the tree yet; links are still not followed."""
    for _, directories, files, descriptor in os.fwalk(tree):
        os.fchown(descriptor, owner.uid, owner.gid)
        for name in [*directories, *files]:
            os.chown(name, owner.uid, owner.gid, dir_fd=descriptor, follow_symlinks=False)
