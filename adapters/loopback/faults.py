"""Faults: rules that spoil REST and git calls, before or after their effect. They live in memory only."""

import asyncio
import json
import random
import re
from dataclasses import dataclass, field

from adapters.loopback.answer import Answer
from adapters.loopback.core.refusals import Refused
from adapters.loopback.drive.requests import FaultRule

SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again. "
    "If you reach out to GitHub Support for help, please include the request ID."
)
_MESSAGES = {
    "500": (500, "Server Error"),
    "503": (503, "Service unavailable"),
    "405": (405, "Pull Request is not mergeable"),
    "422": (422, "Validation Failed"),
    "429": (429, SECONDARY),
    "403_secondary": (403, SECONDARY),
    "403_resource": (403, "Resource not accessible by integration"),
}
_BAD_GATEWAY = b"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>502 Bad Gateway</body>\r\n</html>\r\n"


@dataclass
class _Live:
    rule: FaultRule
    pattern: re.Pattern[str]
    chance: random.Random
    matched: int = 0
    fired: int = field(default=0)

    def fires(self, method: str, targets: tuple[str, ...]) -> bool:
        if self.rule.method.upper() not in ("*", method) or not any(self.pattern.search(one) for one in targets):
            return False
        self.matched += 1
        if self.fired >= self.rule.times or self.matched < (self.rule.nth or 1):
            return False
        if self.rule.probability is not None and self.chance.random() >= self.rule.probability:
            return False
        self.fired += 1
        return True


class Faults:
    """The rules in force. Every rule counts its own matches; of several that fire the first one holds."""

    def __init__(self) -> None:
        self._live: list[_Live] = []
        self._cleared = asyncio.Event()

    def replace(self, rules: list[FaultRule]) -> None:
        """Take over new rules; an empty list also lets held answers go. Raises Refused 422 for a bad pattern."""
        live = []
        for rule in rules:
            try:
                # Not cryptography: the seed makes a test's faults the same each time.
                live.append(_Live(rule, re.compile(rule.path), random.Random(rule.seed)))  # noqa: S311
            except re.error as error:
                raise Refused(422, f"{rule.path!r} is no regular expression: {error}") from error
        self._live = live
        if not live:
            self.let_go()

    def let_go(self) -> None:
        """Answer everything that is held."""
        self._cleared.set()
        self._cleared = asyncio.Event()

    def pick(self, method: str, path: str, query: str) -> FaultRule | None:
        """The rule that spoils this call, if any; the pattern may match the path with or without its query."""
        fired = [live.rule for live in self._live if live.fires(method, (path, f"{path}?{query}"))]
        return fired[0] if fired else None

    async def held(self) -> None:
        """Wait until the rules are cleared."""
        await self._cleared.wait()


def spoilt(rule: FaultRule) -> Answer | None:
    """The answer of a fault that is an answer; None for the others (hold, slow, reset, truncate, stale_read)."""
    if rule.kind == "502":
        return Answer(502, [(b"content-type", b"text/html")], _BAD_GATEWAY)
    if rule.kind not in _MESSAGES:
        return None
    status, message = _MESSAGES[rule.kind]
    headers = [(b"content-type", b"application/json; charset=utf-8")]
    if rule.retry_after is not None:
        headers.append((b"retry-after", str(rule.retry_after).encode()))
    body = {"message": message, "documentation_url": "https://docs.github.com/rest", "status": str(status)}
    return Answer(status, headers, json.dumps(body).encode())
