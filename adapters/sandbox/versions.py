"""Which programs that setup actions install are here, and in which versions."""

import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from sweeper.model import Tool

_SECONDS = 10.0
_NOWHERE = "/nonexistent"
"""As HOME: what a program would read there is not there inside either (so rustup finds no toolchain)."""
_VERSION = re.compile(r"(?<![\d.])\d+(?:\.\d+)*")
_MINOR_VERSIONS = range(8, 20)


@dataclass(frozen=True)
class _Asked:
    tool: str
    program: str
    words: tuple[str, ...] = ("--version",)


_ALL = (
    _Asked("python", "python3"),
    *(_Asked("python", f"python3.{minor}") for minor in _MINOR_VERSIONS),
    _Asked("node", "node"),
    _Asked("npm", "npm"),
    _Asked("java", "java"),
    _Asked("go", "go", ("version",)),
    _Asked("rust", "rustc"),
    _Asked("ruby", "ruby"),
    _Asked("uv", "uv"),
    _Asked("poetry", "poetry"),
)


def installed_tools(which: Callable[[str], str | None], search_path: Sequence[str]) -> tuple[Tool, ...]:
    """Each that was found and says its version, the one a command finds first at the front. They are the operator's."""
    env = {"PATH": ":".join(search_path), "HOME": _NOWHERE, "LANG": "C.UTF-8"}
    found = [(asked, path) for asked in _ALL if (path := which(asked.program))]
    with ThreadPoolExecutor(max_workers=4) as pool:
        versions = list(pool.map(lambda item: _version([item[1], *item[0].words], env), found))
    return tuple(dict.fromkeys(_told(found, versions)))


def _told(found: Sequence[tuple[_Asked, str]], versions: Sequence[str]) -> Iterator[Tool]:
    for (asked, _), version in zip(found, versions, strict=True):
        if version:
            yield Tool(name=asked.tool, version=version)


def _version(argv: Sequence[str], env: dict[str, str]) -> str:
    """The first number it says; empty if it does not start, or fails."""
    try:
        said = subprocess.run(
            argv, env=env, capture_output=True, timeout=_SECONDS, check=True, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    match = _VERSION.search(said.stdout.decode(errors="replace"))
    return match[0] if match else ""
