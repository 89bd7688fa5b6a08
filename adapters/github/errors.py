"""The one place where GitHub's answers become errors of ours.

    401; 403 while suspended              AuthBroken
    429; 403, 422 of a limit              RateLimited, until Retry-After, else the reset, else a minute
    403 otherwise                         PolicyDenied, with the right that is missing
    404                                   NotFound
    405, 409 to a merge                   MergeRefused
    408, 5xx, no or unreadable answer     Transient after a read, OutcomeUnknown after a write
    410, 422, 451, any other 4xx          Permanent
    a URL PyGithub will not follow        Permanent

A refused call (4xx) did nothing. No answer, half of one, and a web page where JSON was asked for are all unreadable.
Sources: GitHub's REST description, its pages on rate limits and troubleshooting.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import requests
from github import GithubException
from pydantic import JsonValue

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

SHORTEST_PAUSE = timedelta(seconds=60)
"""For a secondary limit without Retry-After: GitHub asks for at least a minute."""

UNREADABLE = (requests.RequestException, json.JSONDecodeError, UnicodeDecodeError, AttributeError)
"""AttributeError: PyGithub looks for a message in an error's body, which may be JSON of any kind."""

REFUSED_URL = (AssertionError, RuntimeError)
_LIMIT_WORDS = (
    "rate limit",
    "please retry your request again later",
    "please wait a few minutes",
    "abuse detection mechanism",
)
_TOO_QUICK = "submitted too quickly"
_LONGEST_REASON = 300

_RIGHTS = {
    re.compile(r"/repos/[^/]+/[^/]+/(pulls|issues)\b|/graphql\b"): "pull_requests=write",
    re.compile(r"/repos/[^/]+/[^/]+/check-runs/\d+/annotations$"): "checks=read",
    re.compile(r"/repos/[^/]+/[^/]+/check-runs\b"): "checks=write",
    re.compile(r"/repos/[^/]+/[^/]+/commits/[^/]+/check-runs$"): "checks=read",
    re.compile(r"/repos/[^/]+/[^/]+/commits/[^/]+/status$"): "statuses=read",
    re.compile(r"/repos/[^/]+/[^/]+/actions/runs/\d+/rerun"): "actions=write",
    re.compile(r"/repos/[^/]+/[^/]+/actions\b"): "actions=read",
    re.compile(r"/repos/[^/]+/[^/]+/(contents|git|commits|compare)\b"): "contents=read",
}
"""What a path needs, for answers that do not say so. The first that fits."""


@dataclass(frozen=True)
class Call:
    """A request. Messages name it without query and host. `writes`: a lost answer leaves a doubt.

    `page` is the URL GitHub gave for a later page of `path`.
    """

    verb: str
    path: str
    writes: bool = False
    page: str | None = None

    def __str__(self) -> str:
        return f"{self.verb} {self.path}"

    @property
    def is_merge(self) -> bool:
        """Whether 405 and 409 mean "not now"."""
        return self.verb == "PUT" and self.path.endswith("/merge")


@dataclass(eq=False)
class Refused(Exception):
    """An answer with status >= 400 that has no meaning yet. Never leaves this package."""

    status: int
    reason: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def says(self, words: str) -> bool:
        """GitHub tells some cases apart by their text alone."""
        return words in self.reason.lower()


def refusal(error: GithubException) -> Refused:
    """What PyGithub raised, with the texts of all single errors: a 422 says what is wrong only there."""
    headers = {name.lower(): str(value) for name, value in (error.headers or {}).items()}
    return Refused(error.status, reason_in(error.data), headers)


def reason_in(data: JsonValue) -> str:
    """The human part of an error body as part of a sentence, one short line; an HTML page says nothing."""
    if not isinstance(data, dict) or "message" not in data:
        return ""
    details = data.get("errors")
    texts = [data["message"], *(_detail(item) for item in details)] if isinstance(details, list) else [data["message"]]
    line = re.sub(r"\s+", " ", "; ".join(str(text).strip(" .") for text in texts if text)).replace(". ", "; ")
    return line[:_LONGEST_REASON]


