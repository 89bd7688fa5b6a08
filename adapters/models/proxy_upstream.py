"""Where the model really is, and what a request may carry there.

Only here the real key is known. It goes to one address, over a client that follows no redirect and keeps no cookie.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx
from pydantic import SecretStr

from sweeper.errors import BadInput, PolicyDenied

WELL_KNOWN = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com/v1"}
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


def upstream(model: str, url: str | None, key: SecretStr | None, allowed: Collection[str] = ()) -> Upstream:
    """`model`: PROVIDER:NAME. `url`: another server of that protocol. `allowed`: who may see code; empty: anybody.

    Raises PolicyDenied for a host that is not among them, BadInput for what is no address of a model.
    """
    provider, _, name = model.partition(":")
    if provider not in WELL_KNOWN or not name:
        raise BadInput(f"{model!r} is no model; write PROVIDER:NAME with one of {', '.join(WELL_KNOWN)}")
    try:
        address = httpx.URL(url or WELL_KNOWN[provider])
    except httpx.InvalidURL:
        raise BadInput("SWEEPER_MODEL_URL is no address; write https://host/path") from None
    if address.scheme not in ("http", "https") or not address.host or address.userinfo:
        raise BadInput("SWEEPER_MODEL_URL must be https://host/path without a login; the key goes in SWEEPER_MODEL_KEY")
    if allowed and address.host.lower() not in {host.lower() for host in allowed}:
        raise PolicyDenied(
            f"Code may not be sent to {address.host}; add it to SWEEPER_MODEL_PROVIDERS, or take another one"
        )
    return Upstream(provider, name, _base(provider, address), key)


def _base(provider: str, address: httpx.URL) -> str:
    base = str(address.copy_with(query=None, fragment=None)).rstrip("/")
    if provider == "openai" and address.path.strip("/"):
        return base
    return f"{base.removesuffix('/v1')}/v1"


def client() -> httpx.AsyncClient:
    """Follows nothing and remembers nothing."""
    jar = CookieJar(policy=DefaultCookiePolicy(allowed_domains=[]))
    return httpx.AsyncClient(timeout=_TIMEOUT, follow_redirects=False, cookies=jar)


def passed_back(answer: httpx.Response) -> dict[str, str]:
    """What an agent may see of an answer's head: no cookie, nothing of the connection, no account's name."""
    return {name: answer.headers[name] for name in _PASSED_BACK if name in answer.headers}
