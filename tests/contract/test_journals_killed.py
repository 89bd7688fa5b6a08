"""A worker killed at any git call of an action, and two at once: each action is recorded once, or not at all."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from sweeper.errors import Stale
from sweeper.model.journal import FileEdit, JournalRef, Recorded, RecordState
from tests.support.git_origin import GitOrigin
from tests.support.hanging_git import HangingGit
from tests.support.journal_scene import REPO, SWEEP, JournalScene, an_action, edits
from tests.support.journal_writer import EDITS
from worktrees.journal import JournalStore

pytestmark = pytest.mark.slow

FILES = {"a.txt": "one\n", "d/c.txt": "c\n"}
BEFORE_THE_RECORD = [
    ("log", False),
    ("ls-tree", False),
    ("fast-import", False),
    ("fast-import", True),
    ("update-ref", False),
]
SNAPSHOT_BEFORE_THE_RECORD = [
    ("fast-import", False),
    ("fast-import", True),
    ("write-tree", True),
    ("commit-tree", True),
    ("diff-tree", True),
    ("update-ref", False),
]


class Killed:
    """A worker of its own in a git that hangs; killed together with that git, as a machine's reset would."""

    def __init__(self, root: Path, scene: JournalScene) -> None:
        self._shim = HangingGit(root / "shim")
        self._root = root
        self._state = scene.state

    async def in_command(self, command: str, done_first: bool, journal: JournalRef, tree: str | None = None) -> None:
        self._shim.put(command, done_first=done_first)
        words = ["-m", "tests.support.journal_writer", str(self._state), journal.base, *([tree] if tree else [])]
        environment = {**os.environ, "PATH": self._shim.path}
        worker = await asyncio.create_subprocess_exec(sys.executable, *words, env=environment)
        while not self._shim.hangs:
            assert worker.returncode is None, f"{command} was never called"
            await asyncio.sleep(0.01)
        worker.kill()
        await worker.wait()
        for pid in _those_of(self._root / "shim"):
            os.killpg(pid, signal.SIGKILL)


