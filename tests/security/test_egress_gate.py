"""Hostile commands at a gate: what they send, where they want to go, what they must not learn. All bounded."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from adapters.egress import HostPort, RegistryDownloads
from adapters.egress.gate import PORT
from adapters.sandbox import Bubblewrap
from tests.support.gates import HERE, connect, get, say
from tests.support.registry import JSON_PAGE, LoopbackRegistry, Reply, wheel
from tests.support.sandboxes import Room, usable

pytestmark = pytest.mark.slow

PASSWORD = "canary-word-51c7"
PAGE = "/pypi/simple/tiny/"


@pytest.fixture
def registry() -> Iterator[LoopbackRegistry]:
    with LoopbackRegistry(password=PASSWORD) as registry:
        registry.publish_python("tiny", wheel("tiny", "1.0", "WORD = 'tiny'\n"))
        yield registry


@pytest.fixture
def downloads(registry: LoopbackRegistry, tmp_path: Path) -> RegistryDownloads:
    address = registry.url.replace("//", f"//ann:{PASSWORD}@") + "/simple"
    return RegistryDownloads(tmp_path / "cache", {"pypi": address, "npm": registry.url})


@asynccontextmanager
async def echo() -> AsyncIterator[int]:
    """A server on the host's loopback that says what it hears; its port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"heard " + await reader.read(100))
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


