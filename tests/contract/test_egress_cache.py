"""The download cache behind a gate: what is fetched, what is kept, what is never served."""

import asyncio
import gzip
import hashlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.egress import HostPort, RegistryDownloads
from adapters.egress.cache import Cache, Locks
from adapters.egress.kinds import Wanted
from adapters.egress.registries import registries, trust
from adapters.egress.store import DownloadStore
from adapters.egress.upstream import Upstream
from sweeper.errors import BadInput
from tests.support.gates import HERE, get
from tests.support.registry import JSON_PAGE, LoopbackRegistry, Reply, wheel
from tests.support.sandboxes import until

pytestmark = pytest.mark.slow

TINY = wheel("tiny", "1.0", "WORD = 'tiny'\n")
NAME, CONTENT = next(iter(TINY.items()))
PAGE, FILE = "/pypi/simple/tiny/", f"/pypi/files/tiny/{NAME}"


@pytest.fixture
def registry() -> Iterator[LoopbackRegistry]:
    with LoopbackRegistry() as registry:
        registry.publish_python("tiny", TINY)
        yield registry


@pytest.fixture
def downloads(registry: LoopbackRegistry, tmp_path: Path) -> RegistryDownloads:
    return RegistryDownloads(
        tmp_path / "cache", {name: _address(registry, name) for name in ("pypi", "npm", "cargo", "go")}
    )


def _address(registry: LoopbackRegistry, kind: str) -> str:
    return registry.url + {"pypi": "/simple", "cargo": "/index"}.get(kind, "")


@pytest.mark.parametrize("as_json", [True, False], ids=["json", "html"])
async def test_a_page_leads_through_the_gate_and_its_file_is_the_registrys(
    registry: LoopbackRegistry, downloads: RegistryDownloads, as_json: bool
) -> None:
    registry.publish_python("tiny", TINY, as_json=as_json)
    async with downloads.fetching() as gate:
        status, page = await get(gate, PAGE)
        assert (status, registry.url in page.decode()) == (200, False)
        link = f"http://{HERE}{FILE}#sha256={hashlib.sha256(CONTENT).hexdigest()}"
        assert f'href="{link}"' in page.decode()
        assert await get(gate, FILE) == (200, CONTENT)


async def test_what_was_fetched_is_there_when_the_registry_is_not(
    registry: LoopbackRegistry, downloads: RegistryDownloads
) -> None:
    async with downloads.fetching() as gate:
        fetched = [await get(gate, path) for path in (PAGE, FILE)]
    registry.stop()
    async with downloads.cached() as gate:
        assert [await get(gate, path) for path in (PAGE, FILE)] == fetched
        assert gate.refused == ()


async def test_what_was_not_fetched_is_named_and_nobody_is_asked(
    registry: LoopbackRegistry, downloads: RegistryDownloads
) -> None:
    async with downloads.cached() as gate:
        assert (await get(gate, PAGE))[0] == 404
        assert (await get(gate, PAGE))[0] == 404
        assert gate.refused == (PAGE,)
    assert registry.asked == []


async def test_a_file_is_fetched_once_however_many_ask_at_the_same_time(
    registry: LoopbackRegistry, downloads: RegistryDownloads
) -> None:
    async with downloads.fetching() as one, downloads.fetching() as other:
        answers = await asyncio.gather(*(get(gate, FILE) for gate in (one, other) * 5))
    assert {status for status, _ in answers} == {200}
    assert registry.paths().count(f"/files/{NAME}") == 1


async def test_a_project_that_is_not_there_is_an_answer_and_no_refusal(
    registry: LoopbackRegistry, downloads: RegistryDownloads
) -> None:
    async with downloads.fetching() as gate:
        assert (await get(gate, "/pypi/simple/unknown/"))[0] == 404
        assert gate.refused == ()
    async with downloads.cached() as gate:
        assert (await get(gate, "/pypi/simple/unknown/"))[0] == 404
        assert gate.refused == ()


