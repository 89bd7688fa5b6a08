"""What lies on this host, by sweep: for finding what nobody cares for any more."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from sweeper.ids import sweep_id_of_workspace
from sweeper.model.upkeep import HostTrace
from worktrees.git import GitDoor
from worktrees.mirror import HeldMirror
from worktrees.names import PINS, RECORDS


def traces_on(root: Path, host: str, door: GitDoor) -> tuple[HostTrace, ...]:
    """Every sweep that has a worktree, a part of one, or a recorded attempt here. Names that are no sweep's are left.

    No lock is taken: names of directories and refs are read in one go each, and a fetch must not hold this up.
    """
    worktrees: dict[tuple[int, str], set[str]] = defaultdict(set)
    commits: dict[tuple[int, str], list[str]] = defaultdict(list)
    for repository_id, name in (*_worktrees(root), *_trash(root)):
        if sweep := sweep_id_of_workspace(name):
            worktrees[repository_id, sweep].add(name)
    for repository_id, ref, commit in _records(root, door):
        if sweep := sweep_id_of_workspace(ref.removeprefix(RECORDS).partition("/")[0]):
            commits[repository_id, sweep].append(commit)
    return tuple(
        HostTrace(
            host=host,
            repository_id=key[0],
            sweep=key[1],
            worktrees=tuple(sorted(worktrees[key])),
            commits=tuple(commits[key]),
        )
        for key in sorted(worktrees.keys() | commits.keys())
    )


def _worktrees(root: Path) -> Iterator[tuple[int, str]]:
    """Directories of files, and git's administration of them: either may be left without the other."""
    for path in (*root.glob("trees/*/*"), *root.glob("mirrors/*.git/worktrees/*")):
        holder = path.parent if path.parent.parent.name == "trees" else path.parent.parent
        if holder.name.removesuffix(".git").isdecimal():
            yield int(holder.name.removesuffix(".git")), path.name


def _trash(root: Path) -> Iterator[tuple[int, str]]:
    for path in root.glob("trash/*"):
        repository_id, _, name = path.name.partition(".")
        if repository_id.isdecimal():
            yield int(repository_id), name


def _records(root: Path, door: GitDoor) -> Iterator[tuple[int, str, str]]:
    """(repository id, ref, commit), oldest attempt first."""
    for path in sorted(root.glob("mirrors/*.git")):
        if not path.stem.isdecimal():
            continue
        form = "--format=%(objectname) %(refname)"
        with suppress(FileNotFoundError):
            listed = HeldMirror(path, door, ()).ask("for-each-ref", form, "--sort=version:refname", RECORDS)
            for line in listed.text.splitlines():
                commit, _, ref = line.partition(" ")
                if not ref.startswith(PINS):
                    yield int(path.stem), ref, commit
