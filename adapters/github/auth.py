"""As whom we act: a fixed token, or a GitHub App whose installation tokens are narrow, cached and renewed.

Tokens live in memory only.
"""

import threading
from typing import Protocol

from github import Auth
from pydantic import SecretStr

from adapters.github.app_tokens import AppTokens
from adapters.github.errors import Call
from adapters.github.replies import PersonReply
from adapters.github.settings import GitHubAccess
from adapters.github.transport import ask, read, requester
from sweeper.errors import AuthBroken


class Tokens(Protocol):
    """Who we are and what proves it."""

    @property
    def app_id(self) -> int | None:
        """The app whose check runs are ours; None: a token's app is not known."""
        ...

    def login(self) -> str:
        """The login our writes appear under; asked once."""
        ...

    def token(self, repository: str) -> SecretStr:
        """A token good for that repository now."""
        ...

    def forget(self, repository: str, refused: SecretStr) -> bool:
        """GitHub refused that token. True: another one can be had, so one more try makes sense."""
        ...

    def payer(self, repository: str) -> str:
        """Whose limits a write there counts against: writes of one payer are paced together."""
        ...

    def check(self) -> str:
        """Ask GitHub who we are, right now; one line for a person. Raises AuthBroken when we are refused."""
        ...

    def close(self) -> None:
        """Close connections."""
        ...


class RepositoryAuth(Auth.Auth):
    """PyGithub's view of `Tokens`: asked at each request, so a renewed token is used at once. `used`: the last one."""

    def __init__(self, tokens: Tokens, repository: str) -> None:
        self._tokens = tokens
        self._repository = repository
        self.used = SecretStr("")

    @property
    def token_type(self) -> str:
        """The scheme of the Authorization header."""
        return "Bearer"

    @property
    def token(self) -> str:
        """The token for this repository."""
        self.used = SecretStr("")
        self.used = self._tokens.token(self._repository)
        return self.used.get_secret_value()


class FixedToken:
    """A token from the settings, the same for all repositories."""

    def __init__(self, access: GitHubAccess, token: SecretStr) -> None:
        self._token = token
        self._connection = requester(access, Auth.Token(token.get_secret_value()))
        self._login: str | None = None
        self._lock = threading.Lock()

    @property
    def app_id(self) -> int | None:
        """Not known."""
        return None

    def login(self) -> str:
        """The user the token belongs to."""
        return self._login or self.check()

    def check(self) -> str:
        """The user the token belongs to."""
        call = Call("GET", "/user")
        with self._lock:
            self._login = read(PersonReply, ask(self._connection, call).data, call).login
            return self._login

    def token(self, repository: str) -> SecretStr:  # noqa: ARG002 - the port's shape
        """Always the same."""
        return self._token

    def forget(self, repository: str, refused: SecretStr) -> bool:  # noqa: ARG002 - the port's shape
        """There is no other."""
        return False

    def payer(self, repository: str) -> str:  # noqa: ARG002 - the port's shape
        """The token's user, everywhere."""
        return "token"

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def tokens_for(access: GitHubAccess) -> Tokens:
    """The identity the settings name. Raises AuthBroken when the key file cannot be used."""
    if access.token is not None:
        return FixedToken(access, access.token)
    if access.app_id is None or access.app_key_file is None:
        raise AuthBroken("Set SWEEPER_GITHUB_TOKEN, or SWEEPER_APP_ID and SWEEPER_APP_KEY_FILE.")
    try:
        private_key = access.app_key_file.read_text()
    except OSError as error:
        raise AuthBroken(f"Make SWEEPER_APP_KEY_FILE a readable file: {error.strerror}.") from None
    return AppTokens(access, access.app_id, private_key)