async def test_only_files_that_the_index_names_are_fetched(
    registry: LoopbackRegistry, downloads: RegistryDownloads
) -> None:
    registry.replies["/files/other.whl"] = Reply(b"unlisted")
    async with downloads.fetching() as gate:
        assert (await get(gate, "/pypi/files/tiny/other.whl"))[0] == 404
    assert "/files/other.whl" not in registry.paths()


async def test_a_file_that_is_not_what_the_index_says_is_refused_and_not_kept(
    registry: LoopbackRegistry, downloads: RegistryDownloads
) -> None:
    registry.replies[f"/files/{NAME}"] = Reply(CONTENT + b"and more")
    async with downloads.fetching() as gate:
        status, said = await get(gate, FILE)
        assert (status, b"not what the index says" in said, gate.refused) == (502, True, (FILE,))
    async with downloads.cached() as gate:
        assert (await get(gate, FILE))[0] == 404


async def test_a_page_that_unpacks_without_end_is_given_up(
    registry: LoopbackRegistry, downloads: RegistryDownloads, tmp_path: Path
) -> None:
    bomb = gzip.compress(bytes(65 << 20))
    registry.replies["/simple/tiny/"] = Reply(bomb, JSON_PAGE, headers={"Content-Encoding": "gzip"})
    async with downloads.fetching() as gate:
        status, said = await get(gate, PAGE)
    assert (status, b"more than 64 MiB" in said) == (502, True)
    assert _objects(tmp_path / "cache") == []


def _objects(cache: Path) -> list[Path]:
    return [path for path in (cache / "objects").rglob("*") if path.is_file()]


async def test_damaged_content_is_fetched_anew_and_never_served(
    registry: LoopbackRegistry, downloads: RegistryDownloads, tmp_path: Path
) -> None:
    async with downloads.fetching() as gate:
        await get(gate, FILE)
    (kept,) = [path for path in _objects(tmp_path / "cache") if path.read_bytes() == CONTENT]
    kept.write_bytes(b"x" * len(CONTENT))
    async with downloads.cached() as gate:
        assert (await get(gate, FILE))[0] == 404
        assert gate.refused == (FILE,)
    async with downloads.fetching() as gate:
        assert await get(gate, FILE) == (200, CONTENT)
    assert registry.paths().count(f"/files/{NAME}") == 2


@pytest.mark.parametrize("damage", [b"", b"{", b'{"key": "other", "url": "u"}'])
async def test_a_damaged_entry_counts_as_never_kept(
    registry: LoopbackRegistry, downloads: RegistryDownloads, tmp_path: Path, damage: bytes
) -> None:
    async with downloads.fetching() as gate:
        await get(gate, PAGE)
    for entry in (tmp_path / "cache" / "entries").rglob("*.json"):
        entry.write_bytes(damage)
    async with downloads.cached() as gate:
        assert (await get(gate, PAGE))[0] == 404
    async with downloads.fetching() as gate:
        assert (await get(gate, PAGE))[0] == 200


async def test_a_file_that_the_index_does_not_mean_any_more_is_not_served(
    registry: LoopbackRegistry, downloads: RegistryDownloads, tmp_path: Path
) -> None:
    async with downloads.fetching() as gate:
        await get(gate, FILE)
    for entry in (tmp_path / "cache" / "entries").rglob("*.json"):
        if "/simple/" in entry.read_text():
            entry.unlink()
    registry.publish_python("tiny", {NAME: b"another"})
    async with downloads.fetching() as gate:
        await get(gate, PAGE)
    async with downloads.cached() as gate:
        assert (await get(gate, FILE))[0] == 404
    async with downloads.fetching() as gate:
        assert await get(gate, FILE) == (200, b"another")


