"""Where our credentials let us work: an app's installations, or what a token may push to. Reads only."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from github import Auth
from github.Requester import Requester

from adapters.github.client import MOST_PAGES, next_page
from adapters.github.errors import Call, Refused
from adapters.github.replies import InstallationReply, PersonReply, RepositoryReply, TokenReply
from adapters.github.settings import GitHubAccess
from adapters.github.transport import Reply, ask, read, requester
from sweeper.model import Wire
from sweeper.model.upkeep import RepositoryRef


class _Rights(Wire):
    """What the token's owner may do."""

    push: bool = False


class _Listed(RepositoryReply):
    """A repository in a list. `permissions` is left out where an app asks: an installation is a right of its own."""

    archived: bool = False
    disabled: bool = False
    permissions: _Rights | None = None

    @property
    def is_workable(self) -> bool:
        """Whether a fix could be pushed there."""
        may_push = self.permissions is None or self.permissions.push
        return may_push and not (self.archived or self.disabled)


def repositories_of(access: GitHubAccess, *, of_a_person: bool = True) -> tuple[RepositoryRef, ...]:
    """All of them. A token that has no user (an Actions token) sees none by itself: empty, not an error.

    `of_a_person` False: a token that is a person's lists nothing. People may push to far more than they mean to have
    looked after; an app's installations and a bot's rights were given for this.
    """
    if access.token is None:
        found = _of_app(access)
    else:
        found = _of_token(access, access.token.get_secret_value(), of_a_person=of_a_person)
    return tuple(RepositoryRef(id=reply.id, name=reply.full_name) for reply in found if reply.is_workable)


def _of_token(access: GitHubAccess, token: str, *, of_a_person: bool) -> Iterator[_Listed]:
    connection = requester(access, Auth.Token(token))
    try:
        if not of_a_person and _is_a_persons(connection):
            return
        yield from _pages(connection, _Listed, "/user/repos")
    except Refused:
        return
    finally:
        connection.close()


def _is_a_persons(connection: Requester) -> bool:
    call = Call("GET", "/user")
    return read(PersonReply, ask(connection, call, refusable={403}).data, call).type == "User"


def _of_app(access: GitHubAccess) -> Iterator[_Listed]:
    """Each installation lists its own, with a token that may do nothing but look at names."""
    if access.app_id is None or access.app_key_file is None:
        return
    app = requester(access, Auth.AppAuth(access.app_id, access.app_key_file.read_text()))
    try:
        for installation in _pages(app, InstallationReply, "/app/installations"):
            call = Call("POST", f"/app/installations/{installation.id}/access_tokens")
            try:
                bought = ask(app, call, body={"permissions": {"metadata": "read"}}, refusable={403, 404, 422})
            except Refused:  # suspended or gone: nothing to work on there
                continue
            token = read(TokenReply, bought.data, call).token.get_secret_value()
            yield from _of_installation(access, token)
    finally:
        app.close()


def _of_installation(access: GitHubAccess, token: str) -> Iterator[_Listed]:
    connection = requester(access, Auth.Token(token))
    try:
        # GitHub fills `permissions` with the app's own here, where push may read false for an app that may push.
        for reply in _pages(connection, _Listed, "/installation/repositories", within="repositories"):
            yield reply.model_copy(update={"permissions": None})
    finally:
        connection.close()


def _pages(connection: Requester, model: type[Reply], path: str, within: str | None = None) -> Iterator[Reply]:
    call = page = Call("GET", path)
    query: Mapping[str, str] = {"per_page": "100"}
    for _ in range(MOST_PAGES):
        answer = ask(connection, page, query, refusable={403, 404})
        found = answer.data.get(within) if within and isinstance(answer.data, dict) else answer.data
        yield from (read(model, item, call) for item in (found if isinstance(found, list) else ()))
        following = next_page(answer.headers)
        if following is None:
            return
        page, query = replace(call, page=following), {}
