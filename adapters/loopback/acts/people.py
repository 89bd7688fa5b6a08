"""Users and their rights."""

import secrets

from adapters.loopback.core.lookup import user_named
from adapters.loopback.core.state import Permission, Repo, State, User
from adapters.loopback.core.store import Store


def new_user(store: Store, login: str, kind: str = "User") -> User:
    """A user without rights, with a token of its own."""
    user = User(id=store.new_id(), login=login, type=kind, token=f"ghp_{secrets.token_hex(18)}")
    store.state.users[user.id] = user
    return user


def known_or_new(store: Store, login: str, kind: str = "User") -> User:
    """The user of that login; made, without rights, if there is none."""
    return user_named(store.state, login) or new_user(store, login, kind)


def grant(user: User, permission: Permission, repo: Repo | None) -> None:
    """Set the right on one repository, or on all."""
    if repo is None:
        user.permission = permission
    else:
        repo.permissions[user.id] = permission


def identity(state: State, user: User) -> tuple[str, str]:
    """Name and e-mail in commits."""
    bot = "[bot]" in user.login or (state.app is not None and user.id == state.app.bot_id)
    return user.login, f"{user.id}+{user.login}@users.noreply.github.com" if bot else f"{user.login}@example.org"
