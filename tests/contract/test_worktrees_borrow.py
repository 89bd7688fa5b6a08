"""Borrowing somebody's repository: all of its files, and nothing in it changes, not even a time."""

import os
from pathlib import Path

import pytest

from sweeper.errors import BadInput
from tests.support.git_origin import git
from tests.support.local_repository import fingerprint, repository, write
from worktrees.borrow import borrow

pytestmark = pytest.mark.slow


def aged(place: Path) -> Path:
    """As if nobody had touched it for years: whatever is touched now shows."""
    for path in [*place.rglob("*"), place]:
        os.utime(path, (1_000_000_000, 1_000_000_000), follow_symlinks=False)
    return place


async def test_nothing_in_the_source_is_touched_while_all_its_files_come_along(tmp_path: Path) -> None:
    source = repository(tmp_path / "source", {"a.txt": "one\n", "b/c.txt": "two\n"})
    write(source, {"a.txt": "changed\n", "copy.txt": "two\n"})
    before = fingerprint(aged(source))
    borrowed = await borrow(source, tmp_path / "borrowed.git")
    assert fingerprint(source) == before
    assert borrowed.is_dirty
    listed = git("ls-tree", "-r", "--name-only", borrowed.commit, cwd=borrowed.path).splitlines()
    assert listed == ["a.txt", "b/c.txt", "copy.txt"]
    assert git("show", f"{borrowed.commit}:a.txt", cwd=borrowed.path) == "changed"
    assert git("fsck", "--strict", "--no-dangling", cwd=borrowed.path) == ""


async def test_a_bare_repository_is_taken_at_its_head(tmp_path: Path) -> None:
    source = repository(tmp_path / "source", {"a.txt": "one\n"})
    bare = tmp_path / "bare.git"
    git("clone", "-q", "--bare", str(source), str(bare), cwd=tmp_path)
    before = fingerprint(aged(bare))
    borrowed = await borrow(bare, tmp_path / "borrowed.git")
    assert fingerprint(bare) == before
    assert (borrowed.branch, borrowed.is_dirty) == ("main", False)
    assert git("show", f"{borrowed.commit}:a.txt", cwd=borrowed.path) == "one"


async def test_a_linked_worktree_is_taken_as_it_lies_there(tmp_path: Path) -> None:
    source = repository(tmp_path / "source", {"a.txt": "one\n"})
    git("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"), cwd=source)
    write(tmp_path / "linked", {"new.txt": "new\n"})
    borrowed = await borrow(tmp_path / "linked", tmp_path / "borrowed.git")
    assert (borrowed.branch, borrowed.is_dirty) == ("side", True)
    assert git("show", f"{borrowed.commit}:new.txt", cwd=borrowed.path) == "new"


@pytest.mark.parametrize("files", [{}, {"HEAD": "ref: refs/heads/main\n"}, {"notes.txt": "mine\n"}])
async def test_a_directory_that_is_no_repository_is_refused(files: dict[str, str], tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    write(place, files)
    with pytest.raises(BadInput, match="is no git repository"):
        await borrow(place, tmp_path / "borrowed.git")


async def test_a_repository_without_a_commit_is_refused(tmp_path: Path) -> None:
    for options in ((), ("--bare",)):
        place = tmp_path / f"empty{len(options)}"
        git("init", "-q", *options, str(place), cwd=tmp_path)
        with pytest.raises(BadInput, match="no commit yet"):
            await borrow(place, tmp_path / "borrowed.git")
