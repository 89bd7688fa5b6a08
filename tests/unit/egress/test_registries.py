"""The table of registries, what their clients are told, and which addresses anyone may reach."""

import pytest

from adapters.egress.addresses import HostPort, is_public
from adapters.egress.kinds import Page, Wanted
from adapters.egress.npm import Npm
from adapters.egress.pypi import ProjectFile, Pypi, project_files
from adapters.egress.registries import KINDS, registries, trust
from adapters.egress.tunnel import place_of
from adapters.egress.wire import Refused
from sweeper.errors import BadInput


def test_without_addresses_each_kind_has_its_well_known_registry() -> None:
    assert {registry.kind.name: registry.base for registry in registries({})} == {
        kind.name: kind.public for kind in KINDS
    }


def test_an_address_is_kept_without_its_credentials() -> None:
    (pypi, npm, *_) = registries({"pypi": "https://ann:w%40rd@host/simple/", "npm": "https://:token@npm.example"})
    assert (pypi.base, pypi.credential) == ("https://host/simple", "Basic YW5uOndAcmQ=")
    assert (npm.base, npm.credential) == ("https://npm.example", "Bearer token")


def test_credentials_belong_to_scheme_host_and_port() -> None:
    known = registries({"pypi": "https://ann:word@host/simple"})
    (origin,) = trust(known, ()).credentials
    assert (origin.scheme, origin.place) == ("https", HostPort("host", 443))
    assert "word" not in repr(trust(known, ()))


def test_the_well_known_hosts_of_files_are_known_only_with_their_registry() -> None:
    files = HostPort("files.pythonhosted.org", 443)
    assert files in trust(registries({}), ()).known
    assert files not in trust(registries({"pypi": "https://host/simple"}), ()).known


@pytest.mark.parametrize("address", ["ftp://ann:word@host", "word/simple", "https://", "https://ann:word@[::1"])
def test_an_address_that_is_none_is_refused_without_showing_it(address: str) -> None:
    with pytest.raises(BadInput) as error:
        registries({"pypi": address})
    assert "word" not in str(error.value)


@pytest.mark.parametrize("address", ["1.1.1.1", "8.8.8.8", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"])
def test_public_addresses_are_public(address: str) -> None:
    assert is_public(address)


PRIVATE = "127.0.0.1 10.0.0.1 172.16.0.1 192.168.0.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 240.0.0.1"
PRIVATE_6 = ":: ::1 fe80::1 fd00:ec2::254 ff02::1 ::ffff:10.0.0.1 64:ff9b::a00:1 2002:a00:1::"

INNER = "::7f00:1 ::ffff:0:10.0.0.1 64:ff9b:1::a00:1 fec0::1 5f00::1 3fff::1 192.0.0.192 168.63.129.16"


@pytest.mark.parametrize("address", [*PRIVATE.split(), *PRIVATE_6.split(), *INNER.split()])
def test_all_other_addresses_are_not(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    ("target", "place"), [("Host.example:443", HostPort("host.example", 443)), ("[::1]:80", HostPort("::1", 80))]
)
def test_a_place_is_a_host_and_a_port(target: str, place: HostPort) -> None:
    assert place_of(target) == place


@pytest.mark.parametrize("target", ["host", ":443", "host:", "host:-1", "host:123456", "host:4x"])
def test_anything_else_is_no_place(target: str) -> None:
    with pytest.raises(Refused):
        place_of(target)


HTML = b"""<html><body><a href="../../files/tiny-1.0.whl#sha256=%s" data-requires-python="&gt;=3.8"
  data-core-metadata="sha256=%s">tiny-1.0.whl</a>
  <a href="https://cdn.example/a/tiny-0.9.tar.gz" data-yanked="bad">x</a>
"""


def test_the_html_of_an_index_is_read_with_all_it_says() -> None:
    page = Page(HTML % (b"a" * 64, b"b" * 64), "text/html", "https://host/simple/tiny/")
    assert list(project_files(page)) == [
        ProjectFile("tiny-1.0.whl", "https://host/files/tiny-1.0.whl", "a" * 64, ">=3.8", None, "b" * 64),
        ProjectFile("tiny-0.9.tar.gz", "https://cdn.example/a/tiny-0.9.tar.gz", None, None, "bad", None),
    ]


class OnePage:
    base = "https://host/simple"

    def __init__(self, content: bytes) -> None:
        self.page = Page(content, "text/html", f"{self.base}/tiny/")

    async def read(self, wanted: Wanted) -> Page:
        return self.page


async def test_the_metadata_of_a_file_is_found_where_the_index_promises_it() -> None:
    pages = OnePage(HTML % (b"a" * 64, b"b" * 64))
    found = await Pypi().find("files/tiny/tiny-1.0.whl.metadata", pages)
    assert found == Wanted("https://host/files/tiny-1.0.whl.metadata", sha256="b" * 64)
    assert await Pypi().find("files/tiny/tiny-0.9.tar.gz.metadata", pages) is None


async def test_a_page_is_served_with_our_links_and_foreign_words_escaped() -> None:
    pages = OnePage(b'<a href="x&quot;&gt;.whl" data-requires-python="&quot;&lt;script&gt;">x</a>')
    wanted = await Pypi().find("simple/Tiny_Thing", pages)
    assert wanted is not None
    assert wanted.url == "https://host/simple/tiny-thing/"
    assert wanted.render is not None
    text, media_type = wanted.render(pages.page, "http://127.0.0.1:1/pypi")
    assert (b"<script>" in text, media_type) == (False, "text/html; charset=utf-8")
    assert b'href="http://127.0.0.1:1/pypi/files/tiny/x%22%3E.whl"' in text


class NoPages:
    def __init__(self, base: str) -> None:
        self.base = base

    async def read(self, wanted: Wanted) -> None:
        return None


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("https://host", "tiny/-/tiny-1.0.0.tgz"),
        ("https://host/api/npm", "tiny/-/tiny-1.0.0.tgz"),
        ("https://host/api/npm", "api/npm/tiny/-/tiny-1.0.0.tgz"),
    ],
)
async def test_a_lock_file_may_repeat_the_registrys_own_path(base: str, path: str) -> None:
    assert await Npm().find(path, NoPages(base)) == Wanted(f"{base}/tiny/-/tiny-1.0.0.tgz")


@pytest.mark.parametrize("path", ["-/npm/v1/security/audits", "a b", "@/x", "tiny/1.0/more", ""])
async def test_what_is_no_package_of_npm_is_not_asked_for(path: str) -> None:
    assert await Npm().find(path, NoPages("https://host")) is None
