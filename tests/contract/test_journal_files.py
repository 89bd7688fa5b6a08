"""Files changed on trees alone: exactly the given bytes, nothing that no commit may hold, no more than is touched."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sweeper.errors import BadInput, PolicyDenied
from sweeper.model.journal import FileEdit, JournalRef, RecordState
from tests.support.git_origin import GitOrigin, git
from tests.support.journal_scene import JournalScene, an_action, edits
from worktrees.walk import TreeLimits

pytestmark = pytest.mark.slow

MIXED = b"one\r\ntwo\nthree\r\nfour"
REFUSED = (
    ("", "no path"),
    ("/etc/passwd", "no path"),
    ("../a.txt", "no path"),
    ("d/../../a.txt", "no path"),
    ("./a.txt", "no path"),
    ("d//b.txt", "no path"),
    ("d/", "no path"),
    (".git/config", "git's own"),
    ("d/.GIT/hooks/post-checkout", "git's own"),
    ("d/.git", "git's own"),
    ("git~1/config", "git's own"),
    (".git ./config", "git's own"),
    (".g\u200cit/config", "git's own"),
    ("d\\.git\\config", "git's own"),
    ("a\0b", "no text"),
    ("bad\udc80", "no text"),
    ("bad\N{REPLACEMENT CHARACTER}", "no text"),
    ("n" * 256, "too long"),
    ("/".join(["d" * 200] * 25), "too long"),
    ("d/" * 120 + "deep", "nested deeper"),
)


@pytest.fixture
def scene(tmp_path: Path) -> JournalScene:
    return JournalScene(tmp_path)


async def test_one_line_of_a_file_with_mixed_ends_is_one_line_whatever_its_attributes_say(scene: JournalScene) -> None:
    attributes = "* text=auto eol=lf\n*.txt filter=evil ident\n"
    journal = await scene.begin({"a.txt": MIXED, ".gitattributes": attributes})
    done = await scene.change(journal, journal.base, {"a.txt": MIXED.replace(b"two", b"2 $Id$")})
    assert scene.tree(done.tip)["a.txt"] == ("100644", b"one\r\n2 $Id$\nthree\r\nfour")
    assert git("diff-tree", "-r", "--numstat", "--no-commit-id", done.tip, cwd=scene.mirror) == "1\t1\ta.txt"
    assert await scene.journals.read(journal, journal.base, "a.txt", 1000) == MIXED


async def test_mode_bits_stay_and_can_be_asked_for(scene: JournalScene) -> None:
    scene.origin.commit({"run.sh": "old\n", "a.txt": "one\n"})
    Path(scene.origin.clone, "run.sh").chmod(0o755)
    journal = await scene.have(scene.origin.commit_as_it_lies())
    wanted = [
        FileEdit(path="run.sh", content=b"new\n"),
        FileEdit(path="a.txt", content=b"one\n", executable=True),
        FileEdit(path="b.txt", content=b"b"),
        FileEdit(path="c.sh", content=b"c", executable=True),
    ]
    done = await scene.journals.change(journal, journal.base, an_action(), wanted)
    assert {path: mode for path, (mode, _) in scene.tree(done.tip).items()} == {
        "run.sh": "100755",
        "a.txt": "100755",
        "b.txt": "100644",
        "c.sh": "100755",
    }


async def test_folders_come_and_go_with_their_files(scene: JournalScene) -> None:
    journal = await scene.begin({"a/b/c.txt": "c", "keep": "k", "name": "file"})
    first = await scene.change(journal, journal.base, {"a/b/c.txt": None, "x/y/z.txt": "z"})
    assert scene.tree(first.tip).keys() == {"keep", "name", "x/y/z.txt"}
    second = await scene.change(journal, first.tip, {"name": None, "name/inner": "now a folder"}, n=2)
    assert scene.tree(second.tip).keys() == {"keep", "name/inner", "x/y/z.txt"}
    third = await scene.change(journal, second.tip, {"keep": None, "name/inner": None, "x/y/z.txt": None}, n=3)
    assert scene.tree(third.tip) == {}


async def test_no_symlink_is_followed(scene: JournalScene) -> None:
    scene.origin.commit({"d/b.txt": "two\n"})
    Path(scene.origin.clone, "link").symlink_to("d/b.txt")
    Path(scene.origin.clone, "folder").symlink_to("d")
    Path(scene.origin.clone, "out").symlink_to("/etc/passwd")
    journal = await scene.have(scene.origin.commit_as_it_lies())
    for path in ("link", "out", "folder", "folder/b.txt"):
        assert await scene.journals.read(journal, journal.base, path, 10_000) is None
    for path in ("folder/b.txt", "folder/new.txt", "out/x"):
        with pytest.raises(PolicyDenied, match="is a symlink"):
            await scene.change(journal, journal.base, {path: "x"})
    with pytest.raises(PolicyDenied, match="'link' is a symlink"):
        await scene.change(journal, journal.base, {"link": "x"})
    done = await scene.change(journal, journal.base, {"link": None, "out": None})
    assert scene.tree(done.tip) == {"d/b.txt": ("100644", b"two\n"), "folder": ("120000", b"d")}


async def test_what_is_no_file_is_not_written_to(scene: JournalScene) -> None:
    base = scene.origin.commit({"a.txt": "a", "d/b.txt": "b"})
    git("update-index", "--add", "--cacheinfo", f"160000,{base},sub", cwd=scene.origin.clone)
    git("commit", "-q", "-m", "a submodule", cwd=scene.origin.clone)
    git("push", "-q", "-f", str(scene.origin.path), "HEAD:refs/heads/main", cwd=scene.origin.clone)
    journal = await scene.have(git("rev-parse", "HEAD", cwd=scene.origin.clone))
    for path, what in {"d": "a folder", "sub": "a submodule", "sub/x": "a submodule", "a.txt/x": "a file"}.items():
        with pytest.raises(PolicyDenied, match=what):
            await scene.change(journal, journal.base, {path: "x"})
    for path in ("d", "sub", "sub/x"):
        with pytest.raises(PolicyDenied):
            await scene.change(journal, journal.base, {path: None})
    with pytest.raises(PolicyDenied, match="is a file"):
        await scene.change(journal, journal.base, {"new": "x", "new/inner": "x"})
    found = await scene.journals.files(journal, journal.base, "sub", 9)
    assert [(file.mode, file.size) for file in found] == [("160000", None)]
    assert scene.refs() == {}


@pytest.mark.parametrize(("path", "why"), REFUSED, ids=[ascii(path)[:20] for path, _ in REFUSED])
async def test_a_path_that_no_commit_may_hold_is_refused(scene: JournalScene, path: str, why: str) -> None:
    journal = await scene.begin()
    before = scene.objects()
    bad = FileEdit.model_construct(path=path, content=b"")
    with pytest.raises(PolicyDenied, match=why):
        await scene.journals.change(journal, journal.base, an_action(), [*edits({"good": "x"}), bad])
    assert scene.refs() == {}
    assert scene.objects() == before
    assert await scene.journals.read(journal, journal.base, path, 100) is None


@pytest.mark.parametrize("name", ['q"uote', "back\\slash", "new\nline", ":(glob)**", "-dash", "*", "trail ", "é", "'"])
async def test_strange_names_are_names(scene: JournalScene, name: str) -> None:
    journal = await scene.begin({"a.txt": "one\n"})
    first = await scene.change(journal, journal.base, {name: "here\n", f"d/{name}": "here\n"})
    assert scene.tree(first.tip).keys() == {"a.txt", name, f"d/{name}"}
    assert await scene.journals.read(journal, first.tip, f"d/{name}", 10) == b"here\n"
    assert [file.path for file in await scene.journals.files(journal, first.tip, name, 9)] == [name]
    second = await scene.change(journal, first.tip, {name: None}, n=2)
    assert scene.tree(second.tip).keys() == {"a.txt", f"d/{name}"}


async def test_limits_are_of_one_file_and_of_all(tmp_path: Path) -> None:
    scene = JournalScene(tmp_path, limits=TreeLimits(file_bytes=10, total_bytes=15))
    journal = await scene.begin({"big": "b" * 100})
    with pytest.raises(PolicyDenied, match=r"'a' is too large .*11 bytes"):
        await scene.change(journal, journal.base, {"a": "x" * 11})
    with pytest.raises(PolicyDenied, match="all together 15"):
        await scene.change(journal, journal.base, {"a": "x" * 10, "b": "x" * 6})
    with pytest.raises(BadInput, match="once"):
        await scene.journals.change(journal, journal.base, an_action(), [*edits({"a": "1"}), *edits({"a": "2"})])
    done = await scene.change(journal, journal.base, {"a": "x" * 10, "b": "x" * 5, "big": None})
    assert scene.tree(done.tip).keys() == {"a", "b"}


async def test_only_what_is_on_the_way_to_an_edit_is_written(scene: JournalScene) -> None:
    journal = await scene.begin({f"d{n}/e{m}/f.txt": f"{n} {m}" for n in range(4) for m in range(4)})
    before = scene.objects()
    done = await scene.change(journal, journal.base, {"d1/e1/f.txt": "changed"})
    assert scene.refs() == {journal.ref: done.tip}
    assert len(scene.objects() - before) == 1 + 3 + 1  # the blob, the trees above it, the commit
    assert list(scene.mirror.rglob("*index*")) == []


NAMES = st.sampled_from(["a", "b", "c"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
CONTENTS = st.one_of(st.none(), st.binary(max_size=12), st.sampled_from([b"x\r\n", b"x\n"]))
ACTIONS = st.lists(st.dictionaries(PATHS, CONTENTS, min_size=1, max_size=3), min_size=1, max_size=5)


@given(actions=ACTIONS)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_edits_leave_the_files_that_plain_files_would_be(
    actions: list[dict[str, bytes | None]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    scene = JournalScene(tmp_path_factory.mktemp("edits"))
    journal = await scene.begin({"a": "file\n", "b/c": "inner\n", "z": "stays\n"})
    plain, tip, recorded = {path: content for path, (_, content) in scene.tree(journal.base).items()}, journal.base, 0
    for n, action in enumerate(actions):
        wanted = _with(plain, action)
        if wanted is None:
            with pytest.raises(PolicyDenied):
                await scene.change(journal, tip, action, n)
            continue
        done = await scene.change(journal, tip, action, n)
        assert (done.state is RecordState.NOTHING_CHANGED) == (wanted == plain)
        recorded += wanted != plain
        plain, tip = wanted, done.tip
        assert {path: content for path, (_, content) in scene.tree(tip).items()} == plain
    assert len(await scene.journals.entries(journal)) == recorded


def _with(plain: dict[str, bytes], action: dict[str, bytes | None]) -> dict[str, bytes] | None:
    """The files afterwards; None where a file would have to be a folder, too, or is named that is a folder."""
    written = {path: content for path, content in action.items() if content is not None}
    after = {path: content for path, content in plain.items() if path not in action} | written
    for path in action:
        above = [path[:end] for end, char in enumerate(path) if char == "/"]
        if any(folder in after for folder in above) or any(other.startswith(f"{path}/") for other in plain):
            return None
    return after


async def test_two_hosts_make_the_same_commits(tmp_path: Path) -> None:
    origin = GitOrigin(tmp_path)
    base = origin.commit({"a.txt": "one\n"})
    tips = set()
    for name in ("one", "two"):
        scene = JournalScene(tmp_path / name, origin)
        journal: JournalRef = await scene.have(base)
        first = await scene.change(journal, base, {"a.txt": "1\n"})
        tips.add((await scene.change(journal, first.tip, {"b.txt": "2\n"}, n=2)).tip)
    assert len(tips) == 1
