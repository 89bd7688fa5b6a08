"""Where the model really is, and what a request may carry there.

Only here the real key is known. It goes to one address, over a client that follows no redirect and keeps no cookie.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx
from pydantic import SecretStr

from sweeper.policy.model_access import ModelAccess

PATHS: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("/messages", "/messages/count_tokens"),
    "openai": ("/chat/completions", "/responses"),
}
"""Below `/v1`: all that a coding agent needs of a provider. Files, batches and administration are not among it."""
FREE = frozenset({"/messages/count_tokens"})
"""Asks no model, so it is no model call."""

_PASSED_ON = ("accept", "anthropic-version", "anthropic-beta", "openai-beta", "x-stainless-helper-method")
_PASSED_BACK = ("content-type", "retry-after", "request-id", "x-request-id", "x-should-retry")
_TIMEOUT = httpx.Timeout(30.0, connect=15.0, read=600.0)
"""A model may think for minutes without a word."""


@dataclass(frozen=True)
class Upstream:
    """One model at one provider."""

    provider: str
    model: str
    base: str
    key: SecretStr | None = field(default=None, repr=False)

    def url(self, path: str) -> str:
        """Of a path below `/v1`. An address of OpenAI's kind holds the version, as its clients have it."""
        return f"{self.base}{path}"

    def headers(self, asked: Mapping[str, str]) -> dict[str, str]:
        """Those of the agent's that mean something to a provider, and the key as this provider wants it."""
        passed = {name: asked[name] for name in _PASSED_ON if name in asked}
        fixed = {"content-type": "application/json", "accept-encoding": "identity", "user-agent": "ci-sweeper"}
        return {**passed, **fixed, **self._login()}

    def _login(self) -> dict[str, str]:
        if self.key is None:
            return {}
        secret = self.key.get_secret_value()
        return {"x-api-key": secret} if self.provider == "anthropic" else {"authorization": f"Bearer {secret}"}


def upstream(access: ModelAccess) -> Upstream:
    """Raises what `ModelAccess.check` does."""
    access.check()
    return Upstream(access.provider, access.model, access.base, access.key)


def client() -> httpx.AsyncClient:
    """Follows nothing and remembers nothing."""
    jar = CookieJar(policy=DefaultCookiePolicy(allowed_domains=[]))
    return httpx.AsyncClient(timeout=_TIMEOUT, follow_redirects=False, cookies=jar)


def passed_back(answer: httpx.Response) -> dict[str, str]:
    """What an agent may see of an answer's head: no cookie, nothing of the connection, no account's name."""
    return {name: answer.headers[name] for name in _PASSED_BACK if name in answer.headers}
