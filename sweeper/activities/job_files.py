"""Seam: replaced by sweeper.policy.planning when that is there."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_SINGLE = re.compile(r"^([^=\n]+?)=(.*)$")
_HEREDOC = re.compile(r"^([^=\n]+?)<<(\S+)$")
_LATER = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")


@dataclass(frozen=True)
class FileCommands:
    """What one step wrote into its environment files."""

    env: dict[str, str]
    path: list[str]
    outputs: dict[str, str]


def parse_file_commands(data: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    lines = iter(data.decode("utf-8", "replace").splitlines())
    for line in lines:
        if heredoc := _HEREDOC.match(line):
            held = []
            for inner in lines:
                if inner == heredoc[2]:
                    break
                held.append(inner)
            found[heredoc[1]] = "\n".join(held)
        elif single := _SINGLE.match(line):
            found[single[1]] = single[2]
    return found


def expand(text: str, known: Mapping[str, str]) -> str:
    return _LATER.sub(lambda match: known.get(match[1], ""), text)
