"""Journals on the way to another host: whole, or a clear error and nothing left."""

import zlib
from datetime import UTC, datetime
from hashlib import sha1
from pathlib import Path

import pytest

from sweeper.errors import Bug, NotFound
from sweeper.model import CommitMeta
from sweeper.model.journal import JournalRef, Recorded, RecordState
from tests.support.git_origin import git
from tests.support.journal_scene import REPO, JournalScene

pytestmark = pytest.mark.slow

META = CommitMeta(message="Fix it\n", name="CI Sweeper", email="bot@example.org", date=datetime(2024, 1, 2, tzinfo=UTC))
FILES = {"a.txt": "one\n", "d/b.txt": "".join(f"line {n}\n" for n in range(500))}


class Move:
    """A journal of three actions on one host, and another host that has nothing but the base."""

    def __init__(self, root: Path) -> None:
        self.here = JournalScene(root)
        self.there = JournalScene(root / "there", self.here.origin)

    async def begin(self) -> tuple[JournalRef, list[Recorded]]:
        journal = await self.here.begin(FILES)
        done: list[Recorded] = []
        for n in range(1, 4):
            tip = done[-1].tip if done else journal.base
            text = FILES["d/b.txt"].replace(f"line {n}\n", "mended\n")
            done.append(await self.here.change(journal, tip, {"d/b.txt": text, f"new{n}": f"{n}\n"}, n))
        await self.there.have(journal.base)
        return journal, done


@pytest.fixture
def move(tmp_path: Path) -> Move:
    return Move(tmp_path)


async def test_any_tip_travels_with_all_before_it_and_the_base_stays(move: Move) -> None:
    journal, done = await move.begin()
    bundle = await move.here.journals.bundle(journal, done[1].tip)
    assert len(bundle) < 2_000  # the base has more than that
    await move.there.journals.restore(journal, done[1].tip, bundle)
    assert move.there.refs() == {journal.ref: done[1].tip}
    assert move.there.tree(done[1].tip) == move.here.tree(done[1].tip)
    assert await move.there.journals.entries(journal) == tuple(one.entry for one in done[:2])
    git("fsck", "--strict", "--connectivity-only", cwd=move.there.mirror)


async def test_a_person_can_read_it_with_git(move: Move, tmp_path: Path) -> None:
    journal, done = await move.begin()
    (tmp_path / "kept.bundle").write_bytes(await move.here.journals.bundle(journal, done[2].tip))
    git("bundle", "verify", str(tmp_path / "kept.bundle"), cwd=move.there.mirror)
    git("fetch", "-q", str(tmp_path / "kept.bundle"), f"{journal.ref}:refs/heads/look", cwd=move.there.mirror)
    assert git("log", "--format=%s", "refs/heads/look", cwd=move.there.mirror).startswith("mend it\nmend it\nmend it\n")


async def test_a_journal_that_is_further_on_stays_and_one_that_is_behind_is_moved(move: Move) -> None:
    journal, done = await move.begin()
    bundles = [await move.here.journals.bundle(journal, one.tip) for one in done]
    await move.there.journals.restore(journal, done[0].tip, bundles[0])
    await move.there.journals.restore(journal, done[2].tip, bundles[2])
    await move.there.journals.restore(journal, done[1].tip, bundles[1])
    assert move.there.refs() == {journal.ref: done[2].tip}
    other = await move.there.change(journal, done[1].tip, {"a.txt": "other\n"}, n=9)
    assert other.rewound
    await move.there.journals.restore(journal, done[2].tip, bundles[2])
    assert move.there.refs() == {journal.ref: done[2].tip}


async def test_a_patch_travels_with_the_journal_it_came_from(move: Move) -> None:
    journal, done = await move.begin()
    patch = await move.here.journals.patch(journal, done[2].tip, journal.base, META)
    assert patch is not None
    bundle = await move.here.journals.bundle(journal, patch.commit)
    nameless = JournalRef(repository_id=REPO, sweep="", attempt=0, base=journal.base)
    await move.there.journals.restore(nameless, patch.commit, bundle)
    assert move.there.refs() == {journal.ref: done[2].tip, f"{journal.ref}.patch": patch.commit}
    assert await move.there.workspaces.describe(REPO, journal.base, patch.commit) == patch
    further = await move.there.change(journal, done[0].tip, {"a.txt": "other\n"}, n=9)
    await move.there.journals.restore(journal, patch.commit, bundle)
    assert move.there.refs()[journal.ref] == further.tip


async def test_a_patch_on_earlier_patches_reaches_back_to_the_first_parent(move: Move) -> None:
    journal, done = await move.begin()
    first = await move.here.journals.patch(journal, done[2].tip, journal.base, META)
    assert first is not None
    second = journal.model_copy(update={"attempt": 2, "base": first.commit})
    tip = (await move.here.change(second, first.commit, {"a.txt": "more\n"})).tip
    patch = await move.here.journals.patch(second, tip, journal.base, META)
    assert patch is not None
    assert patch.files == ("a.txt", "d/b.txt", "new1", "new2", "new3")
    whole = second.model_copy(update={"base": journal.base})
    await move.there.journals.restore(whole, patch.commit, await move.here.journals.bundle(whole, patch.commit))
    assert move.there.tree(patch.commit) == move.here.tree(tip)
    assert await move.there.journals.entries(second) == await move.here.journals.entries(second)


