"""What has to stand in a tree's home before the first step of a check: the tools that were asked for, writable.

A setup action installs a version; here it is chosen among those that are on this machine. Each tree gets an environment
of its own, made anew: one that was installed for another tree would answer for that tree's code.
"""

import re
from collections.abc import Sequence

from sweeper.model import Strict, Tool
from sweeper.policy.versions import is_asked_for, parse_version

CARGO_INDEX_VARIABLE = "SWEEPER_CARGO_INDEX"
"""Set where a gate is open: cargo takes another source from a configuration file alone, which is written from it."""

_VENV = "$HOME/venv"
_CALLS = {
    "python": re.compile(r"(?<![\w-])(?:pip3?|pipx|poetry|uv|python3? -m (?:pip|venv))\s"),
    "node": re.compile(r"(?<![\w-])(?:npm|npx|pnpm|yarn)\s"),
    "go": re.compile(r"(?<![\w-])go (?:build|install|test|vet|mod|get|run)\b"),
    "rust": re.compile(r"(?<![\w-])cargo\s"),
    "ruby": re.compile(r"(?<![\w-])(?:gem|bundle)\s"),
}
_COMES_WITH = {"pip": "python", "uv": "python", "poetry": "python", "npm": "node"}


class EnvironmentPlan(Strict):
    """What a home needs. `$HOME` in it is the home inside: a shell has to read it.

    `commands`: lines for `sh -e`, to run once in each home after `exports`; running them again changes nothing. `path`:
    to be put before PATH, `env`: to be set, both for these commands and for every step. `tools`: what was chosen.
    """

    commands: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    env: dict[str, str] = {}
    tools: tuple[Tool, ...] = ()

    def exports(self) -> str:
        """The same as lines of a POSIX shell, to stand before a command."""
        lines = [f'export {name}="{value}"' for name, value in self.env.items()]
        if self.path:
            lines.append(f'export PATH="{":".join(self.path)}:$PATH"')
        return "".join(f"{line}\n" for line in lines)


def environment_steps(
    tools: Sequence[Tool], installed: Sequence[Tool], commands: Sequence[str] = ()
) -> EnvironmentPlan | str:
    """The plan, or one sentence on the tool that is not here. `commands`: the check's steps, which may call a package
    manager without any setup action before."""
    chosen: list[Tool] = []
    for asked in tools:
        found = _newest(asked, installed)
        if found is None:
            return _missing(asked, installed)
        chosen.append(found)
    parts = [_PREPARED[name](_of(name, chosen)) for name in _needed(chosen, commands)]
    return EnvironmentPlan(
        commands=tuple(line for part in parts for line in part.commands),
        path=tuple(entry for part in parts for entry in part.path),
        env={name: value for part in parts for name, value in part.env.items()},
        tools=tuple(chosen),
    )


def _newest(asked: Tool, installed: Sequence[Tool]) -> Tool | None:
    fitting = [
        tool
        for tool in installed
        if tool.name == asked.name and is_asked_for(asked.version, parse_version(tool.version))
    ]
    return max(fitting, key=lambda tool: parse_version(tool.version), default=None)


def _missing(asked: Tool, installed: Sequence[Tool]) -> str:
    here = [tool.version for tool in installed if tool.name == asked.name]
    what = " ".join(part for part in (asked.name, asked.version) if part)
    return f"{what} is asked for; installed: {', '.join(here) or 'none'}"


def _needed(chosen: Sequence[Tool], commands: Sequence[str]) -> list[str]:
    """By the tools that were asked for, and by what the steps call."""
    named = {_COMES_WITH.get(tool.name, tool.name) for tool in chosen}
    text = "\n".join(f"{command} " for command in commands)
    return [name for name in _PREPARED if name in named or (name in _CALLS and _CALLS[name].search(text))]


def _of(name: str, chosen: Sequence[Tool]) -> Tool | None:
    return next((tool for tool in chosen if tool.name == name), None)


def _python(tool: Tool | None) -> EnvironmentPlan:
    """A virtual environment, made with what Python brings along: no network is needed for that."""
    minor = ".".join(tool.version.split(".")[:2]) if tool else ""
    interpreter = f'"$(command -v python{minor} || command -v python3)"' if minor else "python3"
    return EnvironmentPlan(
        commands=(f'test -x "{_VENV}/bin/python" || {interpreter} -m venv "{_VENV}"',),
        path=(f"{_VENV}/bin",),
        env={"VIRTUAL_ENV": _VENV},
    )


def _node(_: Tool | None) -> EnvironmentPlan:
    prefix = "$HOME/npm"
    return EnvironmentPlan(
        commands=(f'mkdir -p "{prefix}/bin" "{prefix}/lib"',),
        path=(f"{prefix}/bin",),
        env={"npm_config_prefix": prefix},
    )


def _go(_: Tool | None) -> EnvironmentPlan:
    return EnvironmentPlan(path=("$HOME/go/bin",), env={"GOPATH": "$HOME/go"})


def _rust(_: Tool | None) -> EnvironmentPlan:
    source = '[source.crates-io]\\nreplace-with = "gate"\\n[source.gate]\\nregistry = "%s"\\n'
    variable = f'"${CARGO_INDEX_VARIABLE}"'
    write = f"printf '{source}' {variable} >\"$HOME/cargo/config.toml\""
    return EnvironmentPlan(
        commands=('mkdir -p "$HOME/cargo"', f'test -z "${{{CARGO_INDEX_VARIABLE}:-}}" || {write}'),
        path=("$HOME/cargo/bin",),
        env={"CARGO_HOME": "$HOME/cargo"},
    )


def _ruby(_: Tool | None) -> EnvironmentPlan:
    return EnvironmentPlan(path=("$HOME/gems/bin",), env={"GEM_HOME": "$HOME/gems"})


_PREPARED = {"python": _python, "node": _node, "go": _go, "rust": _rust, "ruby": _ruby}
