"""The Journals port: what the owner of an attempt may rely on, held against real git and against the fake."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import pytest

from sweeper.errors import BadInput, Bug, NonDeterminism, NotFound
from sweeper.model import CommitMeta, GitAccess
from sweeper.model.journal import JournalRef, RecordState
from sweeper.ports import Journals, Workspaces
from tests.support.git_origin import GitOrigin
from tests.support.journal_scene import HOST, REPO, SWEEP, an_action, edits
from tests.support.journals import FakeJournals
from tests.support.workspaces import FakeWorkspaces
from worktrees.journal import JournalStore
from worktrees.store import WorktreeStore

META = CommitMeta(message="Fix it\n", name="CI Sweeper", email="bot@example.org", date=datetime(2024, 1, 2, tzinfo=UTC))
FILES = {"a.txt": "one\n", "d/b.txt": "two\n"}


class Side(Protocol):
    """An implementation, somebody else's commits, and the way to another host."""

    journals: Journals
    workspaces: Workspaces
    access: GitAccess

    def commit(self, files: Mapping[str, str]) -> str: ...

    def edit(self, path: str, text: str, tree: str) -> None: ...

    def elsewhere(self) -> "Side": ...


class RealSide:
    def __init__(self, root: Path, origin: GitOrigin | None = None) -> None:
        self._root = root
        self._origin = origin or GitOrigin(root)
        self.journals: Journals = JournalStore(root / "state", HOST)
        self.workspaces: Workspaces = WorktreeStore(root / "state", HOST)
        self.access = self._origin.access

    def commit(self, files: Mapping[str, str]) -> str:
        return self._origin.commit(files)

    def edit(self, path: str, text: str, tree: str) -> None:
        Path(tree, path).write_text(text)

    def elsewhere(self) -> "RealSide":
        return RealSide(self._root / "elsewhere", self._origin)


class FakeSide:
    def __init__(self, known: FakeWorkspaces | None = None) -> None:
        self._fake = FakeWorkspaces(host=HOST)
        if known is not None:
            self._fake.commits |= {commit: facts for commit, facts in known.commits.items() if not facts.parents}
        self.journals: Journals = FakeJournals(self._fake)
        self.workspaces: Workspaces = self._fake
        self.access = GitAccess(url="file:///nowhere")

    def commit(self, files: Mapping[str, str]) -> str:
        return self._fake.seed(REPO, files)

    def edit(self, path: str, text: str, tree: str) -> None:
        self._fake.tree_at(tree)[path] = text.encode()

    def elsewhere(self) -> "FakeSide":
        return FakeSide(self._fake)


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.slow)])
def side(request: pytest.FixtureRequest, tmp_path: Path) -> Side:
    return FakeSide() if request.param == "fake" else RealSide(tmp_path)


async def begun(side: Side, base: str | None = None) -> JournalRef:
    base = base or side.commit(FILES)
    await side.workspaces.fetch(REPO, [base], side.access)
    return JournalRef(repository_id=REPO, sweep=SWEEP, attempt=1, base=base)


async def test_an_action_is_one_commit_on_the_tip_and_the_record_names_it(side: Side) -> None:
    journal = await begun(side)
    assert await side.journals.entries(journal) == ()
    first = await side.journals.change(journal, journal.base, an_action(1), edits({"a.txt": "1\n"}))
    second = await side.journals.change(journal, first.tip, an_action(2), edits({"n.txt": "new\n", "d/b.txt": None}))
    assert [first.state, second.state] == [RecordState.CREATED, RecordState.CREATED]
    assert not first.rewound
    assert not second.rewound
    entries = await side.journals.entries(journal)
    assert entries == (first.entry, second.entry)
    assert [(entry.n, entry.commit, entry.paths) for entry in entries] == [
        (1, first.tip, ("a.txt",)),
        (2, second.tip, ("d/b.txt", "n.txt")),
    ]
    assert [entry.action for entry in entries] == [an_action(1), an_action(2)]
    assert [file.path for file in await side.journals.files(journal, second.tip, "", 9)] == ["a.txt", "n.txt"]
    assert await side.journals.read(journal, second.tip, "a.txt", 100) == b"1\n"
    assert await side.journals.read(journal, journal.base, "a.txt", 100) == b"one\n"


