"""What git needs from outside. In memory only: never in the history, a URL, a file or an argument."""

from pydantic import SecretStr

from sweeper.model.base import Instant, Strict


class GitAccess(Strict):
    """Where to fetch and push, and with what. The token is never put into a URL, a file, an argument or the history."""

    url: str
    token: SecretStr | None = None


class CommitMeta(Strict):
    """Message, author and date of a commit. All fixed by the caller, so the same tree gives the same commit."""

    message: str
    name: str
    email: str
    date: Instant
