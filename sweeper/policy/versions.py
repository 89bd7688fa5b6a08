"""Whether an installed version is one that was asked for, in the spellings of the common setup actions.

A plain number is a prefix: `3.11` takes 3.11.7. `3.x`, `20.*`, comparisons (`>=3.9 <3.13`, with commas as well),
`^20.1`, `~3.11`, alternatives behind `||`, and the aliases `stable`, `latest`, `current`, `lts/*`, `lts/iron` are
known. What is not understood (`pypy3.10`, `nightly`, `3.14-dev`) is taken by no version. Grammar: npm's ranges
(https://docs.npmjs.com/cli/configuring-npm/package-json#dependencies) as the setup actions use them.
"""

import re
from collections.abc import Callable

Version = tuple[int, ...]

_ANY = ("", "*", "x", "latest", "stable", "current", "node")
_LTS_NAMES = {"gallium": 16, "hydrogen": 18, "iron": 20, "jod": 22, "krypton": 24}
"""Node's, https://nodejs.org/en/about/previous-releases."""
_PART = re.compile(r"(>=|<=|>|<|==?|!=|\^|~=?)?\s*v?(\d+(?:\.(?:\d+|[xX*]))*)(?:\+\d+)?")
_COMPARISONS: dict[str, Callable[[Version, Version], bool]] = {
    ">=": lambda installed, asked: _padded(installed, asked) >= asked,
    ">": lambda installed, asked: _padded(installed, asked)[: len(asked)] > asked,
    "<=": lambda installed, asked: _padded(installed, asked)[: len(asked)] <= asked,
    "<": lambda installed, asked: _padded(installed, asked) < asked,
    "!=": lambda installed, asked: not _begins(installed, asked),
    "^": lambda installed, asked: _padded(installed, asked) >= asked and _begins(installed, asked[:1]),
    "~": lambda installed, asked: _padded(installed, asked) >= asked and _begins(installed, asked[:2]),
    "~=": lambda installed, asked: _padded(installed, asked) >= asked and _begins(installed, asked[: len(asked) - 1]),
}


def parse_version(text: str) -> Version:
    """The numbers of a full version; empty for none."""
    match = re.match(r"v?(\d+(?:\.\d+)*)", text)
    return tuple(int(part) for part in match[1].split(".")) if match else ()


def is_asked_for(asked: str, installed: Version) -> bool:
    """As the module says; `installed` is a full version."""
    return any(_fits(part.strip(), installed) for part in asked.strip().split("||"))


def _fits(asked: str, installed: Version) -> bool:
    word = asked.lower()
    if word in _ANY:
        return True
    if word.startswith("lts"):
        name = word.partition("/")[2]
        even = bool(installed) and installed[0] % 2 == 0
        return even if name in ("", "*") else installed[:1] == (_LTS_NAMES.get(name, -1),)
    parts = re.sub(r"(?<=[<>=^~!])\s+", "", word.replace(",", " ")).split()
    return bool(parts) and all(_compares(part, installed) for part in parts)


def _compares(part: str, installed: Version) -> bool:
    match = _PART.fullmatch(part)
    if match is None:
        return False
    numbers = parse_version(re.sub(r"\.[xX*].*", "", match[2]))
    return _COMPARISONS.get(match[1] or "=", _begins)(installed, numbers)


def _begins(installed: Version, asked: Version) -> bool:
    return installed[: len(asked)] == asked


def _padded(installed: Version, asked: Version) -> Version:
    return installed + (0,) * (len(asked) - len(installed))
