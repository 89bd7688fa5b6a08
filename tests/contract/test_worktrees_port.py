"""The Workspaces port: what a workflow may rely on, held against real git and against the fake."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import pytest

from sweeper.errors import BadInput, HostLost, NotFound, OutcomeUnknown, Stale
from sweeper.model import CommitMeta, EffectState, GitAccess, Workspace
from sweeper.ports import Journals, Workspaces
from tests.support.git_origin import GitOrigin
from tests.support.journals import FakeJournals
from tests.support.recording import journal_at, patch_of
from tests.support.workspaces import FakeWorkspaces
from worktrees.journal import JournalStore
from worktrees.store import WorktreeStore

REPO = 7
REF = "refs/sweeper/sweep-1-1/1"
META = CommitMeta(message="Fix it\n", name="CI Sweeper", email="bot@example.org", date=datetime(2024, 1, 2, tzinfo=UTC))


class Side(Protocol):
    """An implementation and what a test needs around it: somebody else's commits, and hands in a workspace."""

    store: Workspaces
    journals: Journals
    access: GitAccess

    def commit(self, files: Mapping[str, str], branch: str = "main", parent: str | None = None) -> str: ...

    def branch(self, name: str) -> str | None: ...

    def edit(self, workspace: Workspace, files: Mapping[str, str | None]) -> None: ...

    def read(self, workspace: Workspace) -> dict[str, bytes]: ...


class RealSide:
    def __init__(self, root: Path) -> None:
        self.store: Workspaces = WorktreeStore(root / "state", "here")
        self.journals: Journals = JournalStore(root / "state", "here")
        self._origin = GitOrigin(root)
        self.access = self._origin.access

    def commit(self, files: Mapping[str, str], branch: str = "main", parent: str | None = None) -> str:
        return self._origin.commit(files, branch, parent)

    def branch(self, name: str) -> str | None:
        return self._origin.branch(name)

    def edit(self, workspace: Workspace, files: Mapping[str, str | None]) -> None:
        for path, text in files.items():
            target = Path(workspace.path, path)
            if text is None:
                target.unlink()
            else:
                target.write_text(text)

    def read(self, workspace: Workspace) -> dict[str, bytes]:
        tree = Path(workspace.path)
        files = [path for path in tree.rglob("*") if path.is_file() and ".git" not in path.relative_to(tree).parts]
        return {str(path.relative_to(tree)): path.read_bytes() for path in files}


class FakeSide:
    def __init__(self) -> None:
        self._fake = FakeWorkspaces(host="here")
        self.store: Workspaces = self._fake
        self.journals: Journals = FakeJournals(self._fake)
        self.access = GitAccess(url="file:///nowhere")

    def commit(self, files: Mapping[str, str], branch: str = "main", parent: str | None = None) -> str:
        return self._fake.seed(REPO, files, branch, parent)

    def branch(self, name: str) -> str | None:
        return self._fake.branches.get(REPO, {}).get(name)

    def edit(self, workspace: Workspace, files: Mapping[str, str | None]) -> None:
        tree = self._fake.tree(workspace)
        for path, text in files.items():
            if text is None:
                del tree[path]
            else:
                tree[path] = text.encode()

    def read(self, workspace: Workspace) -> dict[str, bytes]:
        return dict(self._fake.tree(workspace))


@pytest.fixture(params=["real", "fake"])
def side(request: pytest.FixtureRequest, tmp_path: Path) -> Side:
    return RealSide(tmp_path) if request.param == "real" else FakeSide()


async def a_workspace(side: Side, files: Mapping[str, str] | None = None) -> Workspace:
    commit = side.commit(files or {"a.txt": "one\n", "b.txt": "two\n"})
    await side.store.fetch(REPO, [commit], side.access)
    return await side.store.create(REPO, "sweep-1-1", commit)


async def test_a_workspace_holds_exactly_the_commit_asked_for(side: Side) -> None:
    old = side.commit({"a.txt": "old\n"})
    new = side.commit({"a.txt": "new\n"}, parent=old)
    await side.store.fetch(REPO, [old, new], side.access)
    workspace = await side.store.create(REPO, "sweep-1-1", old)
    assert workspace.commit == old
    assert workspace.host == side.store.host == "here"
    assert side.read(workspace) == {"a.txt": b"old\n"}