class Names:
    """A resolver whose answers change from one time to the next."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked += 1
        return [self.answers[min(self.asked, len(self.answers)) - 1]]


REQUESTS = {
    "a post": (b"POST /npm/-/audit HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 405),
    "a body": (b"GET /pypi/simple/tiny/ HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", 400),
    "a chunked body": (b"GET /pypi/simple/tiny/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "two lengths": (b"GET /pypi/simple/tiny/ HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n", 400),
    "another place": (b"GET http://169.254.169.254/latest HTTP/1.1\r\n\r\n", 404),
    "two slashes": (b"GET //169.254.169.254/pypi HTTP/1.1\r\n\r\n", 404),
    "upwards": (b"GET /pypi/simple/../../etc/passwd HTTP/1.1\r\n\r\n", 404),
    "upwards from a package": (b"GET /npm/tiny/../../admin/x.tgz HTTP/1.1\r\n\r\n", 404),
    "hidden upwards": (b"GET /pypi/simple/%2e%2e/%2e%2e/x HTTP/1.1\r\n\r\n", 404),
    "twice hidden": (b"GET /pypi/simple/%252e%252e/x HTTP/1.1\r\n\r\n", 404),
    "a query": (b"GET /pypi/simple/tiny/?next=x HTTP/1.1\r\n\r\n", 404),
    "a line in a path": (b"GET /pypi/simple/tiny%0d%0aHost:x/ HTTP/1.1\r\n\r\n", 404),
    "user data": (b"GET /npm/@evil%2f..%2f..%2fadmin HTTP/1.1\r\n\r\n", 404),
    "a zero byte": (b"GET /pypi/\0 HTTP/1.1\r\n\r\n", 405),
    "an unknown version": (b"GET /pypi/simple/tiny/ HTTP/2.0\r\n\r\n", 405),
    "a folded field": (b"GET /pypi/simple/tiny/ HTTP/1.1\r\nA: b\r\n c: d\r\n\r\n", 400),
    "a space before the colon": (b"GET /pypi/simple/tiny/ HTTP/1.1\r\nContent-Length : 5\r\n\r\n", 400),
    "two hosts": (b"GET /pypi/simple/tiny/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    "a bare line feed": (b"GET /pypi/simple/tiny/ HTTP/1.1\r\nA: b\nX: y\r\n\r\n", 400),
    "a giant field": (b"GET /pypi/simple/tiny/ HTTP/1.1\r\nA: " + b"x" * 40_000 + b"\r\n\r\n", 431),
    "no end": (b"GET /pypi/" + b"x" * 40_000, 431),
    "something else": (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", 400),
}


@pytest.mark.parametrize("name", REQUESTS)
async def test_a_malformed_or_evil_request_is_refused_and_nobody_is_asked(
    registry: LoopbackRegistry, downloads: RegistryDownloads, name: str
) -> None:
    request, status = REQUESTS[name]
    async with downloads.fetching() as gate:
        answer = await say(gate, request)
        assert (answer == b"" and status == 431) or int(answer.split()[1]) == status
        assert registry.asked == []
        assert (await get(gate, PAGE))[0] == 200


async def test_a_second_request_in_the_first_ones_shadow_is_never_read(downloads: RegistryDownloads) -> None:
    request = f"GET {PAGE} HTTP/1.1\r\nHost: {HERE}\r\n\r\n".encode()
    async with downloads.fetching() as gate:
        answer = await say(gate, request + request)
    assert answer.count(b"HTTP/1.1 200") == 1


async def test_a_host_that_is_not_ours_never_gets_into_a_page(downloads: RegistryDownloads) -> None:
    async with downloads.fetching() as gate:
        answer = await say(gate, f"GET {PAGE} HTTP/1.1\r\nHost: evil.example\r\n\r\n".encode())
    assert b"evil.example" not in answer


async def test_what_is_refused_is_listed_once_and_not_without_end(downloads: RegistryDownloads) -> None:
    async with downloads.cached() as gate:
        for number in range(30):
            await get(gate, f"/pypi/simple/package-{number}/")
        await connect(gate, "x" * 1000 + ":443")
        assert len(gate.refused) == 20
        assert gate.refused[:2] == ("/pypi/simple/package-0/", "/pypi/simple/package-1/")


async def test_connections_that_say_nothing_keep_nobody_else_out_for_ever(downloads: RegistryDownloads) -> None:
    async with downloads.fetching() as gate:
        path = str(Path(gate.directory, f"{PORT}.sock"))
        silent = [await asyncio.open_unix_connection(path) for _ in range(127)]
        assert (await get(gate, PAGE))[0] == 200
        directory = gate.directory
    for reader, writer in silent:
        assert await reader.read() == b""
        writer.close()
    assert not Path(directory).exists()


async def test_pages_that_nobody_takes_are_made_for_a_few_at_a_time_and_end_without_a_word(
    registry: LoopbackRegistry, downloads: RegistryDownloads
) -> None:
    files = [{"filename": f"big-{n}.tar.gz", "url": f"{n}", "hashes": {"sha256": "a" * 64}} for n in range(8_000)]
    registry.replies["/simple/big/"] = Reply(json.dumps({"name": "big", "files": files}).encode(), JSON_PAGE)
    complaints: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, said: complaints.append(said))
    async with downloads.fetching() as gate:
        path = str(Path(gate.directory, f"{PORT}.sock"))
        waiting = [await asyncio.open_unix_connection(path, limit=1024) for _ in range(20)]
        for _, writer in waiting:
            writer.write(f"GET /pypi/simple/big/ HTTP/1.1\r\nHost: {HERE}\r\n\r\n".encode())
        begun = [asyncio.ensure_future(reader.readexactly(12)) for reader, _ in waiting]
        for _ in range(12):
            while sum(one.done() for one in begun) < 8:
                await asyncio.wait([one for one in begun if not one.done()], return_when="FIRST_COMPLETED")
            assert sum(one.done() for one in begun) == 8
            first = next(n for n, one in enumerate(begun) if one.done())
            reader, writer = waiting.pop(first)
            begun.pop(first)
            while await reader.read(1 << 16):
                pass
            writer.close()
    for _, writer in waiting:
        writer.close()
    assert complaints == []


@pytest.mark.parametrize(
    "target", ["{address}", "localhost:{port}", "127.0.0.1:1", "169.254.169.254:80", "x", "x:y", ":1"]
)
async def test_connect_reaches_nothing_that_was_not_listed(downloads: RegistryDownloads, target: str) -> None:
    async with echo() as port, downloads.fetching() as gate:
        answer = await connect(gate, target.format(address=f"127.0.0.1:{port}", port=port), b"hello")
        assert answer.split()[1] in (b"403", b"400")
        assert gate.refused == (target.format(address=f"127.0.0.1:{port}", port=port),)


async def test_a_name_that_was_not_listed_is_not_even_resolved(tmp_path: Path) -> None:
    names = Names("1.1.1.1")
    async with RegistryDownloads(tmp_path / "cache", {}, [HostPort("models.example", 443)], names).fetching() as gate:
        assert b" 403 " in await connect(gate, "evil.models.example:443")
        assert b" 403 " in await connect(gate, "models.example:80")
    assert names.asked == 0


async def test_connect_reaches_exactly_what_was_listed(tmp_path: Path) -> None:
    async with echo() as port, echo() as other:
        downloads = RegistryDownloads(tmp_path / "cache", {}, [HostPort("127.0.0.1", port)])
        async with downloads.fetching() as gate:
            assert (await connect(gate, f"127.0.0.1:{port}", b"hello")).endswith(b"\r\n\r\nheard hello")
            assert b" 403 " in await connect(gate, f"127.0.0.1:{other}", b"hello")
            assert gate.env["HTTPS_PROXY"] == f"http://{HERE}"
        async with downloads.cached() as gate:
            assert b" 403 " in await connect(gate, f"127.0.0.1:{port}", b"hello")
            assert gate.refused == (f"127.0.0.1:{port}",)


PRIVATE = ["127.0.0.1", "10.0.0.8", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "::1", "fd00::1"]


@pytest.mark.parametrize("address", [*PRIVATE, "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "fe80::1%eth0"])
async def test_a_listed_name_that_leads_to_a_private_address_is_refused(tmp_path: Path, address: str) -> None:
    async with echo() as port:
        listed = [HostPort("models.example", port)]
        async with RegistryDownloads(tmp_path / "cache", {}, listed, Names(address)).fetching() as gate:
            answer = await connect(gate, f"models.example:{port}", b"hello")
            assert (b" 403 " in answer, b"heard" in answer) == (True, False)
            assert gate.refused == (f"models.example:{port}",)


async def test_a_name_is_resolved_once_and_the_address_that_was_judged_is_the_one_reached(tmp_path: Path) -> None:
    async with echo() as port:
        listed = [HostPort("models.example", port), HostPort("127.0.0.1", port)]
        names = Names("127.0.0.1", "10.0.0.8")
        async with RegistryDownloads(tmp_path / "cache", {}, listed, names).fetching() as gate:
            assert b"heard hello" in await connect(gate, f"models.example:{port}", b"hello")
        assert names.asked == 1


@pytest.fixture
async def room(tmp_path: Path) -> Room:
    return Room(await usable(Bubblewrap()), tmp_path)


async def test_no_credential_is_visible_inside(
    room: Room, registry: LoopbackRegistry, downloads: RegistryDownloads
) -> None:
    room.write({"fetch.py": f"import urllib.request\nprint(urllib.request.urlopen('http://{HERE}{PAGE}').read())\n"})
    look = "python3 fetch.py; env; cat /proc/*/environ /proc/*/cmdline; grep -r . /sweeper /tmp /etc 2>/dev/null; true"
    async with downloads.fetching() as gate:
        seen = await room.text(look, env=dict(gate.env), gate=gate.directory)
    assert "tiny-1.0-py3-none-any.whl" in seen
    assert {asked.authorization for asked in registry.asked} == {registry.expected}
    for hidden in (PASSWORD, (registry.expected or "").split()[1], registry.url):
        assert hidden not in seen


REACH = """
import json, os, socket, sys
def reached(place, family=socket.AF_INET):
    try:
        with socket.socket(family) as s:
            s.settimeout(2)
            s.connect(place)
            return True
    except OSError:
        return False