async def test_a_host_without_the_base_has_to_fetch_it_first(move: Move, tmp_path: Path) -> None:
    journal, done = await move.begin()
    bundle = await move.here.journals.bundle(journal, done[0].tip)
    empty = JournalScene(tmp_path / "empty", move.here.origin)
    assert await empty.journals.entries(journal) == ()
    assert not await empty.journals.has(journal, journal.base)
    with pytest.raises(NotFound, match="fetch"):
        await empty.journals.restore(journal, done[0].tip, bundle)


async def refused(move: Move, journal: JournalRef, commit: str, bundle: bytes) -> None:
    """With an error of one sentence; the mirror is as it was."""
    before = move.there.objects(), move.there.refs(), sorted(path.name for path in move.there.mirror.iterdir())
    with pytest.raises(Bug, match=r"begin the attempt again\.$"):
        await move.there.journals.restore(journal, commit, bundle)
    after = move.there.objects(), move.there.refs(), sorted(path.name for path in move.there.mirror.iterdir())
    assert after == before
    assert not await move.there.journals.has(journal, commit)


async def test_a_damaged_bundle_leaves_nothing(move: Move) -> None:
    journal, done = await move.begin()
    bundle = await move.here.journals.bundle(journal, done[2].tip)
    half = len(bundle) // 2
    flipped = bundle[:half] + bytes([bundle[half] ^ 0xFF]) + bundle[half + 1 :]
    for damaged in (b"", b"no bundle", bundle[:40], bundle[:half], bundle[:-1], flipped, bundle[:-20] + b"\0" * 20):
        await refused(move, journal, done[2].tip, damaged)
    await move.there.journals.restore(journal, done[2].tip, bundle)


async def test_a_bundle_of_something_else_leaves_nothing(move: Move) -> None:
    journal, done = await move.begin()
    bundle = await move.here.journals.bundle(journal, done[1].tip)
    await refused(move, journal, done[2].tip, bundle)
    await refused(move, journal.model_copy(update={"attempt": 2}), done[1].tip, bundle)
    await refused(move, journal, done[1].tip, bundle.replace(journal.ref.encode(), b"refs/heads/main"))
    await refused(move, journal, done[1].tip, bundle.replace(journal.base.encode(), b"1" * 40, 1))
    other = await move.there.have(move.here.origin.commit({"other": "on it\n"}, parent=journal.base))
    await refused(move, other, done[1].tip, bundle)


def forged(journal: JournalRef, *objects: tuple[int, bytes]) -> tuple[str, bytes]:
    """A bundle with these objects, (git's number of the type, content), the last of which is the tip."""
    pack = b"PACK" + (2).to_bytes(4, "big") + len(objects).to_bytes(4, "big")
    for kind, content in objects:
        assert len(content) < 1 << 11
        pack += bytes([0x80 | kind << 4 | len(content) & 0xF, len(content) >> 4]) + zlib.compress(content)
    tip = named(b"commit", objects[-1][1])
    head = f"# v2 git bundle\n-{journal.base} \n{tip} {journal.ref}\n\n"
    return tip, head.encode() + pack + sha1(pack).digest()


def named(kind: bytes, content: bytes) -> str:
    return sha1(kind + b" %d\0" % len(content) + content).hexdigest()


def entry(mode: str, name: str, of: str) -> bytes:
    return f"{mode} {name}\0".encode() + bytes.fromhex(of)


def commit(journal: JournalRef, tree: bytes, message: str) -> bytes:
    who = "A <a@example.org> 1700000001 +0000"
    head = f"tree {named(b'tree', tree)}\nparent {journal.base}\nauthor {who}\ncommitter {who}\n\n"
    return head.encode() + message.encode()


RECORD = "mend\n\nSweeper-Tool: edit\nSweeper-Number: 1\nSweeper-Action: w/r/1\nSweeper-Arguments: h\n"


async def test_what_git_or_we_would_never_have_written_is_not_taken_in(move: Move) -> None:
    journal, _ = await move.begin()
    blob = b"[core]\n"
    good = entry("100644", "config", named(b"blob", blob))
    evil = entry("40000", ".git", named(b"tree", good))
    lacking = entry("100644", "a", "1" * 40)
    await refused(move, journal, *forged(journal, (3, blob), (2, good), (2, evil), (1, commit(journal, evil, RECORD))))
    await refused(move, journal, *forged(journal, (2, lacking), (1, commit(journal, lacking, RECORD))))
    await refused(move, journal, *forged(journal, (3, blob), (2, good), (1, commit(journal, good, "no record\n"))))
    skipping = RECORD.replace("Number: 1", "Number: 2")
    await refused(move, journal, *forged(journal, (3, blob), (2, good), (1, commit(journal, good, skipping))))
    tip, fine = forged(journal, (3, blob), (2, good), (1, commit(journal, good, RECORD)))
    await move.there.journals.restore(journal, tip, fine)
    assert [one.action.key for one in await move.there.journals.entries(journal)] == ["w/r/1"]


async def test_a_lost_host_costs_nothing_but_the_action_under_way(move: Move) -> None:
    journal, done = await move.begin()
    bundle = await move.here.journals.bundle(journal, done[1].tip)  # of the third the other host was never told
    await move.there.journals.restore(journal, done[1].tip, bundle)
    again = await move.there.change(
        journal, done[1].tip, {"d/b.txt": FILES["d/b.txt"].replace("line 3\n", "mended\n"), "new3": "3\n"}, 3
    )
    assert (again.state, again.tip) == (RecordState.CREATED, done[2].tip)
