"""A directory that a killed run left where the next worktree has to go blocked other bots for good (C38)."""

import os
from pathlib import Path

import pytest

from tests.contract.test_worktrees_port import REPO
from tests.support.git_origin import GitOrigin
from worktrees.store import Owner, WorktreeStore

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("left", [(), ("half-made.txt",), (".git/HEAD", ".git/config")], ids=["empty", "file", "git"])
async def test_what_lies_where_a_worktree_has_to_go_is_no_obstacle(left: tuple[str, ...], tmp_path: Path) -> None:
    origin = GitOrigin(tmp_path)
    store = WorktreeStore(tmp_path / "state", "here", Owner(uid=65534, gid=65534) if os.geteuid() == 0 else None)
    commit = origin.commit({"a.txt": "one\n"})
    await store.fetch(REPO, [commit], origin.access)
    tree = Path((await store.create(REPO, "sweep-1-1", commit)).path)
    await store.discard(REPO, "sweep-1-1")
    assert not tree.exists()
    tree.mkdir(parents=True)
    for name in left:
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text("left")
    again = await store.create(REPO, "sweep-1-1", commit)
    assert sorted(path.name for path in Path(again.path).iterdir() if path.name != ".git") == ["a.txt"]
    await store.discard(REPO, "sweep-1-1")
    assert not tree.exists()