found = [line.split()[-1] for line in open("/proc/net/unix") if "/" in line]
print(json.dumps({
    "gate": reached(("127.0.0.1", %d)),
    "host": reached(("127.0.0.1", %d)),
    "metadata": reached(("169.254.169.254", 80)),
    "sockets": sorted(os.listdir("/sweeper/gate")),
    "hidden": any(reached(path, socket.AF_UNIX) for path in sys.argv[1:]),
}))
"""


async def test_nothing_is_reached_but_the_gate_itself(room: Room, downloads: RegistryDownloads, tmp_path: Path) -> None:
    async with echo() as port, downloads.fetching() as gate, downloads.fetching() as other:
        neighbour = str(Path(other.directory, f"{PORT}.sock"))
        result = await room.run("python3", "-c", REACH % (PORT, port), neighbour, gate=gate.directory)
    assert json.loads(result.output) == {
        "gate": True,
        "host": False,
        "metadata": False,
        "sockets": [f"{PORT}.sock"],
        "hidden": False,
    }


ASK = """
import os, socket, sys
host, port = os.environ["HTTPS_PROXY"].removeprefix("http://").split(":")
s = socket.create_connection((host, int(port)), 10)
s.sendall(f"CONNECT {sys.argv[1]} HTTP/1.1\\r\\n\\r\\n".encode())
said = s.recv(100)
if b" 200 " in said:
    s.sendall(b"hello")
