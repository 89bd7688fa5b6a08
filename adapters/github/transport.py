"""One request through PyGithub's requester, with errors of ours.

PyGithub signs, connects, follows renames (301) inside the host and raises on status. Its objects are not used: reading
an attribute they lack is a hidden request, some of their methods swallow failures, and ours are typed anyway. Its own
retries are off (they repeat POSTs whose answer was lost) and so are its pauses: Temporal is the only retrier.
"""

import logging
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from github import Auth, Github, GithubException
from github.Requester import Requester
from pydantic import JsonValue, ValidationError

from adapters.github import errors
from adapters.github.errors import Call
from adapters.github.settings import GitHubAccess
from sweeper.errors import Transient
from sweeper.model import Wire

API_VERSION = "2022-11-28"
USER_AGENT = "ci-sweeper"
Reply = TypeVar("Reply", bound=Wire)


@dataclass(frozen=True)
class Answer:
    """A good answer. `data` is None where GitHub sends no body."""

    headers: Mapping[str, str]
    data: JsonValue


def requester(access: GitHubAccess, auth: Auth.Auth) -> Requester:
    """A connection of its own; it serves one thread at a time (it keeps the request under way in itself)."""
    _keep_secrets_out_of_logs()
    client = Github(
        auth=auth,
        base_url=access.api_url.rstrip("/"),
        timeout=access.timeout_seconds,
        user_agent=USER_AGENT,
        per_page=100,
        retry=None,
        seconds_between_requests=0,
        seconds_between_writes=0,
        lazy=True,
        api_version=API_VERSION,
    )
    return client.requester


class Connections:
    """Idle connections of one identity, lent to one thread at a time: PyGithub's keeps the request under way in itself,
    so two threads on one connection can send each other's request.
    """

    def __init__(self, make: Callable[[], Requester]) -> None:
        self._make = make
        self._idle: deque[Requester] = deque()

    @contextmanager
    def borrow(self) -> Iterator[Requester]:
        """An idle one, or another."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._make()
        try:
            yield connection
        finally:
            self._idle.append(connection)

    def close(self) -> None:
        """Close the idle ones."""
        while self._idle:
            self._idle.pop().close()


def _keep_secrets_out_of_logs() -> None:
    """At these levels the libraries would print installation tokens, bodies and signed download links."""
    for name, level in (("github.Requester", logging.INFO), ("httpx", logging.WARNING), ("httpcore", logging.INFO)):
        logging.getLogger(name).setLevel(level)


def ask(
    connection: Requester,
    call: Call,
    params: Mapping[str, str] | None = None,
    body: JsonValue = None,
    refusable: Collection[int] = (),
) -> Answer:
    """Send it once. Raises sweeper.errors; `Refused` for the statuses the caller wants to judge himself.

    A limit is a limit whatever its status.
    """
    try:
        headers, data = connection.requestJsonAndCheck(
            call.verb, call.page or call.path, dict(params or {}), input=body
        )
    except GithubException as error:
        refused = errors.refusal(error)
    except errors.UNREADABLE as error:
        raise errors.lost(call, type(error).__name__) from None
    except errors.REFUSED_URL:
        raise errors.not_followed(call) from None
    else:
        return Answer(headers, data)
    if refused.status in refusable and not errors.is_rate_limit(refused):
        raise refused
    raise errors.meaning(refused, call, datetime.now(UTC))


def read(model: type[Reply], data: JsonValue, call: Call) -> Reply:
    """The part of an answer we need. An empty body, or a web page in its place, is an answer lost on its way."""
    if data is None:
        raise errors.lost(call, "empty")
    if isinstance(data, dict) and data.keys() - {"url"} == {"data"} and isinstance(data["data"], str):
        raise errors.lost(call, "no JSON")
    if isinstance(data, dict) and data.get("message") == "Moved Permanently":
        raise Transient(f"Repeat {call}: the repository was renamed in this moment and nothing was done.")
    try:
        return model.model_validate(data)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"]) or "everything"
    raise errors.misshapen(call, where)
