"""The state directory: what lies where in it, and the two secrets made on first start.

One state directory is one host. Everything in it is for its owner alone.
"""

import os
import secrets
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from sweeper.config.settings import Settings
from sweeper.errors import BadInput

_SECRET_LENGTH = 32


@dataclass(frozen=True)
class StateDir:
    """The places in a state directory. Each is made by whoever owns it, the two secrets by `prepare_state_dir`."""

    root: Path

    @property
    def admin_token_file(self) -> Path:
        """Opens the admin listener."""
        return self.root / "admin-token"

    @property
    def marker_key_file(self) -> Path:
        """Signs the markers in our pull requests and comments."""
        return self.root / "marker-key"

    @property
    def artifacts(self) -> Path:
        """Big texts by digest."""
        return self.root / "artifacts"

    @property
    def worktrees(self) -> Path:
        """Mirrors and worktrees, with their locks and the id of this host."""
        return self.root / "worktrees"

    @property
    def loopback(self) -> Path:
        """State of the GitHub on loopback that `demo` and `try` start."""
        return self.root / "loopback"

    @property
    def logs(self) -> Path:
        """What the processes we start write."""
        return self.root / "logs"


def prepare_state_dir(settings: Settings) -> StateDir:
    """The state directory, there, private (0700) and with its two secrets (0600).

    Safe for several processes at once: a secret appears whole or not at all, and whoever comes second uses the first
    one's. Raises BadInput if the directory cannot be made, made private or used.
    """
    state = StateDir(settings.state_dir.expanduser().absolute())
    try:
        state.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        _make_private(state.root)
        _read_or_make(state.marker_key_file)
        _read_or_make(state.admin_token_file)
    except OSError as error:
        raise _unusable(state.root, error) from None
    return state


def private_room(settings: Settings, *names: str) -> Path:
    """A directory of a command's own below the state directory, closed to others like that one, without its secrets.

    Raises BadInput if the state directory cannot be made, made private or used.
    """
    place = settings.state_dir.expanduser().absolute()
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        _make_private(place)
        for name in names:
            place /= name
            place.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise _unusable(place, error) from None
    return place


def _unusable(place: Path, error: OSError) -> BadInput:
    return BadInput(
        f"The state directory {place} cannot be used ({error.strerror}); set SWEEPER_STATE_DIR to another one."
    )


def marker_key(settings: Settings, state: StateDir) -> bytes:
    """The key that signs our markers: SWEEPER_MARKER_KEY, else the one in the state directory."""
    text = settings.marker_key.get_secret_value() if settings.marker_key else _read_or_make(state.marker_key_file)
    return text.strip().encode()


def admin_token(state: StateDir) -> SecretStr:
    """The token that opens the admin listener."""
    return SecretStr(_read_or_make(state.admin_token_file))


def _make_private(root: Path) -> None:
    mode = root.stat().st_mode
    if mode & stat.S_ISVTX:
        raise BadInput(f"{root} is a directory shared by all users; set SWEEPER_STATE_DIR to one of your own.")
    if mode & 0o077:
        root.chmod(0o700)


def _read_or_make(path: Path) -> str:
    if not path.exists():
        make_secret(path)
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
    text = path.read_text().strip()
    if len(text) < _SECRET_LENGTH:
        raise BadInput(f"{path} is no usable secret; restore it, or remove it to have a new one made.")
    return text


def make_secret(path: Path) -> None:
    """Put a new secret there, unless there is one.

    Written aside and then linked into place, so nobody ever reads half a secret and nobody's is overwritten.
    """
    handle, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_hex(_SECRET_LENGTH) + "\n")
            file.flush()
            os.fsync(file.fileno())
        path.hardlink_to(draft)
    except FileExistsError:
        pass
    finally:
        Path(draft).unlink(missing_ok=True)
