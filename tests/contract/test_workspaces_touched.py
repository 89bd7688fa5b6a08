"""What commands did to a checkout is told by content, whoever tries to hide it; nothing outside is ever read."""

import os
from pathlib import Path

import pytest

from sweeper.model import Touched, Workspace
from tests.support.git_origin import GitOrigin
from worktrees.store import WorktreeStore

REPO = 7
FILES = {"app.py": "1\n", "tests/test_app.py": "real\n", "tests/deep/data.txt": "data\n", "other/test_app.py": "fake\n"}

pytestmark = pytest.mark.slow


@pytest.fixture
async def checkout(tmp_path: Path) -> tuple[WorktreeStore, Workspace]:
    origin = GitOrigin(tmp_path)
    origin.commit(FILES)
    (origin.clone / "link").symlink_to("app.py")
    commit = origin.commit_as_it_lies()
    store = WorktreeStore(tmp_path / "state", "here")
    await store.fetch(REPO, [commit], origin.access)
    return store, await store.create(REPO, "sweep-1-1.verify", commit)


Checkout = tuple[WorktreeStore, Workspace]


async def test_an_untouched_checkout_has_nothing_to_tell(checkout: Checkout) -> None:
    store, workspace = checkout
    assert await store.touched(workspace) == Touched()


async def test_written_removed_and_new_files_are_told_and_what_is_in_new_folders_is_not(checkout: Checkout) -> None:
    store, workspace = checkout
    tree = Path(workspace.path)
    (tree / "tests/test_app.py").write_text("fake\n")
    (tree / "tests/deep/data.txt").unlink()
    (tree / "conftest.py").write_text("new\n")
    (tree / "build").mkdir()
    (tree / "build/out.txt").write_text("new\n")
    found = await store.touched(workspace)
    assert found == Touched(changed=("tests/deep/data.txt", "tests/test_app.py"), added=("conftest.py",))


async def test_a_file_that_was_put_back_with_its_old_times_was_written_all_the_same(checkout: Checkout) -> None:
    store, workspace = checkout
    file = Path(workspace.path, "tests/test_app.py")
    before = file.stat()
    file.write_text("fake\n")
    file.write_text("real\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert await store.touched(workspace) == Touched(rewritten=("tests/test_app.py",))


async def test_folders_that_changed_places_hold_other_files(checkout: Checkout) -> None:
    store, workspace = checkout
    tree = Path(workspace.path)
    (tree / "tests/deep").rename(tree / "deep")
    (tree / "tests").rename(tree / "aside")
    (tree / "other").rename(tree / "tests")
    (tree / "aside").rename(tree / "other")
    (tree / "deep").rename(tree / "tests/deep")
    assert (await store.touched(workspace)).changed == ("other/test_app.py", "tests/test_app.py")


async def test_links_and_pipes_are_neither_followed_nor_opened(checkout: Checkout, tmp_path: Path) -> None:
    store, workspace = checkout
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "test_app.py").write_text("real\n")
    tree = Path(workspace.path)
    (tree / "app.py").unlink()
    os.mkfifo(tree / "app.py")
    (tree / "link").unlink()
    (tree / "link").symlink_to(outside / "test_app.py")
    (tree / "tests").rename(tree / "aside")
    (tree / "tests").symlink_to(outside)
    found = await store.touched(workspace)
    assert found.changed == ("app.py", "link", "tests/deep/data.txt", "tests/test_app.py")
