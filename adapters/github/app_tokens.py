"""A GitHub App: its key signs short JWTs, these buy tokens: narrow, cached, renewed, in memory only."""

import threading
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta

import jwt
from github import Auth
from pydantic import JsonValue, SecretStr

from adapters.github.errors import Call, Refused
from adapters.github.replies import AppReply, InstallationReply, TokenReply
from adapters.github.settings import GitHubAccess
from adapters.github.transport import Connections, ask, read, requester
from sweeper.errors import AuthBroken

PERMISSIONS: dict[str, str] = {
    "actions": "write",
    "checks": "write",
    "contents": "write",
    "metadata": "read",
    "pull_requests": "write",
    "statuses": "read",
}
"""All an installation token of ours may do. No `workflows`: a proposal never changes a workflow file.

*actions* to write, because a failure of a runner or a flaky test is answered by having the failed jobs run again.
"""

MODEST = PERMISSIONS | {"actions": "read", "checks": "read"}
"""For an app that was granted no more: no jobs run again, there is no check run of ours, and all else works."""

RENEW_BEFORE = timedelta(minutes=10)
"""A token handed to git must outlive the longest push or fetch."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


class AppTokens:
    """A GitHub App: its key signs short JWTs, these buy installation tokens for one repository each.

    For a repository one token is bought at a time, however many ask for it.
    """

    def __init__(
        self,
        access: GitHubAccess,
        app_id: int,
        private_key: str,
        clock: Callable[[], datetime] = _utc_now,
    ) -> None:
        auth = _signing(app_id, private_key)
        self._clock = clock
        self._app_id = app_id
        self._connections = Connections(lambda: requester(access, auth))
        self._cached: dict[str, TokenReply] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._login: str | None = None

    @property
    def app_id(self) -> int | None:
        """As configured."""
        return self._app_id

    def login(self) -> str:
        """`<app slug>[bot]`, the user GitHub shows for an app's writes."""
        return self._login or self._ask_login()

    def check(self) -> str:
        """The bot, and the accounts it is installed on."""
        call = Call("GET", "/app/installations")
        login, answer = self._ask_login(), self._ask(call)
        found = [read(InstallationReply, item, call) for item in answer] if isinstance(answer, list) else []
        return f"{login}, {where_usable(self._app_id, found)}"

    def _ask_login(self) -> str:
        call = Call("GET", "/app")
        self._login = read(AppReply, self._ask(call), call).slug + "[bot]"
        return self._login

    def token(self, repository: str) -> SecretStr:
        """The cached one, or a new one when it is about to end. Buying twice is harmless: the older one just ages."""
        with self._locks.setdefault(repository, threading.Lock()):
            cached = self._cached.get(repository)
            if cached is None or cached.expires_at - RENEW_BEFORE <= self._clock():
                cached = self._cached[repository] = self._buy(repository)
            return cached.token

    def forget(self, repository: str, refused: SecretStr) -> bool:
        """It may have been revoked, or GitHub's clock is ahead of ours. A newer one that somebody bought stays."""
        with self._locks.setdefault(repository, threading.Lock()):
            cached = self._cached.get(repository)
            if cached is not None and cached.token == refused:
                del self._cached[repository]
        return bool(refused.get_secret_value())

    def payer(self, repository: str) -> str:
        """The account of the repository: an app has one installation on each."""
        return repository.partition("/")[0].casefold()

    def _buy(self, repository: str) -> TokenReply:
        where = Call("GET", f"/repos/{repository}/installation")
        try:
            installation = read(InstallationReply, self._ask(where, refusable={404}), where)
        except Refused:
            raise AuthBroken(
                f"Install app {self._app_id} on {repository}: GitHub knows no installation there."
            ) from None
        call = Call("POST", f"/app/installations/{installation.id}/access_tokens")
        try:
            return self._narrow_token(call, repository, rights_within(installation.permissions))
        except Refused as refused:
            raise AuthBroken(
                f"Give app {self._app_id} its permissions on {repository} and end any suspension: "
                f"{call} was answered {refused.status} {refused.reason}."
            ) from None

    def _narrow_token(self, call: Call, repository: str, rights: dict[str, str]) -> TokenReply:
        """For that repository only; an old name is not known here: then for the installation's."""
        repositories = [repository.partition("/")[2]]
        while True:
            narrow: dict[str, JsonValue] = {"repositories": [*repositories]} if repositories else {}
            try:
                answer = self._ask(call, {"permissions": {**rights}, **narrow}, refusable={403, 404, 422})
                return read(TokenReply, answer, call)
            except Refused as refused:
                if refused.says("repositor") and repositories:
                    repositories = []
                elif refused.says("permissions") and rights is not MODEST:
                    rights = MODEST
                else:
                    raise

    def _ask(self, call: Call, body: JsonValue = None, refusable: Collection[int] = ()) -> JsonValue:
        with self._connections.borrow() as connection:
            return ask(connection, call, body=body, refusable=refusable).data

    def close(self) -> None:
        """Close connections."""
        self._connections.close()


def rights_within(granted: dict[str, str]) -> dict[str, str]:
    """What to ask a token for: GitHub refuses more than was granted, so what we can do without is left out."""
    if not granted:
        return PERMISSIONS
    return {
        name: right if granted.get(name) in (right, "write") else MODEST[name] for name, right in PERMISSIONS.items()
    }


def where_usable(app_id: int, installations: list[InstallationReply]) -> str:
    """On how many accounts the app can work, what is wrong on the others, and what it must do without.

    Raises AuthBroken if it can work on none.
    """
    if not installations:
        raise AuthBroken(f"Install app {app_id} on an account: it is installed nowhere.")
    problems = {one.name: _problem(one) for one in installations}
    broken = "; ".join(f"{name}: {problem}" for name, problem in problems.items() if problem)
    usable = sum(not problem for problem in problems.values())
    if not usable:
        raise AuthBroken(f"Mend the installation of app {app_id} on {broken}.")
    lacking = [f"{one.name}: {_missing(one, PERMISSIONS)}" for one in installations if not problems[one.name]]
    without = "; ".join(said for said in lacking if "=" in said)
    return (
        f"installed on {usable} account(s)"
        + (f"; not usable on {broken}" if broken else "")
        + (f"; does without some of its work on {without}" if without else "")
    )


def _problem(installation: InstallationReply) -> str:
    return "suspended" if installation.suspended_at is not None else _missing(installation, MODEST)


def _missing(installation: InstallationReply, wanted: dict[str, str]) -> str:
    granted = installation.permissions
    missing = [f"{name}={right}" for name, right in wanted.items() if granted.get(name) not in (right, "write")]
    return f"not granted {', '.join(missing)}" if granted and missing else ""


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
