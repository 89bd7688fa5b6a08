"""The first start on a directory: the app, its key, its installation, its bot; and the lock on the directory."""

import fcntl
import secrets
from pathlib import Path
from typing import IO

from adapters.loopback.acts.people import new_user
from adapters.loopback.auth import make_key
from adapters.loopback.core.state import App, Permission
from adapters.loopback.core.store import ROOMS, STATE_FILE, Store
from sweeper.errors import BadInput

SLUG = "ci-sweeper"
KEY_FILE = "app.pem"
_OURS = frozenset({KEY_FILE, "lock", *ROOMS, Path(STATE_FILE).with_suffix(".new").name})


def take(directory: Path) -> IO[str]:
    """Make the directory (0700) and lock it for as long as the file is open.

    Raises BadInput when it is in use, or holds something else: then nothing is put there.
    """
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    _refuse_foreign(directory)
    lock = (directory / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise BadInput(f"Another loopback uses {directory}; stop it or give another --state directory.") from error
    return lock


def _refuse_foreign(directory: Path) -> None:
    """A first start that was killed left only names of ours; with a document of ours there it is our directory."""
    if (directory / STATE_FILE).exists():
        return
    foreign = sorted(entry.name for entry in directory.iterdir() if entry.name not in _OURS)
    if foreign:
        raise BadInput(f"{directory} holds {foreign[0]!r}, which is not a loopback's; give an empty --state directory.")


def found(store: Store, secret: str | None) -> App:
    """The app of this directory; made at the first start. A `secret` that is given replaces the one kept."""
    make_key(store.directory / KEY_FILE)
    app = store.state.app
    if app is None:
        app = store.state.app = _new_app(store, secret or secrets.token_hex(20))
    if secret:
        app.webhook_secret = secret
    store.save()
    return app


def _new_app(store: Store, secret: str) -> App:
    owner = new_user(store, "loopback", "Organization")
    bot = new_user(store, f"{SLUG}[bot]", "Bot")
    bot.permission = Permission.WRITE
    return App(
        id=store.new_id(),
        slug=SLUG,
        installation_id=store.new_id(),
        owner_id=owner.id,
        bot_id=bot.id,
        webhook_secret=secret,
        created_at=store.now(),
    )
