"""Worktrees on real git: exact, clean inside, rebuilt from any left-over, deaf to what was planted."""

import asyncio
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sweeper.errors import BadInput, NotFound, PolicyDenied, Transient
from sweeper.model import CommitMeta, Workspace
from tests.contract.test_worktrees_port import META, REF, REPO
from tests.support.git_origin import GitOrigin, git
from tests.support.recording import RecordingStore
from worktrees.host import host_id
from worktrees.store import Owner

IS_ROOT = os.geteuid() == 0
NOBODY = Owner(uid=65534, gid=65534)


@pytest.fixture
def origin(tmp_path: Path) -> GitOrigin:
    return GitOrigin(tmp_path)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def store(state: Path) -> RecordingStore:
    return RecordingStore(state, "here", NOBODY if IS_ROOT else None)


async def fetched(store: RecordingStore, origin: GitOrigin, name: str = "sweep-1-1") -> Workspace:
    commit = origin.commit({"a.txt": "one\n", "dir/b.txt": "two\n"})
    await store.fetch(REPO, [commit], origin.access)
    return await store.create(REPO, name, commit)


def status(workspace: Workspace) -> str:
    return git("status", "--porcelain", "--untracked-files=all", cwd=Path(workspace.path))


def mirror(state: Path) -> Path:
    return state / "mirrors" / f"{REPO}.git"


async def test_git_inside_the_tree_sees_one_clean_commit(store: RecordingStore, origin: GitOrigin) -> None:
    first = origin.commit({"a.txt": "one\n"})
    origin.tag("v0.9", first)
    second = origin.commit({"tool.sh": "#!/bin/sh\n", "sub/c": "c"}, parent=first)
    origin.tag("v1.0", second, message="release")
    origin.tag("light", second)
    await store.fetch(REPO, [second], origin.access)
    workspace = await store.create(REPO, "sweep-1-1", second)
    tree = Path(workspace.path)
    assert status(workspace) == ""
    assert git("rev-parse", "HEAD", cwd=tree) == second
    assert git("rev-list", "--count", "HEAD", cwd=tree) == "1"
    assert git("describe", "--tags", "--long", cwd=tree).startswith("v1.0-0-g")
    assert git("tag", cwd=tree).split() == ["light", "v1.0"]
    assert git("fsck", "--full", "--strict", cwd=tree) == ""
    assert git("remote", cwd=tree) == ""
    assert not (tree / ".git" / "hooks").exists()
    assert not (tree / ".git" / "objects" / "info" / "alternates").exists()
    (tree / "a.txt").write_text("two\n")
    assert status(workspace) == " M a.txt"


async def test_a_root_commit_needs_no_shallow_boundary(store: RecordingStore, origin: GitOrigin) -> None:
    workspace = await fetched(store, origin)
    assert not Path(workspace.path, ".git", "shallow").exists()
    assert git("log", "--format=%s", cwd=Path(workspace.path)) == "change"


async def test_bytes_are_those_of_the_blob_whatever_gitattributes_say(store: RecordingStore, origin: GitOrigin) -> None:
    files = {"crlf.txt": b"a\r\nb\r\n", "lf.bat": b"a\nb\n", "big.bin": b"version https://git-lfs.github.com/spec/v1\n"}
    for path, data in files.items():
        (origin.clone / path).write_bytes(data)
    git("add", ".", cwd=origin.clone)
    attributes = "*.txt text eol=lf\n*.bat text eol=crlf\n*.bin filter=lfs -text\n$Id$ ident\n"
    (origin.clone / ".gitattributes").write_text(attributes)
    git("add", ".gitattributes", cwd=origin.clone)
    git("commit", "-q", "-m", "x", cwd=origin.clone)
    git("push", "-q", str(origin.path), "HEAD:refs/heads/main", cwd=origin.clone)
    commit = git("rev-parse", "HEAD", cwd=origin.clone)
    await store.fetch(REPO, [commit], origin.access)
    workspace = await store.create(REPO, "sweep-1-1", commit)
    assert {path: Path(workspace.path, path).read_bytes() for path in files} == files
    assert status(workspace) == ""
    assert await store.snapshot(workspace, META, REF) is None


@pytest.mark.skipif(not IS_ROOT, reason="only root gives files away")
async def test_a_root_worker_gives_the_tree_to_the_sandbox_user(store: RecordingStore, origin: GitOrigin) -> None:
    workspace = await fetched(store, origin)
    tree = Path(workspace.path)
    owners = {(path.lstat().st_uid, path.lstat().st_gid) for path in [tree, *tree.rglob("*")]}
    assert owners == {(NOBODY.uid, NOBODY.gid)}
    assert stat.S_IMODE(tree.parent.stat().st_mode) == 0o711


