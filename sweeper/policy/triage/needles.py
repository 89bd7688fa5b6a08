"""What a text must contain for a regular expression to match: looking for that first is many times cheaper.

Reads the expression's source carefully rather than cleverly: what it does not understand, it says nothing about.
"""

import re

SHORTEST = 2
_QUANTIFIER = re.compile(r"(?:[*+?]|\{(?P<least>\d*)(?:,\d*)?\})[?+]?")
_GROUP = re.compile(r"\?(?:P<\w+>|:|>)")
_LOOKAROUND = re.compile(r"\?(?:<?[=!])")
_ESCAPED_LENGTH = {"x": 2, "u": 4, "U": 8}
_NOT_THEMSELVES = frozenset("dDsSwWbBAZtnrfvaxuU0123456789")


def needles(pattern: re.Pattern[str]) -> tuple[frozenset[str], ...]:
    """Sets of which each has a text that is in every text the pattern matches, the most telling first; none: unknown.

    In lower case if the pattern ignores case.
    """
    if pattern.flags & re.VERBOSE:
        return ()
    found = {part for part in _Source(pattern.pattern).choice() if _shortest(part) >= SHORTEST}
    if pattern.flags & re.IGNORECASE:
        found = {frozenset(map(str.lower, part)) for part in found if all(text.isascii() for text in part)}
    return tuple(sorted(found, key=lambda part: (-_shortest(part), len(part), sorted(part))))


class _Source:
    """A regular expression, read from left to right. Each part that is told has a text that a match must contain."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0

    def choice(self) -> list[frozenset[str]]:
        """Of branches, one is matched: each has to tell something."""
        branches = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            branches.append(self._sequence())
        if len(branches) == 1:
            return branches[0]
        known = [_most_telling(branch) for branch in branches if branch]
        return [frozenset[str]().union(*known)] if len(known) == len(branches) else []

    def _sequence(self) -> list[frozenset[str]]:
        """Of parts in a row all are matched."""
        parts: list[frozenset[str]] = []
        run = ""
        while self._peek() not in ("", "|", ")"):
            literal, group = self._atom()
            least, is_repeated = self._quantifier()
            if literal and least:
                run += literal
            if not literal or is_repeated:
                parts.append(frozenset([run]))
                run = ""
            if least:
                parts += group
        parts.append(frozenset([run]))
        return [part for part in parts if _shortest(part)]

    def _atom(self) -> tuple[str, list[frozenset[str]]]:
        """A character that stands for itself, or what a group tells."""
        char = self._next()
        if char == "\\":
            return self._escaped(), []
        if char == "[":
            self._skip_set()
            return "", []
        if char == "(":
            return "", self._group()
        return ("", []) if char in ".^$" else (char, [])

    def _escaped(self) -> str:
        char = self._next()
        self._at += _ESCAPED_LENGTH.get(char, 0)
        return "" if char in _NOT_THEMSELVES else char

    def _skip_set(self) -> None:
        if self._peek() == "^":
            self._at += 1
        if self._peek() == "]":
            self._at += 1
        while (char := self._next()) not in ("", "]"):
            if char == "\\":
                self._at += 1

    def _group(self) -> list[frozenset[str]]:
        if known := _GROUP.match(self._source, self._at):
            self._at = known.end()
        is_known = known is not None or self._peek() != "?"
        if other := _LOOKAROUND.match(self._source, self._at):
            self._at = other.end()
        inner = self.choice()
        self._at += 1
        return inner if is_known else []

    def _quantifier(self) -> tuple[bool, bool]:
        """Whether what stands before it has to be there, and whether it may be there otherwise than once."""
        found = _QUANTIFIER.match(self._source, self._at)
        if found is None:
            return True, False
        self._at = found.end()
        if found["least"] is not None:
            return found["least"].strip("0") != "", True
        return found[0].startswith("+"), True

    def _peek(self) -> str:
        return self._source[self._at : self._at + 1]

    def _next(self) -> str:
        char = self._peek()
        self._at += 1
        return char


def _most_telling(parts: list[frozenset[str]]) -> frozenset[str]:
    return max(parts, key=lambda part: (_shortest(part), -len(part)))


def _shortest(texts: frozenset[str]) -> int:
    return min((len(text) for text in texts), default=0)
