"""A listener binds, tells where, refuses taken places, and stops cleanly."""

import socket
import stat
from pathlib import Path

import httpx
import pytest
from starlette.responses import PlainTextResponse

from adapters.web.listener import Listener, bind, bind_tcp, bind_unix, url_of
from sweeper.errors import BadInput

pytestmark = pytest.mark.slow
APP = PlainTextResponse("here")


def test_a_taken_port_is_refused_with_address_and_setting() -> None:
    with bind_tcp("127.0.0.1", 0, "SWEEPER_LISTEN") as first:
        port = first.getsockname()[1]
        with pytest.raises(BadInput, match=rf"127\.0\.0\.1:{port} is taken .*SWEEPER_ADMIN_LISTEN"):
            bind_tcp("127.0.0.1", port, "SWEEPER_ADMIN_LISTEN")


@pytest.mark.parametrize("host", ["203.0.113.7", "host.invalid"])
def test_an_address_that_is_not_ours_is_refused(host: str) -> None:
    with pytest.raises(BadInput, match="SWEEPER_LISTEN"):
        bind_tcp(host, 0, "SWEEPER_LISTEN")


def test_no_host_does_not_mean_every_address() -> None:
    with pytest.raises(BadInput, match="SWEEPER_ADMIN_LISTEN"):
        bind_tcp("", 0, "SWEEPER_ADMIN_LISTEN")


def test_an_address_from_the_settings_is_bound_as_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "admin.sock"
    with bind("", 0, path, "SWEEPER_ADMIN_LISTEN") as local:
        assert url_of(local) == f"unix:{path}"
    with bind("127.0.0.1", 0, None, "SWEEPER_LISTEN") as tcp:
        assert url_of(tcp).startswith("http://127.0.0.1:")


async def test_port_zero_tells_the_port_it_has_and_frees_it_after() -> None:
    bound = bind_tcp("127.0.0.1", 0, "SWEEPER_LISTEN")
    async with Listener(APP, bound) as listener, httpx.AsyncClient() as web:
        assert (await web.get(listener.url)).text == "here"
    port = httpx.URL(listener.url).port
    assert port
    bind_tcp("127.0.0.1", port, "SWEEPER_LISTEN").close()


async def test_stopping_twice_or_before_the_start_is_fine() -> None:
    unused = Listener(APP, bind_tcp("127.0.0.1", 0, "SWEEPER_LISTEN"))
    await unused.stop()
    used = Listener(APP, bind_tcp("127.0.0.1", 0, "SWEEPER_LISTEN"))
    await used.start()
    await used.stop()
    await used.stop()
    await used.wait()


async def test_a_unix_socket_is_for_its_owner_and_goes_with_the_listener(tmp_path: Path) -> None:
    path = tmp_path / "admin.sock"
    async with Listener(APP, bind_unix(path, "SWEEPER_ADMIN_LISTEN")) as listener:
        assert listener.url == f"unix:{path}"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        async with httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(uds=str(path))) as web:
            assert (await web.get("http://localhost/")).text == "here"
        with pytest.raises(BadInput, match="SWEEPER_ADMIN_LISTEN"):
            bind_unix(path, "SWEEPER_ADMIN_LISTEN")
    assert not path.exists()


def test_a_socket_left_by_the_dead_is_replaced_and_a_file_is_not(tmp_path: Path) -> None:
    left, file = tmp_path / "left.sock", tmp_path / "file"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(left))
    bind_unix(left, "SWEEPER_ADMIN_LISTEN").close()
    file.write_text("mine")
    with pytest.raises(BadInput):
        bind_unix(file, "SWEEPER_ADMIN_LISTEN")
    assert file.read_text() == "mine"