async def test_left_overs_of_every_kind_are_destroyed_first(
    store: RecordingStore, origin: GitOrigin, state: Path
) -> None:
    workspace = await fetched(store, origin)
    tree, admin = Path(workspace.path), mirror(state) / "worktrees" / workspace.name
    (admin / "sweeper-ready").unlink()
    (admin / "locked").write_text("initializing")
    (admin / "index.lock").touch()
    (tree / "a.txt").unlink()
    (mirror(state) / "packed-refs.lock").touch()
    (mirror(state) / "refs/sweeper/pins" / f"{workspace.commit}.lock").touch()
    with pytest.raises(NotFound, match="create it again"):
        await store.snapshot(workspace, META, REF)
    again = await store.create(REPO, workspace.name, workspace.commit)
    assert status(again) == ""
    for half in ("tree", "admin"):
        target = tree if half == "tree" else admin
        subprocess.run(["rm", "-rf", str(target)], check=True)
        again = await store.create(REPO, workspace.name, workspace.commit)
        assert status(again) == "", half


async def test_a_half_made_worktree_of_another_sweep_hinders_nobody(
    store: RecordingStore, origin: GitOrigin, state: Path
) -> None:
    workspace = await fetched(store, origin)
    half = mirror(state) / "worktrees" / "sweep-9-1"
    half.mkdir()
    (half / "HEAD").write_text("0" * 40 + "\n")
    (half / "commondir").write_text("../..\n")
    (half / "gitdir").write_text(str(state / "trees" / str(REPO) / "sweep-9-1" / ".git\n"))
    (half / "locked").write_text("initializing")
    newer = origin.commit({"n": "n"}, parent=workspace.commit)
    await store.fetch(REPO, [newer], origin.access)
    assert status(await store.create(REPO, "sweep-2-1", newer)) == ""


KILLED = """
import asyncio, sys, git
from pathlib import Path
from worktrees.store import WorktreeStore
root, commit = Path(sys.argv[1]), sys.argv[2]
print("go", flush=True)
asyncio.run(WorktreeStore(root, "here").create(7, "sweep-1-1", commit))
"""


async def test_a_create_killed_at_any_point_is_simply_done_again(
    store: RecordingStore, origin: GitOrigin, state: Path
) -> None:
    commit = origin.commit({f"d{n % 7}/f{n}": "x" * n for n in range(300)})
    await store.fetch(REPO, [commit], origin.access)
    for milliseconds in (1, 15, 40, 70, 110):
        worker = subprocess.Popen([sys.executable, "-c", KILLED, str(state), commit], stdout=subprocess.PIPE)
        assert worker.stdout is not None
        assert worker.stdout.readline() == b"go\n"
        await asyncio.sleep(milliseconds / 1000)  # where it is killed is the point; any place must do
        worker.send_signal(signal.SIGKILL)
        worker.communicate()
        workspace = await store.create(REPO, "sweep-1-1", commit)
        assert status(workspace) == "", milliseconds
        assert await store.snapshot(workspace, META, REF) is None, milliseconds


async def test_eight_creates_at_once_share_a_mirror(store: RecordingStore, origin: GitOrigin) -> None:
    commit = (await fetched(store, origin)).commit
    newer = origin.commit({"n": "n"}, parent=commit)
    names = [f"sweep-{n}-1" for n in range(2, 10)]
    made = await asyncio.gather(
        *(store.create(REPO, name, commit) for name in names), store.fetch(REPO, [newer], origin.access)
    )
    workspaces = [workspace for workspace in made if workspace is not None]
    assert [workspace.name for workspace in workspaces] == names
    assert {status(workspace) for workspace in workspaces} == {""}
    await asyncio.gather(*(store.discard(REPO, name) for name in names))
    assert not any(Path(workspace.path).exists() for workspace in workspaces)


async def test_what_is_planted_in_the_mirror_does_not_run(
    store: RecordingStore, origin: GitOrigin, state: Path, tmp_path: Path
) -> None:
    workspace = await fetched(store, origin)
    fired = tmp_path / "fired"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\necho $0 >> {fired}\n")
    script.chmod(0o755)
    hooks = mirror(state) / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "reference-transaction", "pre-push", "post-index-change"):
        (hooks / name).symlink_to(script)
    with (mirror(state) / "config").open("a") as config:
        config.write(f"[core]\nfsmonitor = {script}\nsshCommand = {script}\n")
        config.write(f'[filter "evil"]\nsmudge = {script}\nclean = {script}\n[diff "evil"]\ncommand = {script}\n')
        config.write(f"[credential]\nhelper = {script}\n[diff]\nexternal = {script}\n")
    evil = origin.commit({".gitattributes": "* filter=evil diff=evil\n", "a.txt": "2\n"}, parent=workspace.commit)
    await store.fetch(REPO, [evil], origin.access)
    workspace = await store.create(REPO, "sweep-1-1", evil)
    Path(workspace.path, "a.txt").write_text("3\n")
    patch = await store.snapshot(workspace, META, REF)
    assert patch is not None
    assert b"+3" in await store.diff(REPO, patch.parent, patch.commit)
    await store.push(REPO, "sweeper/1-1", patch.commit, None, origin.access, "k")
    assert not fired.exists()