async def test_a_repeated_action_is_answered_from_the_record_whatever_came_after_it(side: Side) -> None:
    journal = await begun(side)
    first = await side.journals.change(journal, journal.base, an_action(1), edits({"a.txt": "1\n"}))
    second = await side.journals.change(journal, first.tip, an_action(2), edits({"a.txt": "2\n"}))
    for _ in range(2):
        again = await side.journals.change(journal, journal.base, an_action(1), edits({"a.txt": "1\n"}))
        assert again == first.model_copy(update={"state": RecordState.DEDUPLICATED})
    assert await side.journals.done(journal, first.tip, an_action(2)) == second.model_copy(
        update={"state": RecordState.DEDUPLICATED}
    )
    assert await side.journals.done(journal, second.tip, an_action(3)) is None
    assert len(await side.journals.entries(journal)) == 2


async def test_a_known_key_with_other_arguments_is_an_error_and_changes_nothing(side: Side) -> None:
    journal = await begun(side)
    first = await side.journals.change(journal, journal.base, an_action(1), edits({"a.txt": "1\n"}))
    other = an_action(1, arguments="another")
    with pytest.raises(NonDeterminism, match="w/r/1"):
        await side.journals.change(journal, journal.base, other, edits({"a.txt": "2\n"}))
    with pytest.raises(NonDeterminism, match="w/r/1"):
        await side.journals.done(journal, journal.base, other)
    assert await side.journals.entries(journal) == (first.entry,)


async def test_what_changes_nothing_is_not_recorded(side: Side) -> None:
    journal = await begun(side)
    same = await side.journals.change(journal, journal.base, an_action(), edits({"a.txt": "one\n", "nowhere": None}))
    assert (same.state, same.tip, same.entry) == (RecordState.NOTHING_CHANGED, journal.base, None)
    assert await side.journals.entries(journal) == ()


async def test_an_owner_who_counts_on_less_is_told_that_the_rest_is_gone(side: Side) -> None:
    journal = await begun(side)
    first = await side.journals.change(journal, journal.base, an_action(1), edits({"a.txt": "1\n"}))
    await side.journals.change(journal, first.tip, an_action(2), edits({"a.txt": "2\n"}))
    third = await side.journals.change(journal, first.tip, an_action(3), edits({"a.txt": "3\n"}))
    assert third.rewound
    assert await side.journals.entries(journal) == (first.entry, third.entry)
    assert third.entry is not None
    assert third.entry.n == 2


async def test_a_tip_that_is_not_here_has_to_be_restored_first(side: Side) -> None:
    journal = await begun(side)
    with pytest.raises(NotFound, match="bundle"):
        await side.journals.change(journal, "b" * 40, an_action(), edits({"a.txt": "1\n"}))
    assert not await side.journals.has(journal, "b" * 40)
    assert await side.journals.has(journal, journal.base)


async def test_a_tree_an_agent_worked_in_is_one_action(side: Side) -> None:
    journal = await begun(side)
    first = await side.journals.change(journal, journal.base, an_action(1), edits({"a.txt": "1\n"}))
    workspace = await side.workspaces.create(REPO, f"{SWEEP}.x", first.tip)
    side.edit("a.txt", "by hand\n", workspace.path)
    side.edit("new.txt", "new\n", workspace.path)
    second = await side.journals.snapshot(journal, first.tip, an_action(2), workspace)
    assert second.entry is not None
    assert second.entry.paths == ("a.txt", "new.txt")
    await side.workspaces.remove(REPO, workspace.name)
    again = await side.journals.snapshot(journal, first.tip, an_action(2), workspace)
    assert (again.state, again.tip) == (RecordState.DEDUPLICATED, second.tip)