print((said + b"".join(iter(lambda: s.recv(100), b""))).decode())
"""


async def test_a_command_inside_reaches_what_was_listed_and_nothing_beside_it(room: Room, tmp_path: Path) -> None:
    async with echo() as port, echo() as other:
        downloads = RegistryDownloads(tmp_path / "cache", {}, [HostPort("127.0.0.1", port)])
        async with downloads.fetching() as gate:
            through = {"env": dict(gate.env), "gate": gate.directory}
            listed = await room.run("python3", "-c", ASK, f"127.0.0.1:{port}", **through)
            beside = await room.run("python3", "-c", ASK, f"127.0.0.1:{other}", **through)
            assert b"heard hello" in listed.output
            assert (b" 403 " in beside.output, b"heard" in beside.output) == (True, False)
            assert gate.refused == (f"127.0.0.1:{other}",)


async def test_the_gates_directory_cannot_be_changed_from_inside(room: Room, downloads: RegistryDownloads) -> None:
    async with downloads.fetching() as gate:
        socket = f"/sweeper/gate/{PORT}.sock"
        printed = await room.text(
            f"touch /sweeper/gate/x; rm -f {socket}; mv {socket} /tmp/x; chmod 000 {socket} /sweeper/gate; "
            "grep ' /sweeper/gate ' /proc/self/mounts",
            gate=gate.directory,
        )
        assert printed.splitlines()[-1].split()[3].startswith("ro,")
        assert [path.name for path in Path(gate.directory).iterdir()] == [f"{PORT}.sock"]
        assert (await get(gate, PAGE))[0] == 200


async def test_the_cache_is_not_visible_inside(room: Room, downloads: RegistryDownloads, tmp_path: Path) -> None:
    async with downloads.fetching() as gate:
        await get(gate, PAGE)
        printed = await room.text(f"ls {tmp_path}/cache && echo seen; true", gate=gate.directory)
    assert (tmp_path / "cache" / "objects").is_dir()
    assert "seen" not in printed


async def test_a_home_that_one_tree_poisoned_is_not_another_trees(
    room: Room, downloads: RegistryDownloads, tmp_path: Path
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for home in (one, other):
        home.mkdir()
    poison = 'mkdir -p "$HOME/.cache/pip" && echo evil >"$HOME/.cache/pip/x" && echo evil >"$HOME/.npmrc"'
    async with downloads.fetching() as gate:
        assert (await room.sh(poison, home=str(one), gate=gate.directory)).exit_code == 0
        assert await room.text('ls -A "$HOME"', home=str(one)) == ".cache\n.npmrc\n"
        assert await room.text('ls -A "$HOME"', home=str(other), gate=gate.directory) == ""
        assert await room.text('ls -A "$HOME"') == ""