async def test_what_lies_here_is_told_by_sweep(side: Side) -> None:
    assert await side.store.traces() == ()
    workspace = await a_workspace(side)
    await side.store.create(REPO, "sweep-1-1.fix1", workspace.commit)
    await side.store.create(REPO, "sweep-2-1.verify1", workspace.commit)
    await side.store.create(REPO, "preflight", workspace.commit)
    side.edit(workspace, {"a.txt": "mended\n"})
    patch = await patch_of(side.journals, workspace, META, REF)
    assert patch is not None
    first, second = await side.store.traces()
    assert (first.sweep, first.repository_id, first.host) == ("sweep-1-1", REPO, "here")
    assert set(first.worktrees) == {"sweep-1-1", "sweep-1-1.fix1"}
    (entry,) = await side.journals.entries(journal_at(workspace, REF))
    assert entry.commit in first.commits
    assert (second.sweep, second.worktrees, second.commits) == ("sweep-2-1", ("sweep-2-1.verify1",), ())
    for sweep in ("sweep-1-1", "sweep-2-1"):
        await side.store.discard(REPO, sweep)
    assert await side.store.traces() == ()


async def test_creating_again_destroys_what_lay_there(side: Side) -> None:
    workspace = await a_workspace(side)
    side.edit(workspace, {"a.txt": "dirt", "litter": "x"})
    again = await side.store.create(REPO, workspace.name, workspace.commit)
    assert again == workspace
    assert side.read(again) == {"a.txt": b"one\n", "b.txt": b"two\n"}


async def test_a_commit_that_was_not_fetched_is_not_found(side: Side) -> None:
    with pytest.raises(NotFound, match="fetch it first"):
        await side.store.create(REPO, "sweep-1-1", "a" * 40)


async def test_fetching_what_the_remote_does_not_have_is_not_found(side: Side) -> None:
    side.commit({"a.txt": "one\n"})
    with pytest.raises(NotFound, match="gone from the repository"):
        await side.store.fetch(REPO, ["b" * 40], side.access)


@pytest.mark.parametrize("name", ["-rf", "..", "a/b", "a..b", ".hidden", ""])
async def test_an_unsafe_workspace_name_is_refused(side: Side, name: str) -> None:
    commit = side.commit({"a.txt": "one\n"})
    await side.store.fetch(REPO, [commit], side.access)
    with pytest.raises(BadInput, match="workspace"):
        await side.store.create(REPO, name, commit)


async def test_an_untouched_tree_is_no_patch(side: Side) -> None:
    workspace = await a_workspace(side)
    assert await patch_of(side.journals, workspace, META, REF) is None
    assert await side.journals.entries(journal_at(workspace, REF)) == ()


async def test_a_snapshot_tells_what_changed(side: Side) -> None:
    workspace = await a_workspace(side)
    side.edit(workspace, {"a.txt": "ONE\nmore\n", "b.txt": None, "c.txt": "three\n"})
    patch = await patch_of(side.journals, workspace, META, REF)
    assert patch is not None
    assert patch.parent == workspace.commit
    assert patch.files == ("a.txt", "b.txt", "c.txt")
    assert (patch.files_changed, patch.lines_changed, patch.bytes_changed) == (3, 5, 15)
    diff = await side.store.diff(REPO, patch.parent, patch.commit)
    assert b"--- a/a.txt\n+++ b/a.txt\n" in diff
    assert b"+++ /dev/null" in diff


async def test_the_same_tree_gives_the_same_patch(side: Side) -> None:
    workspace = await a_workspace(side)
    side.edit(workspace, {"a.txt": "ONE\n"})
    first = await patch_of(side.journals, workspace, META, REF)
    assert first is not None
    assert await patch_of(side.journals, workspace, META, REF) == first


async def test_a_recorded_commit_can_be_checked_out_elsewhere(side: Side) -> None:
    workspace = await a_workspace(side)
    side.edit(workspace, {"a.txt": "ONE\n", "b.txt": None})
    patch = await patch_of(side.journals, workspace, META, REF)
    assert patch is not None
    other = await side.store.create(REPO, "sweep-1-1.verify", patch.commit)
    assert side.read(other) == {"a.txt": b"ONE\n"}


async def test_a_workspace_of_another_host_is_lost(side: Side) -> None:
    workspace = await a_workspace(side)
    elsewhere = workspace.model_copy(update={"host": "elsewhere"})
    with pytest.raises(HostLost, match="elsewhere"):
        await patch_of(side.journals, elsewhere, META, REF)


async def test_a_merge_is_the_same_each_time_and_none_on_conflict(side: Side) -> None:
    base = side.commit({"a.txt": "one\n", "b.txt": "two\n"})
    ours = side.commit({"a.txt": "ours\n"}, "ours", base)
    theirs = side.commit({"b.txt": "theirs\n"}, "theirs", base)
    rival = side.commit({"a.txt": "rival\n"}, "rival", base)
    await side.store.fetch(REPO, [ours, theirs, rival], side.access)
    merged = await side.store.merge(REPO, ours, theirs)
    assert merged is not None
    assert await side.store.merge(REPO, ours, theirs) == merged
    workspace = await side.store.create(REPO, "sweep-1-1.merge", merged)
    assert side.read(workspace) == {"a.txt": b"ours\n", "b.txt": b"theirs\n"}
    assert await side.store.merge(REPO, ours, rival) is None


