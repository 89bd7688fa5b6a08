"""Snapshots of what a hostile agent left behind, and the exactness of what is kept of an honest one."""

import os
import socket
import stat
from pathlib import Path

import pytest

from sweeper.errors import PolicyDenied
from sweeper.model import Patch, Workspace
from tests.contract.test_worktrees_port import META, REF, REPO
from tests.support.git_origin import GitOrigin, git
from tests.support.recording import RecordingStore, journal_at
from worktrees.hostile import open_directory
from worktrees.walk import TreeLimits

CANARY = "canary-9f2c-never-in-the-object-store"


class Scene:
    """One store, one origin, one workspace."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.origin = GitOrigin(root)
        self.store = RecordingStore(root / "state", "here")
        self.mirror = root / "state" / "mirrors" / f"{REPO}.git"

    def limit(self, limits: TreeLimits) -> None:
        self.store = RecordingStore(self.root / "state", "here", limits=limits)

    async def workspace(self, commit: str, name: str = "sweep-1-1") -> Workspace:
        await self.store.fetch(REPO, [commit], self.origin.access)
        return await self.store.create(REPO, name, commit)

    async def snap(self, workspace: Workspace, ref: str = REF) -> Patch:
        patch = await self.store.snapshot(workspace, META, ref)
        assert patch is not None
        return patch

    def tree(self, patch: Patch) -> dict[str, str]:
        lines = git("ls-tree", "-r", patch.commit, cwd=self.mirror).splitlines()
        return {path: facts.split()[0] for facts, path in (line.split("\t", 1) for line in lines)}

    def blob(self, patch: Patch, path: str) -> str:
        return git("cat-file", "blob", f"{patch.commit}:{path}", cwd=self.mirror)

    def all_bytes(self) -> bytes:
        """The content of every object in the mirror, reachable or not."""
        listing = git("cat-file", "--batch-all-objects", "--unordered", "--batch", cwd=self.mirror)
        return listing.encode("utf-8", "surrogateescape")


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


async def test_a_planted_symlink_is_stored_as_its_text_and_its_target_is_not_read(scene: Scene) -> None:
    secret = scene.root / "secret"
    secret.mkdir()
    (secret / "key").write_text(CANARY)
    workspace = await scene.workspace(scene.origin.commit({"a.txt": "one\n", "d/b.txt": "two\n"}))
    tree = Path(workspace.path)
    (tree / "new").symlink_to(secret / "key")
    (tree / "a.txt").unlink()
    (tree / "a.txt").symlink_to(secret / "key")
    (tree / "d" / "b.txt").unlink()
    (tree / "d").rmdir()
    (tree / "d").symlink_to(secret)
    (tree / "proc").symlink_to("/proc/self/environ")
    patch = await scene.snap(workspace)
    assert scene.tree(patch) == {"a.txt": "120000", "d": "120000", "new": "120000", "proc": "120000"}
    assert scene.blob(patch, "d") == str(secret)
    assert str(secret).encode() in scene.all_bytes()
    assert CANARY.encode() not in scene.all_bytes()


async def test_special_files_and_nested_repositories_are_refused_by_name(scene: Scene) -> None:
    workspace = await scene.workspace(scene.origin.commit({"d/a.txt": "one\n"}))
    tree = Path(workspace.path)

    async def refused(path: str, what: str) -> None:
        with pytest.raises(PolicyDenied, match=f"'d/{path}' is {what}"):
            await scene.store.snapshot(workspace, META, REF)

    os.mkfifo(tree / "d" / "pipe")
    await refused("pipe", "a FIFO")
    (tree / "d" / "pipe").unlink()
    with open_directory(tree / "d") as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"/proc/self/fd/{folder}/sock")  # the address of a unix socket has to be short
    await refused("sock", "a socket")
    (tree / "d" / "sock").unlink()
    for name in (".git", ".GIT", ".git ", "git~1", ".g\u200cit"):
        (tree / "d" / name).mkdir()
        await refused(ascii(name)[1:-1].replace("\\", "\\\\"), "a git repository")
        (tree / "d" / name).rmdir()
    (tree / "d" / ".git").write_text("gitdir: /somewhere\n")
    await refused(r"\.git", "a git repository")
    assert await scene.store.journals.entries(journal_at(workspace, REF)) == ()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
async def test_a_device_is_refused(scene: Scene) -> None:
    workspace = await scene.workspace(scene.origin.commit({"a": "a"}))
    os.mknod(Path(workspace.path, "zero"), 0o666 | stat.S_IFCHR, os.makedev(1, 5))
    with pytest.raises(PolicyDenied, match="'zero' is a device"):
        await scene.store.snapshot(workspace, META, REF)


async def test_a_tracked_file_turned_into_a_fifo_is_refused_and_nothing_hangs(scene: Scene) -> None:
    workspace = await scene.workspace(scene.origin.commit({"a.txt": "", "b.txt": "b"}))
    Path(workspace.path, "a.txt").unlink()
    os.mkfifo(Path(workspace.path, "a.txt"))
    with pytest.raises(PolicyDenied, match=r"'a\.txt' is a FIFO"):
        await scene.store.snapshot(workspace, META, REF)


async def test_modes_are_reduced_to_the_x_bit_and_closed_directories_are_read(scene: Scene) -> None:
    workspace = await scene.workspace(scene.origin.commit({"a.sh": "x", "closed/b.txt": "two\n"}))
    tree = Path(workspace.path)
    (tree / "a.sh").chmod(0o6755)
    (tree / "closed" / "b.txt").write_text("changed\n")
    (tree / "closed" / "b.txt").chmod(0)
    (tree / "closed").chmod(0)
    patch = await scene.snap(workspace)
    assert scene.tree(patch) == {"a.sh": "100755", "closed/b.txt": "100644"}
    assert scene.blob(patch, "closed/b.txt") == "changed"


async def test_a_file_above_the_cap_is_refused_unless_it_was_there_before(
    scene: Scene,
) -> None:
    scene.limit(TreeLimits(file_bytes=1000, total_bytes=1500))
    workspace = await scene.workspace(scene.origin.commit({"big": "x" * 5000, "a": "a"}))
    tree = Path(workspace.path)
    (tree / "a").write_text("b")
    patch = await scene.snap(workspace)
    assert patch.files == ("a",)
    (tree / "huge").write_text("y" * 1001)
    with pytest.raises(PolicyDenied, match="'huge' is too large"):
        await scene.store.snapshot(workspace, META, REF)
    (tree / "huge").write_text("y" * 999)
    (tree / "more").write_text("z" * 999)
    with pytest.raises(PolicyDenied, match="'more' is too large"):
        await scene.store.snapshot(workspace, META, REF)
    assert b"y" * 999 not in scene.all_bytes()


async def test_a_sparse_giant_is_refused_without_being_read(scene: Scene) -> None:
    workspace = await scene.workspace(scene.origin.commit({"a": "a"}))
    with Path(workspace.path, "a").open("wb") as stream:
        stream.truncate(1 << 42)
    with pytest.raises(PolicyDenied, match="'a' is too large"):
        await scene.store.snapshot(workspace, META, REF)


async def test_a_tree_that_is_too_deep_or_too_full_is_refused(scene: Scene) -> None:
    workspace = await scene.workspace(scene.origin.commit({"a": "a"}))
    deep = Path(workspace.path, *["d"] * (TreeLimits().depth + 1))
    deep.mkdir(parents=True)
    with pytest.raises(PolicyDenied, match="nested deeper"):
        await scene.store.snapshot(workspace, META, REF)
    scene.limit(TreeLimits(entries=20))
    with pytest.raises(PolicyDenied, match="more than 20 entries"):
        await scene.store.snapshot(workspace, META, REF)


async def test_a_one_line_edit_of_a_crlf_file_changes_one_line(scene: Scene) -> None:
    origin = scene.origin
    base = origin.commit({"dos.txt": b"one\r\ntwo\r\nthree\r\n", ".gitattributes": "* text=auto\n"})
    workspace = await scene.workspace(base)
    Path(workspace.path, "dos.txt").write_bytes(b"one\r\nTWO\r\nthree\r\n")
    patch = await scene.snap(workspace)
    assert (patch.files, patch.lines_changed) == (("dos.txt",), 2)


async def test_ignore_rules_of_the_base_decide_and_tracked_files_are_always_taken(scene: Scene) -> None:
    files = {
        ".gitignore": "*.log\n!keep.log\n/build/\nout/\n!out/kept\n",
        "pkg/.gitignore": "!special.log\n*.tmp\n",
        "out/tracked.txt": "1\n",
        "seen.log": "tracked although ignored\n",
    }
    workspace = await scene.workspace(scene.origin.commit(files))
    tree = Path(workspace.path)
    for folder in ("build", "pkg/deep", "node_modules/x", "__pycache__", "src/__pycache__", ".hypothesis"):
        (tree / folder).mkdir(parents=True)
        (tree / folder / "file.txt").write_text("f")
    for path in (
        "x.log",
        "keep.log",
        "pkg/special.log",
        "pkg/deep/a.tmp",
        "pkg/deep/o.log",
        "out/kept",
        "n.py",
        "m.pyc",
    ):
        (tree / path).write_text("new")
    (tree / "seen.log").write_text("changed\n")
    (tree / "out" / "tracked.txt").write_text("2\n")
    (tree / "new-rules").mkdir()
    (tree / "new-rules" / ".gitignore").write_text("*\n")
    (tree / "new-rules" / "hidden.py").write_text("not hidden by rules of the agent's own")
    patch = await scene.snap(workspace)
    assert patch.files == (
        "keep.log",
        "n.py",
        "new-rules/.gitignore",
        "new-rules/hidden.py",
        "out/tracked.txt",
        "pkg/deep/file.txt",
        "pkg/special.log",
        "seen.log",
    )


async def test_ignoring_agrees_with_git_itself(scene: Scene) -> None:
    rules = "# c\n\n*.o\n/top\nmid/dle\n**/any\nlast/**\n!last/no\ndir/\n\\#hash\ntrail  \n[ab]x\n!\nq?z\n"
    base = scene.origin.commit({".gitignore": rules, "sub/.gitignore": "!*.o\n/anchored\n"})
    workspace = await scene.workspace(base)
    tree = Path(workspace.path)
    paths = "a.o top x/top mid/dle x/mid/dle x/any last/no dir x/dir/f #hash trail ax bx cx qqz qz sub/a.o"
    for path in [*paths.split(), "sub/anchored", "sub/x/anchored", "sub/x/b.o"]:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text("x")
    listed = git("ls-files", "--others", "--exclude-per-directory=.gitignore", cwd=tree).splitlines()
    patch = await scene.snap(workspace)
    assert list(patch.files) == sorted(listed)


async def test_submodules_stay_as_the_base_has_them(scene: Scene) -> None:
    first = scene.origin.commit({"a": "a"})
    git("checkout", "-q", "--detach", first, cwd=scene.origin.clone)
    git("update-index", "--add", "--cacheinfo", f"160000,{first},vendor/lib", cwd=scene.origin.clone)
    git("commit", "-q", "-m", "submodule", cwd=scene.origin.clone)
    git("push", "-q", str(scene.origin.path), "HEAD:refs/heads/sub", cwd=scene.origin.clone)
    workspace = await scene.workspace(git("rev-parse", "HEAD", cwd=scene.origin.clone))
    tree = Path(workspace.path)
    assert await scene.store.snapshot(workspace, META, REF) is None
    (tree / "vendor" / "lib" / ".git").mkdir(parents=True)
    (tree / "vendor" / "lib" / "code.py").write_text("x")
    (tree / "a").write_text("b")
    patch = await scene.snap(workspace)
    assert patch.files == ("a",)
    assert scene.tree(patch)["vendor/lib"] == "160000"


async def test_files_and_directories_may_trade_places(scene: Scene) -> None:
    workspace = await scene.workspace(scene.origin.commit({"file": "f\n", "dir/inner": "i\n"}))
    tree = Path(workspace.path)
    (tree / "file").unlink()
    (tree / "file").mkdir()
    (tree / "file" / "now").write_text("dir\n")
    (tree / "dir" / "inner").unlink()
    (tree / "dir").rmdir()
    (tree / "dir").write_text("file\n")
    patch = await scene.snap(workspace)
    assert scene.tree(patch) == {"dir": "100644", "file/now": "100644"}
    again = await scene.store.create(REPO, "sweep-1-1.verify", patch.commit)
    assert Path(again.path, "dir").read_text() == "file\n"


async def test_odd_names_survive(scene: Scene) -> None:
    workspace = await scene.workspace(scene.origin.commit({"a": "a"}))
    names = [b"line\nbreak", b"tab\there", b'quo"te', b"\xff\xfe", "ünï".encode(), b"-rf", b" lead", b"c:\\x"]
    for name in names:
        Path(workspace.path, os.fsdecode(name)).write_text("x")
    patch = await scene.snap(workspace)
    listed = git("ls-tree", "-r", "-z", "--name-only", patch.commit, cwd=scene.mirror)
    assert {os.fsencode(name) for name in listed.split("\0") if name} == {b"a", *names}
    assert Patch.model_validate_json(patch.model_dump_json()) == patch


async def test_binary_changes_have_no_lines_and_their_own_patch_ids(scene: Scene) -> None:
    base = scene.origin.commit({"blob": bytes(range(256)), "text": "a\n"})
    ids = set()
    for n in (1, 2):
        workspace = await scene.workspace(base, f"sweep-{n}-1")
        Path(workspace.path, "blob").write_bytes(bytes(range(256)) + bytes([0, n]))
        Path(workspace.path, "text").write_text("b\n")
        patch = await scene.snap(workspace, f"refs/sweeper/sweep-{n}-1/1")
        assert (patch.files_changed, patch.lines_changed, patch.bytes_changed) == (2, 2, 260)
        ids.add(patch.patch_id)
        diff = await scene.store.diff(REPO, patch.parent, patch.commit)
        git("checkout", "-q", "--detach", base, cwd=scene.origin.clone)
        git("apply", "--index", cwd=scene.origin.clone, stdin=diff)
        assert git("write-tree", cwd=scene.origin.clone) == patch.tree
        git("reset", "-q", "--hard", cwd=scene.origin.clone)
    assert len(ids) == 2


async def test_the_same_change_on_another_base_keeps_its_patch_id(scene: Scene) -> None:
    first = scene.origin.commit({"a": "1\n2\n3\n", "b": "b"})
    second = scene.origin.commit({"b": "c"}, parent=first)
    ids = set()
    for n, base in enumerate((first, second)):
        workspace = await scene.workspace(base, f"sweep-{n}-1")
        Path(workspace.path, "a").write_text("1\n2\nthree\n")
        ids.add((await scene.snap(workspace, f"refs/sweeper/sweep-{n}-1/1")).patch_id)
    assert len(ids) == 1


async def test_the_same_lines_at_another_depth_are_another_patch(scene: Scene) -> None:
    base = scene.origin.commit({"a.py": "def f(x):\n    if x:\n        x += 1\n"})
    ids = set()
    for n, blanks in enumerate(("    ", "        ", "\t")):
        workspace = await scene.workspace(base, f"sweep-{n}-1")
        Path(workspace.path, "a.py").write_text(f"def f(x):\n    if x:\n        x += 1\n{blanks}return x\n")
        ids.add((await scene.snap(workspace, f"refs/sweeper/sweep-{n}-1/1")).patch_id)
    assert len(ids) == 3


async def test_a_change_of_many_files_is_listed_in_part_and_counted_in_full(scene: Scene) -> None:
    workspace = await scene.workspace(scene.origin.commit({"a": "a"}))
    for n in range(130):
        Path(workspace.path, f"f{n:03}").write_text(f"{n}\n")
    patch = await scene.snap(workspace)
    assert (len(patch.files), patch.files_changed, patch.lines_changed) == (50, 130, 130)
