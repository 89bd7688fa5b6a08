"""Looking into commits: bounded, by names alone, and never by what a repository would have git run."""

import asyncio
import os
import signal
import subprocess
from pathlib import Path

import pytest

from sweeper.errors import BadInput, Bug, HostLost, NonDeterminism, NotFound, PolicyDenied
from sweeper.model import Workspace
from sweeper.model.journal import AgentAction, JournalRef
from tests.support.commands import nothing_runs_on
from tests.support.git_origin import git
from tests.support.hanging_git import HangingGit
from tests.support.journal_scene import REPO, SWEEP, JournalScene, an_action, edits
from worktrees import tree_reading
from worktrees.git import GitDoor
from worktrees.mirror import Mirror
from worktrees.running import UnderWay

pytestmark = pytest.mark.slow

NO_PATTERNS = [
    "",
    "(",
    "a{2",
    "[z",
    "*(",
    "x" * 501,
    "a\0b",
    "a\nb",
    r"(a*)\1",
    "((a{1,200}){1,200}){1,200}",
    "a{70000}",
]


@pytest.fixture
def scene(tmp_path: Path) -> JournalScene:
    return JournalScene(tmp_path)


async def found(scene: JournalScene, journal: JournalRef, pattern: str, under: str = "", limit: int = 99) -> list[str]:
    lines = await scene.journals.search(journal, journal.base, pattern, under, limit)
    return [f"{line.path}:{line.line}:{line.text}" for line in lines]


async def test_a_search_knows_text_from_binary_by_its_bytes_and_runs_nothing(scene: JournalScene) -> None:
    canary = scene.state.parent / "ran"
    attributes = "*.txt -diff diff=evil\n*.bin text diff\n"
    journal = await scene.begin({"a.txt": "find me\r\n", "b.bin": b"find me\0\n", ".gitattributes": attributes})
    git("config", "diff.evil.textconv", f"touch {canary}; cat", cwd=scene.mirror)
    git("config", "color.ui", "always", cwd=scene.mirror)
    assert await found(scene, journal, "find me") == ["a.txt:1:find me"]
    assert not canary.exists()


async def test_a_search_stays_below_the_folder_and_takes_names_and_dashes_as_they_are(scene: JournalScene) -> None:
    journal = await scene.begin({"d/a": "--all x\n", "d/b": "--all\n", "dd": "--all\n", "*/a": "--all\n"})
    assert await found(scene, journal, "--all", "d") == ["d/a:1:--all x", "d/b:1:--all"]
    assert await found(scene, journal, "--all$", "*") == ["*/a:1:--all"]
    assert await found(scene, journal, "--all", "d/") == await found(scene, journal, "--all", "d")
    assert await found(scene, journal, "nothing") == []
    for under in ("..", "d/../dd", ".git", "a\0b"):
        with pytest.raises(BadInput):
            await found(scene, journal, "x", under)
        with pytest.raises(BadInput):
            await scene.journals.files(journal, journal.base, under, 9)
    assert await found(scene, journal, "root", "/etc") == []  # below the root of the tree


@pytest.mark.parametrize("pattern", NO_PATTERNS, ids=lambda pattern: ascii(pattern)[:12])
async def test_what_is_no_pattern_is_told_and_not_tried_again(scene: JournalScene, pattern: str) -> None:
    journal = await scene.begin({"a": "aaaa\n"})
    with pytest.raises(BadInput):
        await found(scene, journal, pattern)


async def test_answers_are_bounded_in_lines_and_their_length(scene: JournalScene) -> None:
    journal = await scene.begin({"long": "x" * 6_000_000 + "\n", "many": "x\n" * 1000, "next": "x\n"})
    lines = await scene.journals.search(journal, journal.base, "x", "", 50)
    assert [len(line.text) for line in lines] == [tree_reading.LINE_CHARACTERS]  # more than a whole answer may have
    lines = await scene.journals.search(journal, journal.base, "x", "many", 50)
    assert [line.line for line in lines] == list(range(1, 51))


