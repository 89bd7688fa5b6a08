"""One line of a .gitignore as a value that matches paths: the rules of gitignore(5), nothing of its file handling.

A path is matched exactly, not by its parents: whoever walks a tree stops at what is ignored, as git does. (pathspec
lets a pattern that fits a directory decide about everything in it, which re-includes `node_modules` anywhere below
after `!packages/`.) Matching takes time proportional to path times pattern, whatever a hostile file says.
"""

import re
from dataclasses import dataclass

_POSIX = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "upper": "A-Z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "xdigit": "0-9a-fA-F",
}
_BRACKET = re.compile(r"\[([!^]?)(\]?(?:\[:[a-z]+:\]|\\.|[^\]\\])*)\]", re.DOTALL)
_TOKEN = re.compile(rf"(?:{_BRACKET.pattern})|\\.|.", re.DOTALL)
_CLASS = re.compile(r"\[:([a-z]+):\]")
_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True)
class Pattern:
    """A readable line. `parts` has one expression per path component; None is `**`."""

    negated: bool
    directories_only: bool
    parts: tuple[re.Pattern[str] | None, ...]

    def fits(self, path: str, is_directory: bool) -> bool:
        """Whether the line speaks about this path (relative to the folder of the .gitignore)."""
        if self.directories_only and not is_directory:
            return False
        at = self._skip({0})
        for name in path.split("/"):
            at = self._skip({after for place in at for after in self._step(place, name)})
        return len(self.parts) in at

    def _step(self, place: int, name: str) -> tuple[int, ...]:
        """Where in the pattern one can be after this component."""
        if place == len(self.parts):
            return ()
        part = self.parts[place]
        if part is None:
            return (place, place + 1) if place == len(self.parts) - 1 else (place,)
        return (place + 1,) if part.fullmatch(name) else ()

    def _skip(self, places: set[int]) -> set[int]:
        """A `**` that is not the last part may stand for no component at all."""
        reached = set(places)
        for place in range(len(self.parts) - 1):
            if place in reached and self.parts[place] is None:
                reached.add(place + 1)
        return reached


def parse(line: str) -> Pattern | None:
    """The pattern of a line; None for a comment or a line without one."""
    text = _without_trailing_spaces(line.removesuffix("\r"))
    if text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text[1:] if negated else text
    directories_only = text.endswith("/")
    text = text.removesuffix("/")
    if not text:
        return None
    if "/" not in text:
        return Pattern(negated, directories_only, (None, _name(text)))
    names = _components(text.removeprefix("/"))
    return Pattern(negated, directories_only, tuple(None if name == "**" else _name(name) for name in names))


def _components(text: str) -> list[str]:
    """Split at '/', but not at one inside brackets (which never matches anything)."""
    names = [""]
    for token in _TOKEN.finditer(text):
        if token[0] == "/":
            names.append("")
        else:
            names[-1] += token[0]
    return names


def _without_trailing_spaces(text: str) -> str:
    bare = text.rstrip(" ")
    escaped = len(bare) < len(text) and (len(bare) - len(bare.rstrip("\\"))) % 2
    return bare + " " if escaped else bare


def _name(glob: str) -> re.Pattern[str]:
    """One component as an expression; text after a `*` is taken where it fits first, so nothing is tried twice."""
    pieces: list[str] = [""]
    at = 0
    while at < len(glob):
        if glob[at] == "*":
            pieces.append("")
            at += 1
            continue
        expression, at = _one(glob, at)
        if expression is None:
            return _NEVER
        pieces[-1] += expression
    first, *rest = pieces
    middle = "".join(f"(?>.*?{piece})" for piece in rest[:-1] if piece)
    last = f".*{rest[-1]}" if rest else ""
    return re.compile(first + middle + last, re.DOTALL)


def _one(glob: str, at: int) -> tuple[str | None, int]:
    """The expression for what stands at `at`, and where the next one begins; None: git never matches this."""
    char = glob[at]
    if char == "?":
        return ".", at + 1
    if char == "[":
        found = _BRACKET.match(glob, at)
        return (_set(found), found.end()) if found else (None, at)
    if char == "\\":
        return (re.escape(glob[at + 1]), at + 2) if at + 1 < len(glob) else (None, at)
    return re.escape(char), at + 1


def _set(found: re.Match[str]) -> str | None:
    """A bracket expression; an impossible range (`[z-a]`) or unknown class matches nothing."""
    if any(name not in _POSIX for name in _CLASS.findall(found[2])):
        return None
    inside = _CLASS.sub(lambda name: _POSIX[name[1]], _escaped(found[2]))
    expression = f"[{'^' if found[1] else ''}{inside}]"
    try:
        re.compile(expression)
    except re.error:
        return None
    return expression


def _escaped(inside: str) -> str:
    """Only `-`, escapes and `[:class:]` keep their meaning inside brackets."""
    pieces = re.findall(r"\[:[a-z]+:\]|\\.|.", inside, re.DOTALL)
    return "".join(piece if len(piece) > 2 or piece == "-" else re.escape(piece[-1]) for piece in pieces)
