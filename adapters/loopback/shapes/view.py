"""What a shape is built from: the state, and addresses with the host and port the caller used."""

import base64
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

from adapters.loopback.core.lookup import full_name
from adapters.loopback.core.state import Repo, State, User

Json = dict[str, object]


@dataclass(frozen=True)
class Urls:
    """The addresses of all faces under one host and port (PyGithub refuses an answer that names another)."""

    base: str

    @property
    def html(self) -> str:
        """Pages."""
        return f"{self.base}/web"

    @property
    def git(self) -> str:
        """Git smart HTTP."""
        return f"{self.base}/git"

    @property
    def drive(self) -> str:
        """The drive API."""
        return f"{self.base}/_drive"


@dataclass(frozen=True)
class View:
    """State plus addresses."""

    state: State
    urls: Urls

    def api(self, repo: Repo) -> str:
        """A repository's address in REST."""
        return f"{self.urls.base}/repos/{full_name(self.state, repo)}"

    def html(self, repo: Repo) -> str:
        """A repository's page."""
        return f"{self.urls.html}/{full_name(self.state, repo)}"

    def owner(self, repo: Repo) -> User:
        """Who owns a repository."""
        return self.state.users[repo.owner_id]


def iso(when: datetime | None) -> str | None:
    """A date as GitHub writes it."""
    return None if when is None else when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def node_id(kind: str, number: int) -> str:
    """An opaque global id, as GraphQL takes it."""
    return f"{kind}_{base64.urlsafe_b64encode(str(number).encode()).decode().rstrip('=')}"


def escaped(path: str) -> str:
    """A path for an address."""
    return quote(path, safe="/")
