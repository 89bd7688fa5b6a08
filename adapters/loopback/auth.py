"""Who calls: the app by JWT, its installation by `ghs_` token, the bot by the static token, a person by theirs."""

import base64
import binascii
import hmac
import secrets
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from adapters.loopback.core.refusals import Refused
from adapters.loopback.core.state import InstallationToken, User
from adapters.loopback.hub import Hub

TOKEN_LIFE = timedelta(hours=1)
MAX_JWT_LIFE_S = 600


class Kind(StrEnum):
    """How a caller proved who it is."""

    APP = "app"
    INSTALLATION = "installation"
    USER = "user"


@dataclass(frozen=True)
class Caller:
    """Who calls. `repositories`: what an installation token is limited to, None for no limit."""

    user: User
    kind: Kind
    repositories: list[int] | None = None


def make_key(file: Path) -> None:
    """Write a new RSA key for the app, mode 0600, if there is none."""
    if file.exists():
        return
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file.touch(mode=0o600)
    file.write_bytes(pem)


def credential(header: str | None) -> str | None:
    """The token of an Authorization header: Bearer, token, or Basic with the token as password."""
    scheme, _, value = (header or "").partition(" ")
    if scheme.lower() in ("bearer", "token"):
        return value.strip() or None
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(value, validate=True).decode().partition(":")[2] or None
        except (binascii.Error, UnicodeDecodeError):
            return None
    return None


def identify(hub: Hub, header: str | None) -> Caller:
    """Raises Refused 401 as GitHub words it, 403 when the installation is suspended."""
    token = credential(header)
    if token is None:
        raise Refused(401, "Requires authentication")
    if token.count(".") == 2:
        return _app(hub, token)
    for user in hub.state.users.values():
        if hmac.compare_digest(user.token, token):
            if user.id == hub.app.bot_id:
                _refuse_suspended(hub)
            return Caller(user, Kind.USER)
    for known in hub.app.tokens:
        if hmac.compare_digest(known.token, token) and hub.store.now() < known.expires_at and hub.app.installed:
            _refuse_suspended(hub)
            return Caller(hub.bot, Kind.INSTALLATION, known.repositories)
    raise Refused(401, "Bad credentials")


def _refuse_suspended(hub: Hub) -> None:
    if hub.app.suspended:
        raise Refused(403, "This installation has been suspended")


def _app(hub: Hub, token: str) -> Caller:
    """Checked against the machine's time, not ours: the caller cannot know how far our clock was advanced."""
    public = serialization.load_pem_private_key(Path(hub.info.app_key_file).read_bytes(), None).public_key()
    if not isinstance(public, rsa.RSAPublicKey):
        raise Refused(401, "A JSON web token could not be decoded")
    try:
        claims = jwt.decode(
            token, public, algorithms=["RS256"], options={"require": ["exp", "iat", "iss"], "verify_iss": False}
        )
    except jwt.ExpiredSignatureError:
        raise Refused(401, "'Expiration time' claim ('exp') must be a numeric value representing the future time at "
                           "which the assertion expires") from None  # fmt: skip
    except jwt.PyJWTError:
        raise Refused(401, "A JSON web token could not be decoded") from None
    if int(claims["exp"]) - int(claims["iat"]) > MAX_JWT_LIFE_S + 60:
        raise Refused(401, "'Expiration time' claim ('exp') is too far in the future")
    if str(claims["iss"]) not in (str(hub.app.id), f"Iv1.{hub.app.id:016x}"):
        raise Refused(401, "Integration not found")
    return Caller(hub.bot, Kind.APP)


def new_installation_token(hub: Hub, repositories: list[int] | None) -> InstallationToken:
    """A token for an hour of GitHub's clock. Tokens that ran out are forgotten."""
    now = hub.store.now()
    token = InstallationToken(
        token=f"ghs_{secrets.token_urlsafe(40).replace('-', 'A').replace('_', 'B')}",
        expires_at=now + TOKEN_LIFE,
        repositories=repositories,
    )
    hub.app.tokens = [known for known in hub.app.tokens if known.expires_at > now] + [token]
    return token
