"""Commands that only name a script of package.json: `npm run lint`, `yarn lint`, `pnpm run format:check`.

npm's own "run-script" page: a script runs in the folder of its package.json with `node_modules/.bin` before PATH; what
comes after `--` is added to it. yarn and pnpm take a script's name alone, and need no `--`.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from adapters.agents.fixing.runners import programs_at
from adapters.agents.fixing.shell import ASSIGNMENT, Call, calls

_MANAGERS: Mapping[str, tuple[str, ...]] = {
    "npm": ("npx", "--no-install"),
    "pnpm": ("pnpm", "exec"),
    "yarn": ("yarn", "run"),
    "bun": ("bunx", "--no-install"),
}
"""Each with what runs a program of the installed packages, and never fetches one."""
_NAME_ALONE = frozenset({"pnpm", "yarn"})
_SHORT = {("npm", "test"): "test", ("npm", "t"): "test", ("npm", "tst"): "test"}
_ELSEWHERE = frozenset({"--prefix", "-C", "--cwd", "--dir"})
_DEEPEST = 3
"""Scripts that call scripts."""


@dataclass(frozen=True)
class ScriptCall:
    """A script's name, who runs it, in which folder from where the command stands, and what is added to it."""

    manager: str
    name: str
    folder: str | None = None
    extra: tuple[str, ...] = ()


def script_call(call: Call) -> ScriptCall | None:
    """What script a command names, if it may be one."""
    words = [word for n, word in enumerate(call.words) if any(not ASSIGNMENT.fullmatch(w) for w in call.words[: n + 1])]
    if not words or words[0] not in _MANAGERS or call.feeds:
        return None
    manager, arguments, folder = words[0], words[1:], None
    rest: list[str] = []
    while arguments:
        word, *arguments = arguments
        name, _, value = word.partition("=")
        if name in _ELSEWHERE and not _is_named(manager, rest):
            folder = value or (arguments.pop(0) if arguments else None)
        elif rest or not word.startswith("-"):
            rest.append(word)
    return _named(manager, rest, folder)


def _is_named(manager: str, rest: list[str]) -> bool:
    """Options after the script's name are the script's own, but for npm's before `--`."""
    return "--" in rest if manager == "npm" else len(rest) > 1 or bool(rest and rest[0] not in ("run", "run-script"))


def _named(manager: str, rest: list[str], folder: str | None) -> ScriptCall | None:
    short = _SHORT.get((manager, rest[0])) if rest else None
    if short is not None:
        name, extra = short, rest[1:]
    else:
        if rest and rest[0] in ("run", "run-script"):
            del rest[0]
        elif manager not in _NAME_ALONE:
            return None
        while rest and rest[0].startswith("-"):
            del rest[0]
        if not rest:
            return None
        name, extra = rest[0], rest[1:]
    if manager in ("npm", "bun") or "--" in extra[:1]:
        extra = extra[extra.index("--") + 1 :] if "--" in extra else []
    return ScriptCall(manager, name.strip("\"'"), folder, tuple(extra))


def scripts_in(package: bytes) -> dict[str, str]:
    """The scripts of a package.json; none if it cannot be read as one."""
    try:
        scripts = json.loads(package).get("scripts", {})
        return {name: body for name, body in scripts.items() if isinstance(body, str)}
    except (ValueError, AttributeError, RecursionError):
        return {}


def opened(call: Call, asked: ScriptCall, scripts: Mapping[str, str], depth: int = 0) -> Iterator[Call]:
    """The commands behind a script's name, each as it would run from where `call` stands."""
    inner = calls(scripts.get(asked.name, ""))
    for command in inner:
        words = (*command.words, *(asked.extra if command is inner[-1] else ()))
        command = replace(command, words=words, scene=(*call.scene, *command.scene))
        again = script_call(command)
        if again is not None and again.name in scripts and again.folder is None:
            if depth < _DEEPEST:
                yield from opened(command, again, scripts, depth + 1)
        else:
            yield replace(command, words=_with_packages(words, asked.manager))


def _with_packages(words: tuple[str, ...], manager: str) -> tuple[str, ...]:
    """With a runner in front of the program, unless there is one."""
    places = programs_at(words)
    if len(places) != 1 or words[places[0]] in _MANAGERS:
        return words
    return (*words[: places[0]], *_MANAGERS[manager], *words[places[0] :])
