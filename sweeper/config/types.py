"""How single settings are written: durations, lists, addresses to listen on."""

import ipaddress
import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_core import from_json
from pydantic_settings import NoDecode

from sweeper.model import Strict

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h|d)")
_LONGEST = timedelta(days=3650)


def parse_duration(value: object) -> object:
    """`90s`, `15m`, `36h`, `7d`, `500ms` as a timedelta of at most ten years. Raises ValueError."""
    if isinstance(value, timedelta):
        return value
    match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ValueError("a duration is a number with a unit, like 90s, 15m, 36h or 7d")
    duration = timedelta(seconds=float(match[1]) * _UNITS[match[2]])
    if duration > _LONGEST:
        raise ValueError(f"a duration is at most {_LONGEST.days}d")
    return duration


Duration = Annotated[timedelta, BeforeValidator(parse_duration)]
"""A length of time, written like `90s` or `7d`."""


def _split(value: object, separator: str) -> object:
    if not isinstance(value, str):
        return value
    return tuple(part for part in map(str.strip, value.split(separator)) if part)


CommaList = BeforeValidator(lambda value: _split(value, ","))
"""One text, parts between commas; a TOML list as well."""

LineList = BeforeValidator(lambda value: _split(value, "\n"))
"""One text, a part on each line; a TOML list as well."""


def upper(value: object) -> object:
    """Capital letters, for names that people write either way."""
    return value.upper() if isinstance(value, str) else value


def parse_json(value: object) -> object:
    """A table of settings written into one variable. Raises ValueError."""
    if not isinstance(value, str):
        return value
    try:
        return from_json(value)
    except ValueError:
        raise ValueError('it is no JSON; write a table like {"name": 20}') from None


class ListenAddress(Strict):
    """Where a listener binds: a host and port (0: any free one), or a unix socket."""

    host: str = ""
    port: int = Field(default=0, ge=0, le=65535)
    socket_path: Path | None = None


def parse_listen(value: object) -> object:
    """`127.0.0.1:8470`, `[::1]:8470`, `:8470` (every address) or `unix:/run/sweeper.sock`. Raises ValueError."""
    if not isinstance(value, str):
        return value
    if value.startswith("unix:"):
        return ListenAddress(socket_path=Path(value.removeprefix("unix:")))
    host, colon, port = value.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise ValueError("an address to listen on is HOST:PORT, [IPV6]:PORT or unix:PATH")
    return ListenAddress(host=host.strip("[]") or "0.0.0.0", port=int(port))  # noqa: S104  the operator wrote `:PORT`


def _only_here(address: ListenAddress) -> ListenAddress:
    """The admin side shows logs and knows no users, so nobody else's machine may reach it."""
    if address.socket_path or address.host == "localhost":
        return address
    try:
        if ipaddress.ip_address(address.host).is_loopback:
            return address
    except ValueError:
        pass
    raise ValueError("the admin listener serves this machine alone; use 127.0.0.1:PORT, [::1]:PORT or unix:PATH")


PublicAddress = Annotated[ListenAddress, NoDecode, BeforeValidator(parse_listen)]
"""Anywhere the operator likes."""

AdminAddress = Annotated[ListenAddress, NoDecode, BeforeValidator(parse_listen), AfterValidator(_only_here)]
"""A loopback address or a unix socket."""


class Place(Strict):
    """Exactly one host and port that may be reached."""

    host: str
    port: int = Field(ge=1, le=65535)


_HOST_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")


def parse_place(value: object) -> object:
    """`host:port` or `[IPV6]:port`, with nothing left open. Raises ValueError."""
    if not isinstance(value, str):
        return value
    host, _, port = value.strip().lower().rpartition(":")
    try:
        if host.startswith("[") and host.endswith("]"):
            host = str(ipaddress.IPv6Address(host[1:-1]))
        elif not _HOST_NAME.fullmatch(host):
            raise ValueError
        return Place(host=host, port=int(port))
    except ValueError:
        raise ValueError("each place is exactly host:port, like pypi.example.com:443, without wildcards") from None


class RegistryAddress(Strict):
    """Where one kind of packages comes from. The address may hold credentials."""

    kind: str
    url: SecretStr


def parse_registry(value: object) -> object:
    """`kind=https://[user:password@]host/path`. Raises ValueError, which never shows the address."""
    if not isinstance(value, str):
        return value
    kind, equals, url = (part.strip() for part in value.partition("="))
    if not equals or not kind.isalnum() or not url.startswith(("https://", "http://")):
        raise ValueError("each registry is KIND=URL, like pypi=https://host/simple")
    return RegistryAddress(kind=kind, url=SecretStr(url))