async def test_the_patch_is_one_commit_on_the_base_and_the_same_each_time(side: Side) -> None:
    journal = await begun(side)
    first = await side.journals.change(journal, journal.base, an_action(1), edits({"a.txt": "1\n"}))
    second = await side.journals.change(journal, first.tip, an_action(2), edits({"d/b.txt": "2\n"}))
    patch = await side.journals.patch(journal, second.tip, journal.base, META)
    assert patch is not None
    assert patch == await side.journals.patch(journal, second.tip, journal.base, META)
    assert (patch.parent, patch.files) == (journal.base, ("a.txt", "d/b.txt"))
    since_first = await side.journals.patch(journal, second.tip, first.tip, META)
    assert since_first is not None
    assert (since_first.commit, since_first.files) == (patch.commit, ("d/b.txt",))
    undone = await side.journals.change(
        journal, second.tip, an_action(3), edits({"a.txt": "one\n", "d/b.txt": "two\n"})
    )
    assert await side.journals.patch(journal, undone.tip, journal.base, META) is None


async def test_another_host_goes_on_from_the_bundle(side: Side) -> None:
    journal = await begun(side)
    first = await side.journals.change(journal, journal.base, an_action(1), edits({"a.txt": "1\n"}))
    bundle = await side.journals.bundle(journal, first.tip)
    other = side.elsewhere()
    await begun(other, journal.base)
    assert not await other.journals.has(journal, first.tip)
    for _ in range(2):
        await other.journals.restore(journal, first.tip, bundle)
    assert await other.journals.has(journal, first.tip)
    assert await other.journals.entries(journal) == await side.journals.entries(journal)
    again = await other.journals.change(journal, journal.base, an_action(1), edits({"a.txt": "1\n"}))
    assert (again.state, again.tip) == (RecordState.DEDUPLICATED, first.tip)
    second = await other.journals.change(journal, first.tip, an_action(2), edits({"a.txt": "2\n"}))
    assert await other.journals.read(journal, second.tip, "a.txt", 100) == b"2\n"
    with pytest.raises(Bug):
        await other.journals.restore(journal, "c" * 40, bundle)


async def test_files_are_listed_read_and_searched_without_a_checkout(side: Side) -> None:
    journal = await begun(side)
    first = await side.journals.change(journal, journal.base, an_action(), edits({"d/c.txt": "two\nthree\nfour\n"}))
    found = await side.journals.files(journal, first.tip, "", 10)
    assert [(file.path, file.mode, file.size) for file in found] == [
        ("a.txt", "100644", 4),
        ("d/b.txt", "100644", 4),
        ("d/c.txt", "100644", 15),
    ]
    assert [file.path for file in await side.journals.files(journal, first.tip, "d", 1)] == ["d/b.txt"]
    assert await side.journals.files(journal, first.tip, "nowhere", 10) == ()
    lines = await side.journals.search(journal, first.tip, "^t(wo|hree)$", "", 10)
    assert [(line.path, line.line, line.text) for line in lines] == [
        ("d/b.txt", 1, "two"),
        ("d/c.txt", 1, "two"),
        ("d/c.txt", 2, "three"),
    ]
    assert len(await side.journals.search(journal, first.tip, "t", "", 2)) == 2
    assert [line.path for line in await side.journals.search(journal, first.tip, "o", "a.txt", 9)] == ["a.txt"]
    with pytest.raises(BadInput, match="expression"):
        await side.journals.search(journal, first.tip, "(", "", 10)
    assert await side.journals.read(journal, first.tip, "d/c.txt", 14) is None
    assert await side.journals.read(journal, first.tip, "d", 100) is None
    with pytest.raises(NotFound):
        await side.journals.files(journal, "d" * 40, "", 10)


async def test_a_journal_goes_with_its_sweep(side: Side) -> None:
    journal = await begun(side)
    first = await side.journals.change(journal, journal.base, an_action(), edits({"a.txt": "1\n"}))
    await side.journals.patch(journal, first.tip, journal.base, META)
    assert [trace.sweep for trace in await side.workspaces.traces()] == [SWEEP]
    await side.workspaces.discard(REPO, SWEEP)
    assert await side.workspaces.traces() == ()
    assert await side.journals.entries(journal) == ()
