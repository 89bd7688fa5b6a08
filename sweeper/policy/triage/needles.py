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


def needles(pattern: re.Pattern[str]) -> frozenset[str] | None:
    """Texts one of which is in every text that the pattern matches; lower case if it ignores case. None: unknown."""
    if pattern.flags & re.VERBOSE:
        return None
    found = _Source(pattern.pattern).choice()
    if found is None or _shortest(found) < SHORTEST:
        return None
    if pattern.flags & re.IGNORECASE:
        return frozenset(text.lower() for text in found) if all(text.isascii() for text in found) else None
    return found


class _Source:
    """A regular expression, read from left to right."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0

    def choice(self) -> frozenset[str] | None:
        """Of branches, one is matched: each has to tell something."""
        branches = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            branches.append(self._sequence())
        known = [branch for branch in branches if branch is not None]
        return frozenset[str]().union(*known) if len(known) == len(branches) else None

    def _sequence(self) -> frozenset[str] | None:
        """Of parts in a row all are matched: the one that tells most is enough."""
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
            if group is not None and least:
                parts.append(group)
        parts.append(frozenset([run]))
        telling = [part for part in parts if _shortest(part)]
        return max(telling, key=lambda part: (_shortest(part), -len(part)), default=None)

    def _atom(self) -> tuple[str, frozenset[str] | None]:
        """A character that stands for itself, or what a group tells."""
        char = self._next()
        if char == "\\":
            return self._escaped(), None
        if char == "[":
            self._skip_set()
            return "", None
        if char == "(":
            return "", self._group()
        return ("", None) if char in ".^$" else (char, None)

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

    def _group(self) -> frozenset[str] | None:
        if known := _GROUP.match(self._source, self._at):
            self._at = known.end()
        is_known = known is not None or self._peek() != "?"
        if other := _LOOKAROUND.match(self._source, self._at):
            self._at = other.end()
        inner = self.choice()
        self._at += 1
        return inner if is_known else None

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


def _shortest(texts: frozenset[str]) -> int:
    return min((len(text) for text in texts), default=0)
