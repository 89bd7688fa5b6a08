"""The little HTTP that sandboxed commands speak to us: one request on each connection, without a body.

A connection that ends after one answer leaves nothing to smuggle a second request into. Everything is bounded: the
head's size and time, the time a reader may stall. Grammar: RFC 9112, of which only what package managers use is taken.
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO
from urllib.parse import unquote

HEAD_BYTES = 16 << 10
HEAD_SECONDS = 15.0
STALL_SECONDS = 60.0
_CHUNK = 1 << 16
_REQUEST_LINE = re.compile(r"(GET|HEAD|CONNECT) ([!-~]{1,2048}) HTTP/1\.[01]")
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([ -~\t]*)")
_OWN_HOST = re.compile(r"(127\.0\.0\.1|localhost):\d{1,5}")
_PATH = re.compile(r"(/[A-Za-z0-9@+!~._-]+)+/?")
_WORDS = {200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed"}
_WORDS |= {408: "Request Timeout", 431: "Request Header Fields Too Large", 502: "Bad Gateway", 503: "Busy"}


class Refused(Exception):
    """An answer instead of what was asked for. `what`: to be listed as refused; empty: not worth telling."""

    def __init__(self, status: int, sentence: str, what: str = "") -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.what = what


@dataclass(frozen=True)
class Request:
    """A request's head. `host`: the address by which the command reaches us, for links."""

    method: str
    target: str
    host: str = ""


@dataclass(frozen=True)
class Answer:
    """What is sent back; the content is text in memory, or a file from its start."""

    status: int
    content: bytes | BinaryIO
    size: int
    content_type: str = "text/plain; charset=utf-8"

    @classmethod
    def of_text(cls, status: int, sentence: str) -> "Answer":
        """One sentence."""
        content = f"{sentence}\n".encode(errors="replace")
        return cls(status, content, len(content))

    def close(self) -> None:
        """Give a file back. Twice is a no-op."""
        if not isinstance(self.content, bytes):
            self.content.close()


async def read_request(reader: asyncio.StreamReader, seconds: float = HEAD_SECONDS) -> Request:
    """The head, whole, within so many seconds. `reader` must have HEAD_BYTES as its limit. Raises Refused."""
    try:
        async with asyncio.timeout(seconds):
            head = await reader.readuntil(b"\r\n\r\n")
    except TimeoutError:
        raise Refused(408, "The request did not arrive in time") from None
    except asyncio.LimitOverrunError:
        raise Refused(431, "The request's head is too long") from None
    except asyncio.IncompleteReadError:
        raise Refused(400, "The request ended in its head") from None
    return parse_head(head)


def parse_head(head: bytes) -> Request:
    """Strictly: one line for each field, no folding, no body. Raises Refused."""
    first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    line = _REQUEST_LINE.fullmatch(first)
    if line is None:
        known = re.match(r"[A-Z]+ ", first)
        raise Refused(405 if known else 400, "Only GET, HEAD and CONNECT are answered here")
    headers: dict[str, str] = {}
    for text in lines:
        field = _HEADER.fullmatch(text)
        if field is None or (field[1].lower() == "host" and "host" in headers):
            raise Refused(400, "A field of the request's head is malformed")
        headers[field[1].lower()] = field[2].strip()
    if "transfer-encoding" in headers or headers.get("content-length", "0") != "0":
        raise Refused(400, "A request with a body is not answered here")
    return Request(line[1], line[2], _own_host(headers))


def _own_host(headers: Mapping[str, str]) -> str:
    host = headers.get("host", "")
    return host if _OWN_HOST.fullmatch(host) else ""


def plain_path(target: str) -> str:
    """The path a target names, decoded once, leading nowhere but down. Raises Refused."""
    path = unquote(target)
    if not _PATH.fullmatch(path) or any(part in (".", "..") for part in path.split("/")):
        raise Refused(404, "There is no such path here", target)
    return path


async def send(writer: asyncio.StreamWriter, answer: Answer, *, with_content: bool = True) -> None:
    """Head and content. Raises TimeoutError when the other side takes nothing for a while."""
    head = (
        f"HTTP/1.1 {answer.status} {_WORDS.get(answer.status, 'Error')}\r\nContent-Type: {answer.content_type}\r\n"
        f"Content-Length: {answer.size}\r\nConnection: close\r\n\r\n"
    )
    writer.write(head.encode("latin-1"))
    if with_content and isinstance(answer.content, bytes):
        writer.write(answer.content)
    elif with_content and not isinstance(answer.content, bytes):
        while chunk := answer.content.read(_CHUNK):
            writer.write(chunk)
            await drain(writer)
    await drain(writer)


async def drain(writer: asyncio.StreamWriter) -> None:
    """Wait until the other side has taken enough. Raises TimeoutError."""
    async with asyncio.timeout(STALL_SECONDS):
        await writer.drain()
