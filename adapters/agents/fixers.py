"""Which command mends what a failing command complains about: a table, and the reading of shell lines it needs.

Only the words of the tool's own arguments are changed. All else of the line stays as the workflow wrote it, raw,
because quoting anew would change what a glob or a variable means.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sweeper.model import Check

_ENDS_COMMAND = frozenset({";", "&", "&&", "|", "||", "|&", "\n"})
_REDIRECTS = re.compile(r"[<>]+&?|&>>?")
_CANNOT_READ = re.compile(r"[`()]|\$\(|<<")
_VARIABLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)")


@dataclass(frozen=True)
class Fixer:
    """`tool subcommand` as it stands in a failing command, and how it has to read to mend instead.

    `flags` are dropped, `options` are dropped with their value, `adds` come right after the subcommand. `others` are
    the tool's further subcommands: the first of all these words is the subcommand, a later one is a path of that name.
    """

    name: str
    tool: str
    subcommand: str
    others: frozenset[str]
    flags: frozenset[str]
    options: frozenset[str]
    adds: tuple[str, ...]


_RUFF = frozenset({"check", "format", "rule", "config", "linter", "clean", "server", "analyze", "version", "help"})

FIXERS: tuple[Fixer, ...] = (
    Fixer(
        name="ruff check --fix",
        tool="ruff",
        subcommand="check",
        others=_RUFF,
        flags=frozenset(
            {
                *("--fix", "--no-fix", "--fix-only", "--unsafe-fixes", "--no-unsafe-fixes", "--diff", "--watch", "-w"),
                *("--exit-zero", "-e", "--exit-non-zero-on-fix", "--statistics", "--add-noqa"),
            }
        ),
        options=frozenset({"--output-format", "--output-file", "-o"}),
        adds=("--fix", "--no-unsafe-fixes"),  # unsafe ones stay off even where the configuration turns them on
    ),
    Fixer(
        name="ruff format",
        tool="ruff",
        subcommand="format",
        others=_RUFF,
        flags=frozenset({"--check", "--diff", "--exit-non-zero-on-format"}),
        options=frozenset({"--output-format"}),
        adds=(),
    ),
)
"""In the order in which they must run: what a lint fix leaves is formatted afterwards."""


@dataclass(frozen=True)
class Repair:
    """A command that mends, with the check whose directory and environment it needs."""

    fixer: Fixer
    script: str
    check: Check


def repairs(checks: Iterable[Check]) -> tuple[Repair, ...]:
    """Every repair the table knows for these checks, each once, in the table's order."""
    found = {
        (fixer.name, script, check.working_directory): Repair(fixer, script, check)
        for check in checks
        for fixer, script in _repairs_of(check)
    }
    return tuple(sorted(found.values(), key=lambda repair: FIXERS.index(repair.fixer)))


def _repairs_of(check: Check) -> Iterator[tuple[Fixer, str]]:
    entered: list[str] = []
    for words in _commands(check.command):
        if words[0] == "cd":
            entered.append(" ".join(words))
            continue
        for fixer in FIXERS:
            mended = _mend(fixer, words)
            if mended is not None and _variables(mended) <= check.env.keys():
                yield fixer, " && ".join([*entered, " ".join(mended)])


def _commands(script: str) -> Iterator[list[str]]:
    """The simple commands of a script as raw words. A line with a subshell, a here document or the like is skipped."""
    for line in re.sub(r"\\\n", " ", script).splitlines():
        if _CANNOT_READ.search(line):
            continue
        lexer = shlex.shlex(line, posix=False, punctuation_chars=True)
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError:
            continue  # an open quote: it goes on in the next line
        yield from _split(words)


def _split(words: Sequence[str]) -> Iterator[list[str]]:
    command: list[str] = []
    skip_target = False
    for word in [*words, ";"]:
        if skip_target:
            skip_target = False
        elif word in _ENDS_COMMAND:
            if command:
                yield command
            command = []
        elif _REDIRECTS.fullmatch(word):
            skip_target = True
            if command and command[-1].isdigit():
                command.pop()
        else:
            command.append(word)


def _mend(fixer: Fixer, words: Sequence[str]) -> list[str] | None:
    """`<before> tool <global options> subcommand <rest>` rewritten; None if it is another command."""
    place = next((n for n, word in enumerate(words) if word.rpartition("/")[2] == fixer.tool), None)
    if place is None or not _is_program(words[:place]):
        return None
    options = words[place + 1 :]
    at = next((n for n, word in enumerate(options) if word in fixer.others), None)
    if at is None or options[at] != fixer.subcommand:
        return None
    kept = _without(fixer, options[at + 1 :])
    return [*words[: place + 1], *_without(fixer, options[:at]), fixer.subcommand, *fixer.adds, *kept]


_RUNNERS = (
    ("uv", "run"),
    ("poetry", "run"),
    ("pdm", "run"),
    ("hatch", "run"),
    ("pipenv", "run"),
    ("uvx",),
)
_PYTHON_MODULE = re.compile(r"(?:\S*/)?python[0-9.]* -m")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=\S*")


def _is_program(before: Sequence[str]) -> bool:
    """Whether what stands before the tool's name lets it be the program that runs: nothing, or a known runner."""
    rest = list(before)
    while rest and _ASSIGNMENT.fullmatch(rest[0]):
        rest.pop(0)
    for runner in _RUNNERS:
        if tuple(rest[: len(runner)]) == runner:
            del rest[: len(runner)]
            while rest and rest[0].startswith("-"):
                rest.pop(0)
    return not rest or _PYTHON_MODULE.fullmatch(" ".join(rest)) is not None


def _without(fixer: Fixer, words: Sequence[str]) -> list[str]:
    kept: list[str] = []
    skip_value = False
    for word in words:
        if skip_value:
            skip_value = False
        elif word in fixer.options:
            skip_value = True
        elif word not in fixer.flags and word.partition("=")[0] not in fixer.options:
            kept.append(word)
    return kept


def _variables(words: Sequence[str]) -> set[str]:
    return {name for word in words if not word.startswith("'") for name in _VARIABLE.findall(word)}
