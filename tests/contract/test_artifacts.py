"""`Artifacts`: on disk and in memory, the same."""

import asyncio
import hashlib
import stat
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from adapters.artifacts import FileArtifacts
from sweeper.errors import BadInput, Bug, NotFound
from sweeper.model import ArtifactRef

TEXT = b"a log\n" * 1000


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FileArtifacts]:
    if request.param == "file":
        yield FileArtifacts(f"file://{tmp_path}/artefacts")
        return
    memory = fsspec.filesystem("memory")
    memory.makedirs("/artefacts")
    yield FileArtifacts("memory://artefacts")
    memory.rm("/artefacts", recursive=True)


async def test_gives_back_what_was_put_under_its_digest(store: FileArtifacts) -> None:
    ref = await store.put(TEXT)
    assert ref == ArtifactRef(digest=f"sha256:{hashlib.sha256(TEXT).hexdigest()}", size=len(TEXT))
    assert await store.get(ref) == TEXT


async def test_the_same_bytes_are_one_object(store: FileArtifacts) -> None:
    refs = await asyncio.gather(*(store.put(TEXT) for _ in range(5)))
    assert len(set(refs)) == 1
    assert await store.get(refs[0]) == TEXT


async def test_nothing_at_all_can_be_put(store: FileArtifacts) -> None:
    assert await store.get(await store.put(b"")) == b""


async def test_what_is_not_there_is_not_found(store: FileArtifacts) -> None:
    await store.put(TEXT)
    with pytest.raises(NotFound, match="not in the store"):
        await store.get(ArtifactRef(digest=f"sha256:{'0' * 64}", size=1))


@pytest.mark.parametrize("digest", ["", "sha256:xyz", "sha256:../../etc/passwd", "md5:" + "0" * 32])
async def test_a_name_that_is_no_digest_is_refused(store: FileArtifacts, digest: str) -> None:
    with pytest.raises(BadInput):
        await store.get(ArtifactRef(digest=digest, size=1))


async def test_changed_bytes_are_noticed(tmp_path: Path) -> None:
    store = FileArtifacts(str(tmp_path))
    ref = await store.put(TEXT)
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    file.write_bytes(b"something else")
    with pytest.raises(Bug, match="does not have that digest"):
        await store.get(ref)


async def test_only_the_owner_can_read_it_on_disk_and_no_half_file_is_left(tmp_path: Path) -> None:
    root = tmp_path / "deep" / "artefacts"
    await FileArtifacts(f"file://{root}").put(TEXT)
    found = [root, *root.rglob("*")]
    assert {stat.S_IMODE(path.stat().st_mode) for path in found if path.is_dir()} == {0o700}
    assert [stat.S_IMODE(path.stat().st_mode) for path in found if path.is_file()] == [0o600]


async def test_a_store_of_an_unknown_kind_is_refused_in_a_sentence() -> None:
    with pytest.raises(BadInput, match="give a file:// URL"):
        FileArtifacts("nosuchthing://x")
