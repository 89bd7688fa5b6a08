"""Where in a simple command the program stands that really runs: behind assignments, runners and interpreters."""

import re
from collections.abc import Sequence

from adapters.agents.fixing.shell import ASSIGNMENT

_RUNNERS: tuple[tuple[str, ...], ...] = (
    *(("uv", "run"), ("uv", "tool", "run"), ("uvx",), ("pipx", "run"), ("poetry", "run"), ("pdm", "run")),
    *(("hatch", "run"), ("pipenv", "run"), ("rye", "run"), ("pixi", "run")),
    *(("npx",), ("npm", "exec"), ("npm", "x"), ("pnpm", "exec"), ("pnpm", "dlx"), ("pnpx",), ("bunx",), ("bun", "x")),
    *(("yarn", "run"), ("yarn", "exec"), ("yarn", "dlx"), ("yarn",), ("pnpm",)),
    *(("bundle", "exec"), ("mise", "exec"), ("env",), ("nice",)),
    ("xargs",),
)
"""Longer ones before what they begin with."""
_WITH_VALUE = frozenset(
    {
        *("--with", "--with-requirements", "--with-editable", "--extra", "--group", "--only-group", "--no-group"),
        *("--python", "-p", "--package", "--from", "--directory", "--project", "--env-file", "--spec", "--index-url"),
        *("-n", "-P", "-L", "-I", "-d", "-s", "--max-args", "--max-procs", "-e", "--environment"),
    }
)
"""Options of runners whose value is the next word."""
_PYTHON = re.compile(r"(?:\S*/)?python[0-9.]*")
_VERSION = re.compile(r"(?<=.)(?:@|==).*")
_FLAG_OF_PYTHON = re.compile(r"-[bBEIsSOuvqP]+")


def programs_at(words: Sequence[str]) -> tuple[int, ...]:
    """Where a program's name stands: of each runner, then of what it runs; after `python -m` that is a module."""
    found: list[int] = []
    place = _behind_assignments(words, 0)
    while (length := _runner_length(words[place:])) > 0:
        found.append(place)
        place = _behind_assignments(words, _behind_options(words, place + length))
    if place < len(words):
        found.append(_module_at(words, place) if _PYTHON.fullmatch(words[place]) else place)
    return tuple(found)


def program_name(word: str) -> str:
    """A program by the word that starts it: without its directory, its quotes, and a version that is asked for."""
    return _VERSION.sub("", word.strip("\"'").rpartition("/")[2])


def _behind_assignments(words: Sequence[str], place: int) -> int:
    while place < len(words) and ASSIGNMENT.fullmatch(words[place]):
        place += 1
    return place


def _behind_options(words: Sequence[str], place: int) -> int:
    while place < len(words) and words[place].startswith("-"):
        place += 2 if words[place] in _WITH_VALUE else 1
    return place


def _runner_length(words: Sequence[str]) -> int:
    return next((len(one) for one in _RUNNERS if tuple(words[: len(one)]) == one), 0)


def _module_at(words: Sequence[str], place: int) -> int:
    at = place + 1
    while at < len(words) and _FLAG_OF_PYTHON.fullmatch(words[at]):
        at += 1
    return at + 1 if tuple(words[at : at + 1]) == ("-m",) and at + 1 < len(words) else place