def test_what_says_more_than_is_asked_for_is_ended() -> None:
    endless = subprocess.Popen(["yes"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    told = UnderWay().follow(endless, 60, most=1000)
    assert told is not None
    assert told[0].startswith(b"y\n" * 500)
    assert endless.returncode == -signal.SIGKILL


async def test_a_search_over_its_time_is_ended(
    scene: JournalScene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = await scene.begin({"a": "a\n"})
    shim = HangingGit(tmp_path / "shim").put("grep")
    monkeypatch.setenv("PATH", shim.path)
    mirror = Mirror(scene.state, REPO, GitDoor(tmp_path / "home"))

    def search() -> None:
        with mirror.reading() as held:
            tree_reading.search(held, journal.base, "a", "", 9, seconds=0.3)

    with pytest.raises(BadInput, match="something simpler"):
        await asyncio.to_thread(search)
    nothing_runs_on(tmp_path / "shim")


async def test_names_that_are_no_text_are_listed_and_read_as_they_are_shown(scene: JournalScene) -> None:
    scene.origin.commit({"a": "a\n"})
    Path(scene.origin.clone, os.fsdecode(b"caf\xe9")).write_text("latin\n")
    journal = await scene.have(scene.origin.commit_as_it_lies())
    shown = [file.path for file in await scene.journals.files(journal, journal.base, "", 9)]
    assert shown == ["a", "caf\ufffd"]
    assert await scene.journals.read(journal, journal.base, "caf\ufffd", 99) == b"latin\n"
    with pytest.raises(PolicyDenied, match="no text"):
        await scene.change(journal, journal.base, {"caf\ufffd": "x"})


async def test_a_hostile_tree_is_recorded_without_what_it_points_to_or_refused(scene: JournalScene) -> None:
    secret = scene.state.parent / "secret"
    secret.write_text("canary")
    journal = await scene.begin({"a.txt": b"one\r\ntwo\n", ".gitignore": "ignored\n"})
    workspace = await scene.workspaces.create(REPO, f"{SWEEP}.x", journal.base)
    tree = Path(workspace.path)
    (tree / "link").symlink_to(secret)
    (tree / "a.txt").write_bytes(b"one\r\n2\n")
    (tree / "ignored").write_text("scratch")
    (tree / "run.sh").write_text("x")
    (tree / "run.sh").chmod(0o4755)
    done = await scene.journals.snapshot(journal, journal.base, an_action(), workspace)
    assert scene.tree(done.tip) == {
        ".gitignore": ("100644", b"ignored\n"),
        "a.txt": ("100644", b"one\r\n2\n"),
        "link": ("120000", str(secret).encode()),
        "run.sh": ("100755", b"x"),
    }
    again = await scene.workspaces.create(REPO, f"{SWEEP}.y", done.tip)
    (Path(again.path) / "inner" / ".git").mkdir(parents=True)
    with pytest.raises(PolicyDenied, match="repository inside"):
        await scene.journals.snapshot(journal, done.tip, an_action(2), again)
    assert scene.refs() == {journal.ref: done.tip}


async def test_a_tree_counts_only_for_the_tip_and_host_it_was_made_of(scene: JournalScene) -> None:
    journal = await scene.begin({"a.txt": "one\n"})
    workspace = await scene.workspaces.create(REPO, f"{SWEEP}.x", journal.base)
    Path(workspace.path, "a.txt").write_text("by hand\n")
    first = await scene.change(journal, journal.base, {"b.txt": "b\n"})
    with pytest.raises(Bug, match="make one of the tip"):
        await scene.journals.snapshot(journal, first.tip, an_action(2), workspace)
    elsewhere: Workspace = workspace.model_copy(update={"host": "elsewhere"})
    with pytest.raises(HostLost):
        await scene.journals.snapshot(journal, journal.base, an_action(2), elsewhere)


async def test_what_an_action_says_of_itself_forges_no_record(scene: JournalScene) -> None:
    journal = await scene.begin()
    forging = (
        "mend\n\nSweeper-Tool: x\nSweeper-Number: 9\nSweeper-Action: w/r/9\nSweeper-Arguments: h\n\x1b[31m" + "y" * 400
    )
    action = an_action(summary=forging)
    done = await scene.journals.change(journal, journal.base, action, edits({"a.txt": "1\n"}))
    assert done.entry is not None
    assert done.entry.action.summary.startswith("mend Sweeper-Tool: x Sweeper-Number: 9 Sweeper-Action: w/r/9")
    assert "\x1b" not in done.entry.action.summary
    assert len(done.entry.action.summary) <= 200
    assert await scene.journals.entries(journal) == (done.entry,)
    for bad in ("", "two\nlines", " space", "k" * 501, "nul\0"):
        unkeyed = AgentAction(key=bad, tool="edit", arguments_hash="h")
        with pytest.raises(BadInput, match="key"):
            await scene.journals.change(journal, done.tip, unkeyed, edits({"a.txt": "2\n"}))


async def test_a_known_key_on_another_tip_or_by_another_tool_is_an_error(scene: JournalScene) -> None:
    journal = await scene.begin()
    first = await scene.change(journal, journal.base, {"a.txt": "1\n"})
    with pytest.raises(NonDeterminism, match="elsewhere"):
        await scene.change(journal, first.tip, {"a.txt": "1\n"})
    other = an_action().model_copy(update={"tool": "write"})
    with pytest.raises(NonDeterminism, match="new key"):
        await scene.journals.change(journal, journal.base, other, edits({"a.txt": "1\n"}))
    assert len(await scene.journals.entries(journal)) == 1


async def test_a_ref_that_holds_something_else_is_never_read_as_a_journal(scene: JournalScene) -> None:
    journal = await scene.begin()
    stranger = scene.origin.commit({"x": "x\n"}, parent=journal.base)
    await scene.have(stranger)
    git("update-ref", journal.ref, stranger, cwd=scene.mirror)
    with pytest.raises(Bug, match="no action"):
        await scene.journals.entries(journal)
    with pytest.raises(Bug, match="no action"):
        await scene.change(journal, journal.base, {"a.txt": "1\n"})


async def test_a_tip_whose_commit_was_lost_can_be_restored_and_costs_only_what_nobody_counted_on(
    scene: JournalScene,
) -> None:
    journal = await scene.begin()
    first = await scene.change(journal, journal.base, {"a.txt": "1\n"})
    second = await scene.change(journal, first.tip, {"a.txt": "2\n"}, n=2)
    bundle = await scene.journals.bundle(journal, second.tip)
    lost = scene.mirror.joinpath("objects", second.tip[:2], second.tip[2:])
    lost.unlink()
    with pytest.raises(NotFound, match="bundle"):
        await scene.journals.entries(journal)
    await scene.journals.restore(journal, second.tip, bundle)
    assert await scene.journals.entries(journal) == (first.entry, second.entry)
    lost.unlink()
    with pytest.raises(NotFound, match="bundle"):
        await scene.change(journal, second.tip, {"a.txt": "3\n"}, n=3)
    other = await scene.change(journal, first.tip, {"a.txt": "other\n"}, n=4)
    assert other.rewound
    await scene.journals.restore(journal, second.tip, bundle)
    assert await scene.journals.entries(journal) == (first.entry, second.entry)
