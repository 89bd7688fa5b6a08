"""As whom we act: a fixed token, or a GitHub App whose installation tokens are narrow, cached and renewed.

Tokens live in memory only.
"""

import threading
from datetime import UTC, datetime, timedelta
from typing import Protocol

import jwt
from github import Auth
from github.Requester import Requester
from pydantic import JsonValue, SecretStr

from adapters.github.errors import Call, Refused, is_rate_limit, meaning
from adapters.github.replies import AppReply, InstallationReply, PersonReply, TokenReply
from adapters.github.settings import GitHubAccess
from adapters.github.transport import ask, read, requester
from sweeper.errors import AuthBroken, NotFound

PERMISSIONS: dict[str, JsonValue] = {
    "actions": "read",
    "checks": "write",
    "contents": "write",
    "metadata": "read",
    "pull_requests": "write",
    "statuses": "read",
}
"""All an installation token of ours may do. No `workflows`: a proposal never changes a workflow file."""

RENEW_BEFORE = timedelta(minutes=10)
"""A token handed to git must outlive the longest push or fetch."""


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

    def forget(self, repository: str) -> bool:
        """GitHub refused the token. True: another one can be had, so one more try makes sense."""
        ...

    def close(self) -> None:
        """Close connections."""
        ...


class RepositoryAuth(Auth.Auth):
    """PyGithub's view of `Tokens`: asked at each request, so a renewed token is used at once."""

    def __init__(self, tokens: Tokens, repository: str) -> None:
        self._tokens = tokens
        self._repository = repository

    @property
    def token_type(self) -> str:
        """The scheme of the Authorization header."""
        return "Bearer"

    @property
    def token(self) -> str:
        """The token for this repository."""
        return self._tokens.token(self._repository).get_secret_value()


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
        with self._lock:
            if self._login is None:
                call = Call("GET", "/user")
                self._login = read(PersonReply, ask(self._connection, call).data, call).login
            return self._login

    def token(self, repository: str) -> SecretStr:  # noqa: ARG002 - the port's shape
        """Always the same."""
        return self._token

    def forget(self, repository: str) -> bool:  # noqa: ARG002 - the port's shape
        """There is no other."""
        return False

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class AppTokens:
    """A GitHub App: its key signs short JWTs, these buy installation tokens for one repository each."""

    def __init__(self, access: GitHubAccess, app_id: int, private_key: str) -> None:
        self._app_id = app_id
        self._connection: Requester = requester(access, _signing(app_id, private_key))
        self._cached: dict[str, TokenReply] = {}
        self._login: str | None = None
        self._lock = threading.Lock()

    @property
    def app_id(self) -> int | None:
        """As configured."""
        return self._app_id

    def login(self) -> str:
        """`<app slug>[bot]`, the user GitHub shows for an app's writes."""
        with self._lock:
            if self._login is None:
                call = Call("GET", "/app")
                self._login = read(AppReply, ask(self._connection, call).data, call).slug + "[bot]"
            return self._login

    def token(self, repository: str) -> SecretStr:
        """The cached one, or a new one when it is about to end. Buying twice is harmless: the older one just ages."""
        with self._lock:
            cached = self._cached.get(repository)
            if cached is None or cached.expires_at - RENEW_BEFORE <= datetime.now(UTC):
                cached = self._cached[repository] = self._buy(repository)
            return cached.token

    def _buy(self, repository: str) -> TokenReply:
        where = Call("GET", f"/repos/{repository}/installation")
        try:
            installation = read(InstallationReply, ask(self._connection, where, refusable={404}).data, where)
        except Refused:
            raise NotFound(f"Install app {self._app_id} on {repository}: GitHub knows no installation there.") from None
        call = Call("POST", f"/app/installations/{installation.id}/access_tokens")
        try:
            return self._narrow_token(call, repository)
        except Refused as refused:
            if is_rate_limit(refused):
                raise meaning(refused, call, datetime.now(UTC)) from None
            raise AuthBroken(
                f"Give app {self._app_id} its permissions on {repository} and end any suspension: "
                f"{call} was answered {refused.status} {refused.reason}."
            ) from None

    def _narrow_token(self, call: Call, repository: str) -> TokenReply:
        """For that repository only; an old name is not known here: then for the installation's."""
        wish: dict[str, JsonValue] = {"permissions": PERMISSIONS, "repositories": [repository.partition("/")[2]]}
        try:
            answer = ask(self._connection, call, body=wish, refusable={403, 422})
        except Refused as refused:
            if not refused.says("repositor"):
                raise
            answer = ask(self._connection, call, body={"permissions": PERMISSIONS}, refusable={403, 422})
        return read(TokenReply, answer.data, call)

    def forget(self, repository: str) -> bool:
        """Drop the cached token: it may have been revoked, or GitHub's clock is ahead of ours."""
        with self._lock:
            return self._cached.pop(repository, None) is not None

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _signing(app_id: int, private_key: str) -> Auth.AppAuth:
    """The app's signature, tried once now so that a file that is no RSA key is named at start."""
    try:
        app = Auth.AppAuth(app_id, private_key)
        app.create_jwt()
    except (jwt.PyJWTError, ValueError, TypeError, AssertionError) as error:
        raise AuthBroken(
            f"Put the PEM private key of app {app_id} into SWEEPER_APP_KEY_FILE: what is there cannot sign "
            f"({type(error).__name__})."
        ) from None
    return app


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
