"""The Workspaces port: what is in commits, and homes, held against real git and against the fake."""

import os
from pathlib import Path

import pytest

from sweeper.errors import NotFound
from sweeper.model import FileChange
from tests.contract.test_worktrees_port import REPO, FakeSide, RealSide, Side
from tests.support.git_origin import GitOrigin, git
from tests.support.workspaces import FakeWorkspaces
from worktrees.store import WorktreeStore

LIMIT = 1000


@pytest.fixture(params=["real", "fake"])
def side(request: pytest.FixtureRequest, tmp_path: Path) -> Side:
    return RealSide(tmp_path) if request.param == "real" else FakeSide()


async def two_commits(side: Side) -> tuple[str, str]:
    old = side.commit({"a.txt": "one\n", "same.txt": "same\n", "dir/old.txt": "moved " * 20})
    new = side.commit({"a.txt": "two\n", "b.txt": "new\n", "big.txt": "x" * (LIMIT + 1)}, "fix", old)
    await side.store.fetch(REPO, [old, new], side.access)
    return old, new


async def test_a_change_has_both_contents_of_each_file(side: Side) -> None:
    old, new = await two_commits(side)
    changed = {change.path: change for change in await side.store.changes(REPO, old, new, LIMIT)}
    assert changed["a.txt"] == FileChange(
        path="a.txt", old_mode="100644", new_mode="100644", old=b"one\n", new=b"two\n"
    )
    assert changed["b.txt"] == FileChange(path="b.txt", new_mode="100644", new=b"new\n")
    assert changed["big.txt"] == FileChange(path="big.txt", new_mode="100644", is_cut=True)
    assert changed.keys() == {"a.txt", "b.txt", "big.txt"}
    back = {change.path: change for change in await side.store.changes(REPO, new, old, LIMIT)}
    assert back["b.txt"] == FileChange(path="b.txt", old_mode="100644", old=b"new\n")


async def test_contents_of_a_commit_can_be_read(side: Side) -> None:
    _, new = await two_commits(side)
    assert await side.store.read(REPO, new, "a.txt", LIMIT) == b"two\n"
    assert await side.store.read(REPO, new, "big.txt", LIMIT) is None
    assert await side.store.read(REPO, new, "missing", LIMIT) is None
    assert await side.store.read(REPO, new, "dir", LIMIT) is None
    assert await side.store.submodules(REPO, new) == ()


async def test_files_are_put_back_to_their_state_in_another_commit(side: Side) -> None:
    old, new = await two_commits(side)
    restored = await side.store.restored(REPO, new, old, ["a.txt", "b.txt", "nowhere"])
    workspace = await side.store.create(REPO, "sweep-1-1.verify", restored)
    files = side.read(workspace)
    assert files["a.txt"] == b"one\n"
    assert "b.txt" not in files
    assert files["big.txt"] == b"x" * (LIMIT + 1)
    assert await side.store.restored(REPO, new, old, ["b.txt", "a.txt"]) == restored
    assert await side.store.restored(REPO, new, old, ["same.txt"]) == new


async def test_a_home_is_empty_and_goes_with_its_sweep(side: Side) -> None:
    home = await side.store.home(REPO, "sweep-1-1.verify.home")
    assert await side.store.left_in(home, "reports/check.xml", LIMIT) is None
    await side.store.remove(REPO, "sweep-1-1.verify.home")
    await side.store.remove(REPO, "sweep-1-1.verify.home")
    await side.store.home(REPO, "sweep-1-1.verify.home")
    await side.store.discard(REPO, "sweep-1-1")
    assert await side.store.traces() == ()


async def test_the_fake_reads_what_a_test_left_in_a_home() -> None:
    fake = FakeWorkspaces()
    home = await fake.home(REPO, "sweep-1-1.home")
    fake.homes[home]["report.xml"] = b"<testsuites/>"
    assert await fake.left_in(home, "report.xml", LIMIT) == b"<testsuites/>"
    assert await fake.left_in(home, "report.xml", 3) is None


@pytest.fixture
def origin(tmp_path: Path) -> GitOrigin:
    return GitOrigin(tmp_path)


@pytest.fixture
def store(tmp_path: Path) -> WorktreeStore:
    return WorktreeStore(tmp_path / "state", "here")