async def test_what_was_served_longest_ago_makes_room(
    registry: LoopbackRegistry, downloads: RegistryDownloads, tmp_path: Path
) -> None:
    registry.publish_python("other", wheel("other", "1.0", "WORD = 'other'\n"))
    async with downloads.fetching() as gate:
        for path in (PAGE, FILE, "/pypi/simple/other/"):
            await get(gate, path)
    for number, kept in enumerate(_objects(tmp_path / "cache")):
        os.utime(kept, (1000 + number, 1000 + number))
    async with downloads.cached() as gate:
        await get(gate, PAGE)
    size = len(registry.replies["/simple/tiny/"].body)
    DownloadStore(tmp_path / "cache").trim(size)
    async with downloads.cached() as gate:
        statuses = [(await get(gate, path))[0] for path in (PAGE, FILE, "/pypi/simple/other/")]
    assert statuses == [200, 404, 404]


async def test_a_cache_that_cannot_be_written_is_said(downloads: RegistryDownloads, tmp_path: Path) -> None:
    async with downloads.fetching() as gate:
        (tmp_path / "cache" / "objects").rmdir()
        status, said = await get(gate, PAGE)
        assert (status, b"make room" in said, gate.refused) == (502, True, (PAGE,))


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def test_an_old_page_is_asked_again_and_stands_in_when_nobody_answers(
    registry: LoopbackRegistry, tmp_path: Path
) -> None:
    clock = Clock()
    known = registries({"pypi": f"{registry.url}/simple"})
    upstream = Upstream(trust(known, ()))
    cache = Cache(DownloadStore(tmp_path / "cache"), upstream, Locks(), clock)
    page = Wanted(f"{registry.url}/simple/tiny/", render=lambda page, _: (page.content, ""), accept=("text/html",))

    async def asked_after(seconds: float) -> int:
        clock.now += seconds
        kept = await cache.get(page, may_fetch=True)
        kept.close()
        return len(registry.asked)

    assert [await asked_after(seconds) for seconds in (0, 10, 3600)] == [1, 1, 2]
    registry.stop()
    assert await asked_after(3600) == 2
    await upstream.close()


DIES = """
import asyncio, sys
from pathlib import Path
from adapters.egress import RegistryDownloads
from tests.support.gates import get
async def main(place, address, path):
    async with RegistryDownloads(Path(place), {"pypi": address}).fetching() as gate:
        await get(gate, path)
asyncio.run(main(*sys.argv[1:]))
"""


async def test_a_worker_killed_while_it_fetches_leaves_nothing_that_is_served(
    registry: LoopbackRegistry, downloads: RegistryDownloads, tmp_path: Path
) -> None:
    held = threading.Event()
    registry.replies[f"/files/{NAME}"] = Reply(CONTENT, held=held)
    cache = tmp_path / "cache"
    command = [sys.executable, "-c", DIES, str(cache), f"{registry.url}/simple", FILE]
    with subprocess.Popen(command, env={**os.environ, "TMPDIR": "/tmp"}) as worker:
        await until(lambda: f"/files/{NAME}" in registry.paths())
        await until(lambda: bool([path for path in _objects(cache) if path.name.startswith(".new-")]))
        worker.send_signal(signal.SIGKILL)
    held.set()
    async with downloads.cached() as gate:
        assert (await get(gate, FILE))[0] == 404
    assert [path for path in _objects(cache) if path.name.startswith(".new-")] == []
    registry.replies[f"/files/{NAME}"] = Reply(CONTENT)
    async with downloads.fetching() as gate:
        assert await get(gate, FILE) == (200, CONTENT)


async def test_credentials_go_to_their_own_origin_alone(registry: LoopbackRegistry, tmp_path: Path) -> None:
    with LoopbackRegistry(password="word") as private:
        private.publish_python("tiny", TINY)
        private.replies[f"/files/{NAME}"] = Reply(b"", status=302, headers={"Location": f"{registry.url}/files/{NAME}"})
        addresses = {"pypi": private.url.replace("//", "//ann:word@") + "/simple"}
        listed = [HostPort("127.0.0.1", registry.port)]
        async with RegistryDownloads(tmp_path / "other", addresses, listed).fetching() as gate:
            assert await get(gate, FILE) == (200, CONTENT)
        assert {asked.authorization for asked in private.asked} == {private.expected}
        assert {asked.authorization for asked in registry.asked} == {None}


