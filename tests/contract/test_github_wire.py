"""Answers as they come over the wire, by the real client: each has one meaning, and none is an error of the library."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import JsonValue, SecretBytes, SecretStr

from adapters.github import GitHubAccess
from adapters.github.auth import FixedToken
from adapters.github.client import Client, Repository
from adapters.github.errors import Refused
from adapters.github.graph import DRAFT
from adapters.github.replies import IdReply
from sweeper.errors import (
    AuthBroken,
    NotFound,
    OutcomeUnknown,
    Permanent,
    PolicyDenied,
    RateLimited,
    SweeperError,
    Transient,
)
from tests.support.stub_github import Script, StubGitHub, stub_github

pytestmark = pytest.mark.slow

TOKEN = "ghp_secret0123"
HTML = b"<html><body>Unicorn!</body></html>"
PATH = "/repos/o/r/issues/7/comments"
IN_AN_HOUR = str(int((datetime.now(UTC) + timedelta(hours=1)).timestamp()))


@contextmanager
def client_of(*scripts: Script) -> Iterator[tuple[StubGitHub, Repository]]:
    with stub_github(*scripts) as stub:
        access = GitHubAccess(api_url=stub.url, token=SecretStr(TOKEN), marker_key=SecretBytes(b"k"))
        client = Client(access, FixedToken(access, SecretStr(TOKEN)))
        try:
            yield stub, client.repository("o/r")
        finally:
            client.close()


def message(text: str) -> dict[str, JsonValue]:
    return {"message": text}


def graph_error(kind: str | None, text: str) -> dict[str, JsonValue]:
    error: JsonValue = {"message": text} if kind is None else {"type": kind, "message": text}
    return {"data": None, "errors": [error]}


TOO_QUICK: JsonValue = {"message": "Validation Failed", "errors": [{"message": "was submitted too quickly"}]}

ANSWERS: list[tuple[int, JsonValue | bytes, dict[str, str], type[SweeperError], type[SweeperError]]] = [
    (401, message("Bad credentials"), {}, AuthBroken, AuthBroken),
    (403, message("This installation has been suspended"), {}, AuthBroken, AuthBroken),
    (403, message("Sorry. Your account was suspended"), {}, AuthBroken, AuthBroken),
    (403, message("Resource not accessible by integration"), {}, PolicyDenied, PolicyDenied),
    (403, message("Resource not accessible by personal access token"), {}, PolicyDenied, PolicyDenied),
    (403, message("API rate limit exceeded"), {"x-ratelimit-remaining": "0"}, RateLimited, RateLimited),
    (
        403,
        message("Forbidden"),
        {"x-ratelimit-remaining": "0", "x-ratelimit-reset": IN_AN_HOUR},
        RateLimited,
        RateLimited,
    ),
    (403, message("You have exceeded a secondary rate limit."), {}, RateLimited, RateLimited),
    (403, message("You have exceeded a secondary rate limit."), {"retry-after": "7"}, RateLimited, RateLimited),
    (403, message("You have triggered an abuse detection mechanism."), {}, RateLimited, RateLimited),
    (403, HTML, {}, PolicyDenied, PolicyDenied),
    (429, message("Too many requests"), {}, RateLimited, RateLimited),
    (429, HTML, {"retry-after": "7"}, RateLimited, RateLimited),
    (422, TOO_QUICK, {}, RateLimited, RateLimited),
    (422, message("Validation Failed"), {}, Permanent, Permanent),
    (404, message("Not Found"), {}, NotFound, NotFound),
    (404, HTML, {}, NotFound, NotFound),
    (410, message("Issues are disabled for this repo"), {}, Permanent, Permanent),
    (451, message("Repository access blocked"), {}, Permanent, Permanent),
    (400, message("Problems parsing JSON"), {}, Permanent, Permanent),
    (500, message("Server Error"), {}, Transient, OutcomeUnknown),
    (502, HTML, {"content-type": "text/html"}, Transient, OutcomeUnknown),
    (503, b"", {"retry-after": "3"}, Transient, OutcomeUnknown),
    (504, HTML, {}, Transient, OutcomeUnknown),
    (500, ["not", "an", "object"], {}, Transient, OutcomeUnknown),
    (500, {"message": {"deep": 1}}, {}, Transient, OutcomeUnknown),
    (200, HTML, {"content-type": "text/html"}, Transient, OutcomeUnknown),
    (200, b"", {}, Transient, OutcomeUnknown),
    (200, b'{"id": 1', {}, Transient, OutcomeUnknown),
    (200, b"\xff\xfe\x00", {}, Transient, OutcomeUnknown),
    (200, b'{"id": 1}', {"content-length": "500"}, Transient, OutcomeUnknown),
    (200, {"other": "thing"}, {}, Permanent, Permanent),
    (301, message("Moved Permanently"), {}, Transient, Transient),
    (301, b"", {"location": "https://elsewhere.example/repos/o/r"}, Permanent, Permanent),
]


@pytest.mark.parametrize(("status", "body", "headers", "read", "written"), ANSWERS)
def test_an_answer_means_the_same_whatever_its_shape(
    status: int,
    body: JsonValue | bytes,
    headers: dict[str, str],
    read: type[SweeperError],
    written: type[SweeperError],
) -> None:
    scripts = [Script(method, "", status, body, headers) for method in ("GET", "POST")]
    with client_of(*scripts) as (stub, there):
        with pytest.raises(SweeperError) as from_read:
            there.get(IdReply, "issues/7/comments")
        with pytest.raises(SweeperError) as from_write:
            there.send(IdReply, "POST", "issues/7/comments", {"body": "x"})

    assert (type(from_read.value), type(from_write.value)) == (read, written)
    assert [asked.method for asked in stub.asked] == ["GET", "POST"], "asked once; Temporal is the only retrier"
    for error in (from_read.value, from_write.value):
        assert TOKEN not in str(error)
        assert "\n" not in str(error)


def test_a_reset_says_when_to_come_back() -> None:
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": IN_AN_HOUR}
    script = Script("GET", "", 403, message("API rate limit exceeded"), headers)
    with client_of(script) as (_, there), pytest.raises(RateLimited) as limited:
        there.get(IdReply, "issues/7")

    assert int(limited.value.retry_at.timestamp()) == int(IN_AN_HOUR)


@pytest.mark.parametrize(
    ("path", "right"),
    [
        ("issues/7/comments", "pull_requests=write"),
        ("pulls", "pull_requests=write"),
        ("check-runs", "checks=write"),
        ("actions/runs/1/rerun-failed-jobs", "actions=write"),
    ],
)
def test_the_right_that_is_missing_is_named_even_if_github_does_not(path: str, right: str) -> None:
    script = Script("POST", "", 403, message("Resource not accessible by integration"))
    with client_of(script) as (_, there), pytest.raises(PolicyDenied, match=f"by granting {right}"):
        there.act("POST", path, {})


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (200, graph_error("UNPROCESSABLE", "Draft pull requests are not supported in this repository."), Refused),
        (200, graph_error("FORBIDDEN", "Resource not accessible by integration"), PolicyDenied),
        (200, graph_error("INSUFFICIENT_SCOPES", "Your token has not been granted the scopes"), PolicyDenied),
        (200, graph_error("NOT_FOUND", "Could not resolve to a node"), NotFound),
        (200, graph_error("RATE_LIMITED", "API rate limit exceeded"), RateLimited),
        (200, graph_error(None, "Something went wrong while executing your query."), OutcomeUnknown),
        (200, b"", OutcomeUnknown),
        (502, HTML, OutcomeUnknown),
        (401, message("Bad credentials"), AuthBroken),
    ],
)
def test_an_error_of_graphql_means_what_the_status_would(
    status: int, body: JsonValue | bytes, expected: type[Exception]
) -> None:
    with client_of(Script("POST", "/graphql", status, body)) as (stub, there), pytest.raises(expected) as refused:
        there.mutate(DRAFT, {"pullRequestId": "PR_1"}, refusable={422})

    assert type(refused.value) is expected
    assert len(stub.asked) == 1


@pytest.mark.parametrize(
    ("api_url", "graphql_url"),
    [
        ("https://api.github.com", "https://api.github.com/graphql"),
        ("https://github.example/api/v3/", "https://github.example/api/graphql"),
    ],
)
def test_graphql_stands_beside_the_rest_face(api_url: str, graphql_url: str) -> None:
    access = GitHubAccess(api_url=api_url, token=SecretStr(TOKEN), marker_key=SecretBytes(b"k"))

    assert Client(access, FixedToken(access, SecretStr(TOKEN))).graphql_url == graphql_url