async def test_the_git_directory_an_agent_rewrote_is_never_read(
    store: RecordingStore, origin: GitOrigin, tmp_path: Path
) -> None:
    workspace = await fetched(store, origin)
    tree, fired = Path(workspace.path), tmp_path / "fired"
    evil = tmp_path / "evil"
    git("init", "-q", str(evil), cwd=tmp_path)
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {fired}\n")
    script.chmod(0o755)
    git("config", "core.fsmonitor", str(script), cwd=evil)
    subprocess.run(["rm", "-rf", str(tree / ".git")], check=True)
    (tree / ".git").write_text(f"gitdir: {evil / '.git'}\n")
    (tree / "a.txt").write_text("fixed\n")
    patch = await store.snapshot(workspace, META, REF)
    assert patch is not None
    assert patch.files == ("a.txt",)
    (tree / ".git").unlink()
    (tree / ".git").symlink_to(evil / ".git")
    assert await store.snapshot(workspace, META, REF) == patch
    await store.create(REPO, workspace.name, workspace.commit)
    await store.discard(REPO, workspace.name)
    assert (evil / ".git" / "config").exists()
    assert not fired.exists()


async def test_removal_copes_with_closed_and_very_deep_directories(
    store: RecordingStore, origin: GitOrigin, tmp_path: Path
) -> None:
    workspace = await fetched(store, origin)
    tree, precious = Path(workspace.path), tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("keep me")
    (tree / "closed" / "inner").mkdir(parents=True)
    (tree / "closed" / "inner" / "file").touch()
    (tree / "link").symlink_to(precious)
    os.mkfifo(tree / "pipe")
    here = os.open(tree, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    (tree / "closed" / "inner").chmod(0)
    (tree / "closed").chmod(0)
    with pytest.raises(PolicyDenied):
        await store.snapshot(workspace, META, REF)
    await store.discard(REPO, workspace.name)
    assert not tree.exists()
    assert (precious / "file").read_text() == "keep me"


async def test_a_trash_of_a_killed_removal_is_emptied_later(
    store: RecordingStore, origin: GitOrigin, state: Path
) -> None:
    workspace = await fetched(store, origin)
    trash = state / "trash" / f"{REPO}.sweep-1-1"
    Path(workspace.path).parent.joinpath("x").mkdir()
    (trash / "0" / "deep").mkdir(parents=True)
    (trash / "1").write_text("file")
    await store.discard(REPO, "sweep-1-1")
    assert not trash.exists()
    assert not Path(workspace.path).exists()


async def test_discard_where_nothing_ever_was_is_quiet(store: RecordingStore) -> None:
    await store.discard(REPO, "sweep-404-1")


async def test_a_short_or_symbolic_commit_is_refused(store: RecordingStore, origin: GitOrigin) -> None:
    workspace = await fetched(store, origin)
    for bad in ("HEAD", workspace.commit[:12], "--upload-pack=x", workspace.commit.upper(), ""):
        with pytest.raises(BadInput, match="full commit id"):
            await store.create(REPO, "sweep-1-1", bad)
        with pytest.raises(BadInput, match="full commit id"):
            await store.fetch(REPO, [bad], origin.access)


async def test_the_author_date_and_message_come_from_the_caller_alone(
    store: RecordingStore, origin: GitOrigin, state: Path
) -> None:
    workspace = await fetched(store, origin)
    Path(workspace.path, "a.txt").write_text("fixed\n")
    patch = await store.snapshot(workspace, META, REF)
    assert patch is not None
    shown = git("cat-file", "commit", patch.commit, cwd=mirror(state))
    who = f"{META.name} <{META.email}> {int(META.date.timestamp())} +0000"
    assert f"author {who}\ncommitter {who}\n\nFix it" in shown
    with pytest.raises(BadInput, match="author"):
        await store.snapshot(workspace, CommitMeta(**{**META.model_dump(), "name": "a\nb"}), REF)


def test_a_host_keeps_its_id(tmp_path: Path) -> None:
    first = host_id(tmp_path)
    assert host_id(tmp_path) == first
    assert len(first) == 12
    assert host_id(tmp_path / "other") != first
    (tmp_path / "host-id").write_text("")
    with pytest.raises(BadInput, match="host-id"):
        host_id(tmp_path)


async def test_a_state_directory_that_cannot_be_used_is_told(origin: GitOrigin, tmp_path: Path) -> None:
    blocked = tmp_path / "state"
    blocked.write_text("a file where the state directory should be")
    with pytest.raises(Transient, match="state directory cannot be used"):
        await RecordingStore(blocked, "here").fetch(REPO, [origin.commit({"a": "a"})], origin.access)