def _those_of(directory: Path) -> set[int]:
    """The sessions of the hanging git, which outlive their worker."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and entry.name != str(os.getpid()):
            try:
                if f"{directory}/git".encode() in (entry / "cmdline").read_bytes():
                    found.add(os.getsid(int(entry.name)))
            except OSError:
                continue
    return found


@pytest.fixture
def scene(tmp_path: Path) -> JournalScene:
    return JournalScene(tmp_path)


async def undisturbed(root: Path, origin: GitOrigin, base: str) -> Recorded:
    """What the action comes to where nobody is killed."""
    scene = JournalScene(root, origin)
    return await scene.journals.change(await scene.have(base), base, an_action(), EDITS)


@pytest.mark.parametrize(("command", "done_first"), BEFORE_THE_RECORD)
async def test_a_repeat_after_a_kill_makes_the_one_commit(
    scene: JournalScene, tmp_path: Path, command: str, done_first: bool
) -> None:
    journal = await scene.begin(FILES)
    await Killed(tmp_path, scene).in_command(command, done_first, journal)
    assert await scene.journals.entries(journal) == ()
    done = await scene.journals.change(journal, journal.base, an_action(), EDITS)
    assert done == await undisturbed(tmp_path / "calm", scene.origin, journal.base)
    assert await scene.journals.entries(journal) == (done.entry,)
    assert scene.refs() == {journal.ref: done.tip}


async def test_a_kill_after_the_record_is_answered_from_it(scene: JournalScene, tmp_path: Path) -> None:
    journal = await scene.begin(FILES)
    await Killed(tmp_path, scene).in_command("update-ref", True, journal)
    done = await scene.journals.change(journal, journal.base, an_action(), EDITS)
    assert done.state is RecordState.DEDUPLICATED
    assert done.tip == (await undisturbed(tmp_path / "calm", scene.origin, journal.base)).tip
    assert await scene.journals.entries(journal) == (done.entry,)


@pytest.mark.parametrize(("command", "done_first"), [*SNAPSHOT_BEFORE_THE_RECORD, ("update-ref", True)])
async def test_a_tree_is_recorded_once_wherever_the_worker_is_killed(
    scene: JournalScene, tmp_path: Path, command: str, done_first: bool
) -> None:
    journal = await scene.begin(FILES)
    workspace = await scene.workspaces.create(REPO, f"{SWEEP}.x", journal.base)
    Path(workspace.path, "a.txt").write_text("by hand\n")
    await Killed(tmp_path, scene).in_command(command, done_first, journal, workspace.path)
    done = await scene.journals.snapshot(journal, journal.base, an_action(), workspace)
    is_recorded = (command, done_first) == ("update-ref", True)
    assert done.state is (RecordState.DEDUPLICATED if is_recorded else RecordState.CREATED)
    assert await scene.journals.entries(journal) == (done.entry,)
    assert scene.tree(done.tip)["a.txt"] == ("100644", b"by hand\n")


async def test_a_lock_that_a_killed_git_left_does_not_stop_the_journal(scene: JournalScene) -> None:
    journal = await scene.begin(FILES)
    lock = scene.mirror / f"{journal.ref}.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    done = await scene.change(journal, journal.base, {"a.txt": "1\n"})
    assert scene.refs() == {journal.ref: done.tip}
    assert not lock.exists()


class Late:
    """Another worker, which waits right before it moves a ref until it is let go."""

    def __init__(self, shim: HangingGit, journals: JournalStore, journal: JournalRef) -> None:
        self._shim = shim
        self._journals = journals
        self.journal = journal

    async def begins(self, wanted: list[FileEdit]) -> "asyncio.Task[Recorded]":
        change = self._journals.change(self.journal, self.journal.base, an_action(), wanted)
        task = asyncio.create_task(change)
        while not self._shim.hangs:
            await asyncio.sleep(0.01)
        return task

    def goes_on(self) -> None:
        self._shim.let_go()


@pytest.fixture
async def late(scene: JournalScene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Late:
    journal = await scene.begin(FILES)
    shim = HangingGit(tmp_path / "shim").put("update-ref", may_go_on=True)
    journals = JournalStore(scene.state, "here")
    with monkeypatch.context() as patched:
        patched.setenv("PATH", shim.path)
        assert await journals.has(journal, journal.base)  # it finds its git here
    return Late(shim, journals, journal)


async def test_of_two_workers_with_different_actions_one_is_told_that_it_came_late(
    scene: JournalScene, late: Late
) -> None:
    task = await late.begins(edits({"a.txt": "late\n"}))
    won = await scene.change(late.journal, late.journal.base, {"a.txt": "first\n"}, n=2)
    late.goes_on()
    with pytest.raises(Stale, match="at the same time"):
        await task
    assert await scene.journals.entries(late.journal) == (won.entry,)


async def test_of_two_workers_with_the_same_action_both_have_the_one_answer(scene: JournalScene, late: Late) -> None:
    task = await late.begins(EDITS)
    won = await scene.journals.change(late.journal, late.journal.base, an_action(), EDITS)
    await scene.change(late.journal, won.tip, {"a.txt": "and on\n"}, n=2)
    late.goes_on()
    assert await task == won.model_copy(update={"state": RecordState.DEDUPLICATED})
    assert len(await scene.journals.entries(late.journal)) == 2


async def test_many_workers_at_once_record_one_action_once(scene: JournalScene) -> None:
    journal = await scene.begin(FILES)
    workers = [JournalStore(scene.state, "here") for _ in range(6)]
    answers = await asyncio.gather(*(one.change(journal, journal.base, an_action(), EDITS) for one in workers))
    assert len({answer.tip for answer in answers}) == 1
    assert len(await scene.journals.entries(journal)) == 1