async def test_renames_links_and_submodules_are_told_apart(origin: GitOrigin, store: WorktreeStore) -> None:
    old = origin.commit({"dir/old.txt": "moved\n" * 20, "module": "x", "l": "plain\n"})
    git("update-index", "--add", "--cacheinfo", f"160000,{old},sub", cwd=origin.clone)
    git("mv", "dir/old.txt", "new.txt", cwd=origin.clone)
    (origin.clone / "l").unlink()
    (origin.clone / "l").symlink_to("/etc/passwd")
    git("add", "l", cwd=origin.clone)
    git("commit", "-q", "-m", "change", cwd=origin.clone)
    git("push", "-q", "-f", str(origin.path), "HEAD:refs/heads/main", cwd=origin.clone)
    new = git("rev-parse", "HEAD", cwd=origin.clone)
    await store.fetch(REPO, [old, new], origin.access)
    changed = {change.path: change for change in await store.changes(REPO, old, new, LIMIT)}
    assert (changed["new.txt"].old_path, changed["new.txt"].new) == ("dir/old.txt", b"moved\n" * 20)
    assert (changed["l"].new_mode, changed["l"].new) == ("120000", b"/etc/passwd")
    assert (changed["sub"].new_mode, changed["sub"].new, changed["sub"].is_cut) == ("160000", None, False)
    assert await store.submodules(REPO, new) == ("sub",)
    assert await store.read(REPO, new, "l", LIMIT) is None
    workspace = await store.create(REPO, "sweep-1-1.a", await store.restored(REPO, old, new, ["l"]))
    assert str(Path(workspace.path, "l").readlink()) == "/etc/passwd"


async def test_hostile_names_are_names_and_nothing_else(origin: GitOrigin, store: WorktreeStore) -> None:
    hostile = ["--index-info", ":(top)*", "*", "a\nb", "-", "sp ace\ttab", os.fsdecode(b"test_\xff.py")]
    old = origin.commit(dict.fromkeys(hostile, "old\n"))
    new = origin.commit({**dict.fromkeys(hostile, "new\n"), "other": "new\n"}, "fix", old)
    await store.fetch(REPO, [old, new], origin.access)
    changed = [change.path for change in await store.changes(REPO, old, new, LIMIT)]
    assert set(changed) == {
        *(name for name in hostile if name.isprintable() or "\n" in name or "\t" in name),
        "test_�.py",
        "other",
    }
    assert await store.read(REPO, new, "*", LIMIT) == b"new\n"
    one = await store.restored(REPO, new, old, ["*"])
    assert [change.path for change in await store.changes(REPO, new, one, LIMIT)] == ["*"]
    all_but_one = await store.restored(REPO, new, old, [path for path in changed if path != "other"])
    assert [change.path for change in await store.changes(REPO, old, all_but_one, LIMIT)] == ["other"]


async def test_a_directory_gives_way_to_the_file_that_was_there(origin: GitOrigin, store: WorktreeStore) -> None:
    old = origin.commit({"conftest.py": "real\n", "d/x": "x\n"})
    git("rm", "-rq", ".", cwd=origin.clone)
    (origin.clone / "conftest.py").mkdir()
    (origin.clone / "conftest.py" / "__init__.py").write_text("fake\n")
    (origin.clone / "d").write_text("file\n")
    new = origin.commit_as_it_lies("fix")
    await store.fetch(REPO, [old, new], origin.access)
    back = await store.restored(REPO, new, old, ["conftest.py", "conftest.py/__init__.py", "d", "d/x"])
    assert await store.changes(REPO, old, back, LIMIT) == ()


async def test_an_unknown_commit_is_not_found(origin: GitOrigin, store: WorktreeStore) -> None:
    commit = origin.commit({"a": "a\n"})
    await store.fetch(REPO, [commit], origin.access)
    with pytest.raises(NotFound, match="fetch it first"):
        await store.restored(REPO, commit, "a" * 40, ["a"])


async def test_what_foreign_code_left_is_read_through_no_link(store: WorktreeStore, tmp_path: Path) -> None:
    home = Path(await store.home(REPO, "sweep-1-1.home"))
    (tmp_path / "secret").write_text("canary")
    (home / "report.xml").symlink_to(tmp_path / "secret")
    (home / "dir").symlink_to(tmp_path)
    os.mkfifo(home / "fifo")
    (home / "closed").mkdir(mode=0)
    (home / "reports").mkdir()
    (home / "reports" / "good.xml").write_text("<ok/>")
    for path in ("report.xml", "dir/secret", "fifo", "closed/none", "reports"):
        assert await store.left_in(str(home), path, LIMIT) is None
    assert await store.left_in(str(home), "reports/good.xml", LIMIT) == b"<ok/>"
    assert await store.left_in(str(home), "reports/good.xml", 2) is None
    (home / "deep").mkdir()
    (home / "deep").chmod(0)
    await store.remove(REPO, "sweep-1-1.home")
    assert not home.exists()