async def a_fix(side: Side) -> str:
    workspace = await a_workspace(side)
    side.edit(workspace, {"a.txt": "ONE\n"})
    patch = await patch_of(side.journals, workspace, META, REF)
    assert patch is not None
    return patch.commit


async def test_a_push_happens_once(side: Side) -> None:
    fix = await a_fix(side)
    first = await side.store.push(REPO, "sweeper/1-1", fix, None, side.access, "sweep-1-1/propose/1")
    again = await side.store.push(REPO, "sweeper/1-1", fix, None, side.access, "sweep-1-1/propose/1")
    assert (first.state, again.state) == (EffectState.CREATED, EffectState.DEDUPLICATED)
    assert first.name == again.name == "branch.push"
    assert first.ref == again.ref == f"refs/heads/sweeper/1-1@{fix}"
    assert first.key == "sweep-1-1/propose/1"
    assert side.branch("sweeper/1-1") == fix


async def test_a_push_moves_the_branch_only_from_where_it_was_last_seen(side: Side) -> None:
    fix = await a_fix(side)
    person = side.commit({"p.txt": "person\n"}, "sweeper/1-1", parent=side.branch("main"))
    with pytest.raises(Stale, match="read it again"):
        await side.store.push(REPO, "sweeper/1-1", fix, None, side.access, "k")
    assert side.branch("sweeper/1-1") == person
    moved = await side.store.push(REPO, "sweeper/1-1", fix, person, side.access, "k")
    assert moved.state is EffectState.CREATED
    assert side.branch("sweeper/1-1") == fix


async def test_only_our_own_branch_is_deleted(side: Side) -> None:
    fix = await a_fix(side)
    await side.store.push(REPO, "sweeper/1-1", fix, None, side.access, "k")
    person = side.commit({"p.txt": "person\n"}, "sweeper/1-1", parent=side.branch("main"))
    kept = await side.store.delete_branch(REPO, "sweeper/1-1", fix, side.access, "k")
    assert (kept.state, person in kept.note) == (EffectState.SKIPPED, True)
    assert side.branch("sweeper/1-1") == person
    gone = await side.store.delete_branch(REPO, "sweeper/1-1", person, side.access, "k")
    assert (gone.name, gone.state) == ("branch.delete", EffectState.CREATED)
    again = await side.store.delete_branch(REPO, "sweeper/1-1", person, side.access, "k")
    assert (again.state, again.note) == (EffectState.DEDUPLICATED, "already gone")


@pytest.mark.parametrize("branch", ["-force", "a..b", ""])
async def test_an_unsafe_branch_name_is_refused(side: Side, branch: str) -> None:
    fix = await a_fix(side)
    with pytest.raises(BadInput, match="branch name"):
        await side.store.push(REPO, branch, fix, None, side.access, "k")
    with pytest.raises(BadInput, match="branch name"):
        await side.store.delete_branch(REPO, branch, fix, side.access, "k")


async def test_discard_removes_the_sweep_and_nothing_else(side: Side) -> None:
    mine = await a_workspace(side)
    side.edit(mine, {"a.txt": "ONE\n"})
    patch = await patch_of(side.journals, mine, META, REF)
    assert patch is not None
    part = await side.store.create(REPO, "sweep-1-1.verify", patch.commit)
    other = await side.store.create(REPO, "sweep-1-10", mine.commit)
    await side.store.discard(REPO, "sweep-1-1")
    await side.store.discard(REPO, "sweep-1-1")
    assert await side.journals.entries(journal_at(mine, REF)) == ()
    for workspace in (mine, part):
        with pytest.raises(NotFound, match="not complete"):
            await patch_of(side.journals, workspace, META, REF)
    assert side.read(other) == {"a.txt": b"one\n", "b.txt": b"two\n"}


async def test_the_fake_can_lose_an_answer_after_the_effect() -> None:
    side = FakeSide()
    fix = await a_fix(side)
    fake = side.store
    assert isinstance(fake, FakeWorkspaces)
    fake.fail("push", OutcomeUnknown("lost"), after=True)
    with pytest.raises(OutcomeUnknown):
        await fake.push(REPO, "sweeper/1-1", fix, None, side.access, "k")
    again = await fake.push(REPO, "sweeper/1-1", fix, None, side.access, "k")
    assert again.state is EffectState.DEDUPLICATED
