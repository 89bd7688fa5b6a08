"""Job logs, streamed over httpx. Reads only.

A job's log is a redirect to a storage host with a signed link: the link is a capability and is never logged or kept,
and our token must not go there (storage refuses it, and it is not theirs to see).
"""

import asyncio
import re
import ssl
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import cached_property

import httpx
from pydantic import JsonValue, SecretStr, TypeAdapter, ValidationError

from adapters.github import errors
from adapters.github.auth import Tokens
from adapters.github.client import checked_name
from adapters.github.errors import Call, Refused
from adapters.github.settings import GitHubAccess
from adapters.github.transport import API_VERSION, USER_AGENT
from sweeper.errors import AuthBroken
from sweeper.ports import LogAnswer

LOG_HEAD = 16 << 20
LOG_TAIL = 48 << 20
"""A longer log keeps both ends: the checkout lines stand at its start, the cause near its end."""

_CHUNK = 64 << 10
_MOST_MOVES = 3
_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)
_MISSING = {
    404: "GitHub has no log of this job (404): it did not start, still runs, or its runner was lost",
    410: "the log has expired (410)",
}


class Logs:
    """Logs from GitHub and its storage."""

    def __init__(self, access: GitHubAccess, tokens: Tokens) -> None:
        self._base = access.api_url.rstrip("/")
        self._timeout = access.timeout_seconds
        self._tokens = tokens

    async def read(self, repository: str, job_id: int) -> LogAnswer:
        """A job's log. That there is none is an answer.

        GitHub answers an empty text for a moment while a log is put away, so an empty one is asked for once more.
        """
        call = Call("GET", f"/repos/{checked_name(repository)}/actions/jobs/{job_id}/logs")
        try:
            text = await self._text(call, repository)
            if _is_blank(text):
                text = await self._text(call, repository)
        except Refused as refused:
            return LogAnswer(text=None, missing=_MISSING[refused.status])
        return LogAnswer(text=None, missing="the log is empty") if _is_blank(text) else LogAnswer(text=text)

    async def _text(self, call: Call, repository: str) -> bytes:
        """As it is: byte order mark, carriage returns and colours stay, for those who read it to judge."""
        async with self._opened(call, repository) as response:
            return await both_ends(response.aiter_bytes(_CHUNK), LOG_HEAD, LOG_TAIL)

    @asynccontextmanager
    async def _opened(self, call: Call, repository: str) -> AsyncIterator[httpx.Response]:
        """The final answer, ready to be streamed. Raises Refused for 404 and 410, sweeper.errors for the rest."""
        try:
            async with (
                self._client() as http,
                self._asked(http, call, repository) as answer,
                _at_storage(http, answer) as response,
            ):
                if response is not answer and response.status_code in (401, 403):
                    raise errors.lost(call, "a download link that has expired")
                await _judge(response, call)
                yield response
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise errors.lost(call, type(error).__name__) from None

    @asynccontextmanager
    async def _asked(self, http: httpx.AsyncClient, call: Call, repository: str) -> AsyncIterator[httpx.Response]:
        """The API's own answer. A rename (301) is followed inside the host, with the token."""
        url = httpx.URL(self._base + call.path)
        for _ in range(_MOST_MOVES):
            token = await asyncio.to_thread(self._tokens.token, repository)
            async with http.stream("GET", url, headers=_headers(token)) as answer:
                moved = answer.next_request if answer.status_code in (301, 307, 308) else None
                refused = answer.status_code == 401 and self._tokens.forget(repository, token)
                if moved is None and not refused:
                    yield answer
                    return
            if moved is not None:
                if (moved.url.scheme, moved.url.netloc) != (url.scheme, url.netloc):
                    raise errors.not_followed(call)
                url = moved.url
        raise AuthBroken(f"Renew the GitHub token or app key: {call} is refused or redirected again and again.")

    def _client(self) -> httpx.AsyncClient:
        # Not packed: a megabyte on the wire may be a gigabyte in memory.
        headers = {"User-Agent": USER_AGENT, "Accept-Encoding": "identity"}
        return httpx.AsyncClient(verify=self._tls, timeout=self._timeout, headers=headers)

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Reading the certificate store takes up to 0.2 s of processor time, so it is done once."""
        return httpx.create_ssl_context()


def _headers(token: SecretStr) -> dict[str, str]:
    return {
        "Authorization": f"Bearer {token.get_secret_value()}",
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": API_VERSION,
    }


@asynccontextmanager
async def _at_storage(http: httpx.AsyncClient, answer: httpx.Response) -> AsyncIterator[httpx.Response]:
    """What a 302 points to, fetched without our token; any other answer is itself the content."""
    link = answer.headers.get("location") if answer.status_code == 302 else None
    if link is None:
        yield answer
        return
    async with http.stream("GET", answer.url.join(link), follow_redirects=True) as response:
        yield response


async def _judge(response: httpx.Response, call: Call) -> None:
    if response.status_code < 300:
        return
    body = await response.aread()
    refused = Refused(response.status_code, _reason(body), dict(response.headers))
    if refused.status in _MISSING:
        raise refused
    raise errors.meaning(refused, call, datetime.now(UTC))


def _reason(body: bytes) -> str:
    try:
        return errors.reason_in(_JSON.validate_json(body))
    except ValidationError:
        return ""


def _is_blank(text: bytes) -> bool:
    return re.search(rb"[^\xef\xbb\xbf \r\n\t]", text) is None


async def both_ends(chunks: AsyncIterator[bytes], head_bytes: int, tail_bytes: int) -> bytes:
    """All of it, or its first and last bytes with a line between them that says how much was left out.

    Takes twice as much memory as its answer, however long the text is.
    """
    head, tail, kept, dropped = bytearray(), deque[bytes](), 0, 0
    async for chunk in chunks:
        room = head_bytes - len(head)
        head += chunk[:room]
        if rest := chunk[room:]:
            tail.append(rest)
            kept += len(rest)
        while tail and kept - len(tail[0]) >= tail_bytes:
            kept -= len(tail[0])
            dropped += len(tail.popleft())
    if surplus := max(0, kept - tail_bytes):
        tail.appendleft(tail.popleft()[surplus:])
    if dropped + surplus:
        head += b"\n[sweeper: %d bytes of this log were left out here]\n" % (dropped + surplus)
    return b"".join((head, *tail))
