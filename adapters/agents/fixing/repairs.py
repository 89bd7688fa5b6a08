"""From a task to the commands that mend: which fixers of the catalogue are for its checks, and for its diagnosis."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from adapters.agents.fixing.catalogue import FIXERS
from adapters.agents.fixing.fixer import Fixer
from adapters.agents.fixing.rewriting import mended
from adapters.agents.fixing.scripts import opened, script_call
from adapters.agents.fixing.shell import Call, assigned, calls, variables
from sweeper.model import Check, FailureClass

_ALWAYS_SET = frozenset({"HOME", "PWD", "PATH", "CI", "GITHUB_WORKSPACE", "RUNNER_TEMP"})
_READABLE_SHELLS = re.compile(r"default|(?:\S*/)?(?:ba)?sh(?:\s.*)?")


@dataclass(frozen=True)
class Place:
    """A folder as commands reach it: the check's directory, then what they go through (`cd web`)."""

    directory: str
    moves: tuple[str, ...] = ()


@dataclass(frozen=True)
class Complaint:
    """What the diagnosis says, as far as fixers ask for it. `log`: the lines a symptom may stand in."""

    failure_class: FailureClass
    log: str = ""


@dataclass(frozen=True)
class Repair:
    """A command that mends, with the check whose directory, environment and set-up it needs."""

    fixer: Fixer
    script: str
    check: Check


Packages = Mapping[Place, Mapping[str, str]]
"""The scripts of each package.json that a check asks for."""


def packages_asked(checks: Iterable[Check]) -> tuple[Place, ...]:
    """Where a package.json has to be read before repairs can be found."""
    found = [_place(check, call) for check in checks for call in _calls(check) if script_call(call) is not None]
    return tuple(dict.fromkeys(found))


def repairs(checks: Iterable[Check], packages: Packages | None = None) -> tuple[Repair, ...]:
    """Every repair the catalogue knows for these checks, each once, in the catalogue's order."""
    found = {
        (fixer.name, script, check.working_directory): Repair(fixer, script, check)
        for check in checks
        for fixer, script in _repairs_of(check, packages or {})
    }
    return tuple(sorted(found.values(), key=lambda repair: FIXERS.index(repair.fixer)))


def fits(repair: Repair, complaint: Complaint) -> bool:
    """Whether the fixer is for what was diagnosed."""
    fixer = repair.fixer
    if complaint.failure_class not in fixer.classes:
        return False
    return not fixer.symptom or re.search(fixer.symptom, complaint.log) is not None


def _repairs_of(check: Check, packages: Packages) -> Iterator[tuple[Fixer, str]]:
    known = _ALWAYS_SET | check.env.keys()
    for call in _behind_names(check, packages):
        is_fed = call.words[0] == "xargs"
        if is_fed != bool(call.feeds):
            continue  # it reads what another command writes, and has no files to mend
        for fixer in FIXERS:
            words = mended(fixer, call.words)
            if words is None:
                continue
            if fixer.again:
                words = [*words, "||", *words]
            if variables((*call.scene, *call.feeds, *words)) <= known | assigned(call.scene):
                yield fixer, call.script(words)


def _behind_names(check: Check, packages: Packages) -> Iterator[Call]:
    """The check's commands; of those that name a script, what stands in it."""
    for call in _calls(check):
        asked = script_call(call)
        scripts = packages.get(_place(check, call), {})
        if asked is None or asked.name not in scripts:
            yield call
            continue
        folder = (f"cd {asked.folder}",) if asked.folder else ()
        yield from opened(replace(call, scene=(*call.scene, *folder)), asked, scripts)


def _place(check: Check, call: Call) -> Place:
    asked = script_call(call)
    folder = (f"cd {asked.folder}",) if asked is not None and asked.folder else ()
    return Place(check.working_directory, (*call.moves, *folder))


def _calls(check: Check) -> tuple[Call, ...]:
    return _read(check.command) if _READABLE_SHELLS.fullmatch(check.shell) else ()


@lru_cache(maxsize=64)
def _read(script: str) -> tuple[Call, ...]:
    return calls(script)
