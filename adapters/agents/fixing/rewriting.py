"""Rewriting a simple command from its checking form to its mending form. Only the tool's own words are touched."""

from collections.abc import Iterator, Sequence

from adapters.agents.fixing.fixer import Fixer
from adapters.agents.fixing.runners import program_name, programs_at


def mended(fixer: Fixer, words: Sequence[str]) -> list[str] | None:
    """The command that mends; None if this fixer is for another one."""
    for place in programs_at(words):
        if program_name(words[place]) == fixer.tool:
            arguments = _mending(fixer, words[place + 1 :])
            if arguments is not None:
                return [*words[: place + 1], *arguments]
    return None


def _mending(fixer: Fixer, arguments: Sequence[str]) -> list[str] | None:
    if fixer.needs and not any(word.partition("=")[0] in fixer.needs for word in arguments):
        return None
    at = _subcommand_at(fixer, arguments)
    if at is None:
        return None
    length = _length(fixer, arguments, at)
    asked = arguments[at : at + length] if fixer.becomes is None else fixer.becomes
    before, after = arguments[:at], arguments[at + length :]
    return [*_kept(fixer, before), *asked, *fixer.adds, *_kept(fixer, after)]


def _subcommand_at(fixer: Fixer, arguments: Sequence[str]) -> int | None:
    if not fixer.subcommands:
        return 0
    first_words = {subcommand.split()[0] for subcommand in fixer.subcommands}
    at = next((n for n, word in enumerate(arguments) if word in fixer.others or word in first_words), None)
    return at if at is not None and _length(fixer, arguments, at) else None


def _length(fixer: Fixer, arguments: Sequence[str], at: int) -> int:
    """How many words the subcommand takes there; a subcommand may have several."""
    rest = list(arguments[at:])
    return max((len(one.split()) for one in fixer.subcommands if rest[: len(one.split())] == one.split()), default=0)


def _kept(fixer: Fixer, arguments: Sequence[str]) -> list[str]:
    return list(_only(fixer.keeps, arguments) if fixer.keeps is not None else _without(fixer, arguments))


def _without(fixer: Fixer, arguments: Sequence[str]) -> Iterator[str]:
    skip_value = False
    for word in arguments:
        if skip_value:
            skip_value = False
        elif word in fixer.options:
            skip_value = True
        elif word not in fixer.flags and word.partition("=")[0] not in fixer.flags | fixer.options:
            yield word


def _only(keeps: frozenset[str], arguments: Sequence[str]) -> Iterator[str]:
    take_value = False
    for word in arguments:
        with_value = f"{word.partition('=')[0]}="
        if take_value or word in keeps or with_value in keeps or word.startswith("+"):  # cargo's `+nightly`
            yield word
        take_value = not take_value and f"{word}=" in keeps
