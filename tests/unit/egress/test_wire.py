"""Reading the head of a request."""

import asyncio

import pytest

from adapters.egress.wire import HEAD_BYTES, Refused, Request, parse_head, plain_path, read_request


def test_a_plain_request_is_read() -> None:
    head = b"GET /pypi/simple/tiny/ HTTP/1.1\r\nHost: 127.0.0.1:61180\r\nAccept: */*\r\n\r\n"
    assert parse_head(head) == Request("GET", "/pypi/simple/tiny/", "127.0.0.1:61180")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1:61180@evil", "127.0.0.1", '127.0.0.1:1"><script>', ""])
def test_a_host_that_is_not_our_own_is_forgotten(host: str) -> None:
    assert parse_head(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()).host == ""


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("/pypi/simple/tiny/", "/pypi/simple/tiny/"),
        ("/npm/@ann%2ftiny", "/npm/@ann/tiny"),
        ("/pypi/files/torch/torch-2.0%2Bcu118.whl", "/pypi/files/torch/torch-2.0+cu118.whl"),
        ("/go/example.org/!tiny/@v/list", "/go/example.org/!tiny/@v/list"),
    ],
)
def test_a_path_is_decoded_once(target: str, path: str) -> None:
    assert plain_path(target) == path


@pytest.mark.parametrize(
    "target", ["", "/", "x", "*", "/a//b", "/a/./b", "/a/..", "/a%00", "/a%0a", "/a%5cb", "/ä", "/a b"]
)
def test_a_path_that_could_mean_something_else_is_refused(target: str) -> None:
    with pytest.raises(Refused) as refusal:
        plain_path(target)
    assert refusal.value.status == 404


async def test_a_head_that_does_not_arrive_is_given_up() -> None:
    reader = asyncio.StreamReader(limit=HEAD_BYTES)
    reader.feed_data(b"GET /pypi/ HTTP/1.1\r\nA: b\r\n")
    with pytest.raises(Refused) as refusal:
        await read_request(reader, seconds=0.01)
    assert refusal.value.status == 408


async def test_a_head_that_ends_early_is_refused() -> None:
    reader = asyncio.StreamReader(limit=HEAD_BYTES)
    reader.feed_data(b"GET /pypi/ HTTP/1.1\r\n")
    reader.feed_eof()
    with pytest.raises(Refused) as refusal:
        await read_request(reader)
    assert refusal.value.status == 400