def _detail(item: JsonValue) -> str:
    if not isinstance(item, dict):
        return str(item)
    named = item.get("message") or " ".join(str(item[name]) for name in ("field", "code") if item.get(name))
    return str(named)


def meaning(refused: Refused, call: Call, now: datetime) -> SweeperError:
    """The error of ours for a refused call, by the table of this module."""
    said = f"{refused.status} {refused.reason}".strip()
    if refused.status == 401:
        return AuthBroken(f"Renew the GitHub token or app key: {call} was answered {said}.")
    if refused.status == 403 and refused.says("suspended"):
        return AuthBroken(f"End the suspension of the app or account: {call} was answered {said}.")
    if is_rate_limit(refused):
        retry_at = pause_end(refused.headers, now)
        return RateLimited(f"Wait until {retry_at:%Y-%m-%dT%H:%M:%SZ}: {call} was answered {said}.", retry_at)
    if refused.status >= 500 or refused.status == 408:
        return lost(call, said)
    if call.is_merge and refused.status in (405, 409):
        return MergeRefused(f"Try the merge again later: GitHub answered {said}.")
    if refused.status == 403:
        return PolicyDenied(f"Allow {call}{_missing_right(refused, call)}: GitHub answered {said}.")
    if refused.status == 404:
        return NotFound(f"Check the name and whether our credentials may see it: {call} was answered {said}.")
    return Permanent(f"Do not repeat {call} as it is: GitHub answered {said}.")


def _missing_right(refused: Refused, call: Call) -> str:
    rights = refused.headers.get("x-accepted-github-permissions", "")
    if not re.fullmatch(r"[\w=,; -]{1,200}", rights):
        is_about_rights = refused.says("not accessible") or refused.says("permission")
        needed = next((right for path, right in _RIGHTS.items() if path.search(call.path)), "")
        rights = needed if is_about_rights else ""
    return f" by granting {rights}" if rights else ""


def is_rate_limit(refused: Refused) -> bool:
    """429 always; 403 when its headers or its text say so (GitHub uses both for primary and secondary limits).

    A 422 may be one as well: content that came too fast.
    """
    if refused.status == 429 or (refused.status == 422 and refused.says(_TOO_QUICK)):
        return True
    named = any(refused.says(words) for words in _LIMIT_WORDS)
    spent = refused.headers.get("x-ratelimit-remaining") == "0" or "retry-after" in refused.headers
    return refused.status == 403 and (named or spent)


def pause_end(headers: Mapping[str, str], now: datetime) -> datetime:
    """When GitHub may be asked again (UTC)."""
    asked = _retry_after(headers.get("retry-after", ""), now)
    if asked is not None:
        return asked
    reset = headers.get("x-ratelimit-reset", "")
    if headers.get("x-ratelimit-remaining") == "0" and re.fullmatch(r"\d{1,11}(\.\d+)?", reset):
        return max(datetime.fromtimestamp(float(reset), UTC), now + timedelta(seconds=1))
    return now + SHORTEST_PAUSE


def _retry_after(value: str, now: datetime) -> datetime | None:
    if re.fullmatch(r"\d{1,9}", value.strip()):
        return now + timedelta(seconds=max(1, int(value)))
    try:
        named = parsedate_to_datetime(value)
    except ValueError:
        return None
    return named if named.tzinfo else named.replace(tzinfo=UTC)


def lost(call: Call, how: str) -> SweeperError:
    """No usable answer: a read may be repeated, a write may have happened."""
    if call.writes:
        return OutcomeUnknown(f"Look whether {call} took effect before repeating it: the answer was {how}.")
    return Transient(f"Repeat {call} in a moment: the answer was {how}.")


def not_followed(call: Call) -> SweeperError:
    """PyGithub refused a URL in an answer because its host is not the one of the API."""
    return Permanent(f"Set SWEEPER_GITHUB_URL to the address GitHub gives itself: {call} led to another host.")


def misshapen(call: Call, where: str) -> SweeperError:
    """An answer that lacks what we need."""
    return Permanent(f"Check that SWEEPER_GITHUB_URL is a GitHub API: the answer to {call} lacks {where}.")
