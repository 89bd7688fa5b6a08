"""Each answer of GitHub has exactly one meaning for us."""

from datetime import UTC, datetime, timedelta

import pytest
from github.Requester import Requester
from pydantic import JsonValue

from adapters.github.errors import Call, Refused, lost, meaning, pause_end, reason_in, refusal
from sweeper.errors import (
    AuthBroken,
    MergeRefused,
    NotFound,
    OutcomeUnknown,
    Permanent,
    PolicyDenied,
    RateLimited,
    SweeperError,
    Transient,
)

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
READ = Call("GET", "/repos/o/r/pulls/7")
WRITE = Call("POST", "/repos/o/r/pulls", writes=True)
MERGE = Call("PUT", "/repos/o/r/pulls/7/merge", writes=True)
SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."


def answered(status: int, data: dict[str, JsonValue], headers: dict[str, str] | None = None) -> Refused:
    """As PyGithub raises it: with the exception class it picks for that answer."""
    return refusal(Requester.createException(status, headers or {}, data))


@pytest.mark.parametrize(
    ("call", "status", "message", "expected"),
    [
        (READ, 401, "Bad credentials", AuthBroken),
        (WRITE, 401, "Requires authentication", AuthBroken),
        (READ, 403, "Resource not accessible by integration", PolicyDenied),
        (WRITE, 403, "Repository was archived so is read-only.", PolicyDenied),
        (READ, 403, "API rate limit exceeded for installation ID 1.", RateLimited),
        (WRITE, 403, SECONDARY, RateLimited),
        (READ, 429, "Too many requests", RateLimited),
        (READ, 404, "Not Found", NotFound),
        (WRITE, 404, "Not Found", NotFound),
        (MERGE, 405, "Pull Request is not mergeable", MergeRefused),
        (MERGE, 409, "Head branch was modified. Review and try the merge again.", MergeRefused),
        (READ, 405, "Method not allowed", Permanent),
        (READ, 409, "Git Repository is empty.", Permanent),
        (READ, 410, "Issues are disabled for this repo", Permanent),
        (WRITE, 422, "Validation Failed", Permanent),
        (READ, 451, "Repository access blocked", Permanent),
        (READ, 408, "Request timeout", Transient),
        (READ, 500, "Server Error", Transient),
        (READ, 503, "Service Unavailable", Transient),
        (WRITE, 502, "Server Error", OutcomeUnknown),
        (MERGE, 500, "Server Error", OutcomeUnknown),
    ],
)
def test_each_status_has_one_meaning(call: Call, status: int, message: str, expected: type[SweeperError]) -> None:
    error = meaning(answered(status, {"message": message}), call, NOW)

    assert type(error) is expected
    assert str(error).count(". ") == 0, "one sentence"
    assert str(error).endswith(".")


def test_an_answer_lost_on_its_way_leaves_a_doubt_only_after_a_write() -> None:
    assert type(lost(READ, "ReadTimeout")) is Transient
    assert type(lost(WRITE, "ReadTimeout")) is OutcomeUnknown


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "120"}, NOW + timedelta(seconds=120)),
        ({"retry-after": "0"}, NOW + timedelta(seconds=1)),
        ({"retry-after": "Sun, 29 Nov 2026 12:05:00 GMT"}, NOW + timedelta(minutes=5)),
        ({"retry-after": "soon"}, NOW + timedelta(seconds=60)),
        (
            {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW.timestamp()) + 900)},
            NOW + timedelta(minutes=15),
        ),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "12"}, NOW + timedelta(seconds=1)),
        ({"x-ratelimit-remaining": "17", "x-ratelimit-reset": "9999999999"}, NOW + timedelta(seconds=60)),
        (
            {"retry-after": "5", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "9999999999"},
            NOW + timedelta(seconds=5),
        ),
        ({}, NOW + timedelta(seconds=60)),
    ],
)
def test_the_pause_ends_when_github_says(headers: dict[str, str], expected: datetime) -> None:
    assert pause_end(headers, NOW) == expected


def test_a_rate_limit_is_known_by_its_headers_too() -> None:
    error = meaning(answered(403, {"message": "Forbidden"}, {"Retry-After": "30"}), WRITE, NOW)

    assert isinstance(error, RateLimited)
    assert error.retry_at == NOW + timedelta(seconds=30)


def test_a_missing_right_is_named() -> None:
    headers = {"X-Accepted-GitHub-Permissions": "pull_requests=write"}
    error = meaning(answered(403, {"message": "Resource not accessible by integration"}, headers), WRITE, NOW)

    assert "pull_requests=write" in str(error)


def test_the_texts_of_single_errors_are_kept_because_a_422_is_told_apart_by_them_alone() -> None:
    refused = answered(
        422,
        {
            "message": "Validation Failed",
            "errors": [
                {"resource": "PullRequest", "code": "custom", "message": "A pull request already exists for o:x."},
                {"resource": "PullRequest", "field": "head", "code": "invalid"},
                "No commits between main and x",
            ],
        },
    )

    assert refused.says("already exists")
    assert refused.reason == (
        "Validation Failed; A pull request already exists for o:x; head invalid; No commits between main and x"
    )


@pytest.mark.parametrize("body", [None, "<html>502</html>", {"data": "<html>502</html>"}, [1], {"message": None}])
def test_a_body_without_a_message_says_nothing(body: JsonValue) -> None:
    assert reason_in(body) == ""


def test_a_long_message_is_cut_to_one_short_line() -> None:
    reason = reason_in({"message": "word \n" * 1000})

    assert len(reason) <= 300
    assert "\n" not in reason