async def test_neither_a_link_nor_a_redirect_leads_to_a_private_place(tmp_path: Path) -> None:
    with LoopbackRegistry() as registry, LoopbackRegistry() as inner:
        inner.replies["/secret.whl"] = Reply(b"secret")
        link = f'<a href="{inner.url}/secret.whl">secret.whl</a><a href="../../files/hop.whl">hop.whl</a>'
        registry.replies["/simple/tiny/"] = Reply(link.encode(), "text/html")
        registry.replies["/files/hop.whl"] = Reply(b"", status=302, headers={"Location": f"{inner.url}/secret.whl"})
        async with RegistryDownloads(tmp_path / "cache", {"pypi": f"{registry.url}/simple"}).fetching() as gate:
            for name in ("secret.whl", "hop.whl"):
                status, said = await get(gate, f"/pypi/files/tiny/{name}")
                assert (status, b"private address" in said) == (502, True)
        assert inner.asked == []


async def test_crates_are_found_through_the_index_of_a_sparse_registry(
    registry: LoopbackRegistry, downloads: RegistryDownloads
) -> None:
    registry.replies["/index/config.json"] = Reply(f'{{"dl": "{registry.url}/dl"}}'.encode(), "application/json")
    registry.replies["/index/ti/ny/tiny"] = Reply(b'{"name":"tiny"}', "text/plain")
    registry.replies["/dl/tiny/1.0.0/download"] = Reply(b"crate")
    async with downloads.fetching() as gate:
        status, config = await get(gate, "/cargo/index/config.json")
        assert (status, config) == (200, f'{{"dl": "http://{HERE}/cargo/crates"}}'.encode())
        assert await get(gate, "/cargo/index/ti/ny/tiny") == (200, b'{"name":"tiny"}')
        assert await get(gate, "/cargo/crates/tiny/1.0.0/download") == (200, b"crate")


async def test_go_modules_come_by_the_proxy_protocol(registry: LoopbackRegistry, downloads: RegistryDownloads) -> None:
    registry.replies["/example.org/!tiny/@v/list"] = Reply(b"v1.0.0\n", "text/plain")
    registry.replies["/example.org/!tiny/@v/v1.0.0.zip"] = Reply(b"zip")
    async with downloads.fetching() as gate:
        assert await get(gate, "/go/example.org/!tiny/@v/list") == (200, b"v1.0.0\n")
        assert await get(gate, "/go/example.org/!tiny/@v/v1.0.0.zip") == (200, b"zip")


async def test_a_scoped_npm_package_leads_through_the_gate(
    registry: LoopbackRegistry, downloads: RegistryDownloads
) -> None:
    page = f'{{"versions": {{"1.0.0": {{"dist": {{"tarball": "{registry.url}/@ann/tiny/-/tiny-1.0.0.tgz"}}}}}}}}'
    registry.replies["/@ann%2ftiny"] = Reply(page.encode(), "application/json")
    registry.replies["/@ann/tiny/-/tiny-1.0.0.tgz"] = Reply(b"tar")
    async with downloads.fetching() as gate:
        status, said = await get(gate, "/npm/@ann%2ftiny")
        assert (status, f"http://{HERE}/npm/@ann/tiny/-/tiny-1.0.0.tgz" in said.decode()) == (200, True)
        assert await get(gate, "/npm/@ann/tiny/-/tiny-1.0.0.tgz") == (200, b"tar")


async def test_a_registry_that_refuses_or_is_away_is_said_without_its_address(tmp_path: Path) -> None:
    with LoopbackRegistry(password="word") as private:
        downloads = RegistryDownloads(tmp_path / "cache", {"pypi": f"{private.url}/simple"})
        async with downloads.fetching() as gate:
            status, said = await get(gate, PAGE)
            assert (status, b"answered 401" in said, str(private.port) in said.decode()) == (502, True, False)
        private.stop()
        async with downloads.fetching() as gate:
            assert (await get(gate, PAGE))[0] == 502


def test_an_unknown_kind_of_registry_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="'gems'; the kinds are cargo, go, npm, pypi"):
        RegistryDownloads(tmp_path, {"gems": "https://host"})
