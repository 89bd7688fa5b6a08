"""A change as the detectors look at it: decoded, with the lines that came and went, in linear time."""

import ast
import io
import tokenize
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from sweeper.model import FileChange, Finding, Severity
from sweeper.policy.tampering.places import is_test, language

LONGEST_LINE = 2_000
PARSED_BYTES = 1_000_000

Line = tuple[int, str]


def text_of(data: bytes | None) -> str:
    """The text; bytes that are not UTF-8 are replaced, so that they cannot hide what stands beside them."""
    return (data or b"").decode("utf-8-sig", "replace")


def lines_of(text: str) -> list[str]:
    """Lines as git counts them; what is longer than any line people write is cut."""
    return [line[:LONGEST_LINE].rstrip("\r") for line in text.split("\n")]


def _newcomers(lines: list[str], others: list[str]) -> tuple[Line, ...]:
    """Lines that the others do not have so often. Where a line stands, and how far indented, does not count."""
    left = Counter(line.strip() for line in others)
    found = []
    for number, line in enumerate(lines, start=1):
        key = line.strip()
        if left[key] > 0:
            left[key] -= 1
        elif key:
            found.append((number, line))
    return tuple(found)


def parse(text: str) -> ast.Module | None:
    """The syntax tree; None if Python cannot read it, or if it is too big or too deep to be worth the time."""
    if len(text) > PARSED_BYTES:
        return None
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@dataclass(frozen=True)
class Seen:
    """One changed file. Everything is worked out once, when first asked for."""

    change: FileChange

    @property
    def path(self) -> str:
        """Where it is now, or was if it is gone."""
        return self.change.path

    @property
    def old_path(self) -> str:
        """Where it was."""
        return self.change.old_path or self.change.path

    @property
    def is_new(self) -> bool:
        """There was nothing before."""
        return not self.change.old_mode and self.change.old is None

    @property
    def is_gone(self) -> bool:
        """There is nothing any more."""
        return not self.change.new_mode and self.change.new is None

    @property
    def is_binary(self) -> bool:
        """By git's own rule: a zero byte near the start."""
        return any(b"\0" in (data or b"")[:8_000] for data in (self.change.old, self.change.new))

    @property
    def is_test(self) -> bool:
        """Part of the tests now or before."""
        return is_test(self.path) or is_test(self.old_path)

    @property
    def language(self) -> str:
        """The kind of text."""
        return language(self.path)

    @cached_property
    def old(self) -> str:
        """The text before."""
        return text_of(self.change.old)

    @cached_property
    def new(self) -> str:
        """The text now."""
        return text_of(self.change.new)

    @cached_property
    def added(self) -> tuple[Line, ...]:
        """Lines that are new, with their numbers now."""
        return () if self.is_binary else _newcomers(lines_of(self.new), lines_of(self.old))

    @cached_property
    def removed(self) -> tuple[Line, ...]:
        """Lines that are gone, with their numbers before."""
        return () if self.is_binary else _newcomers(lines_of(self.old), lines_of(self.new))

    @cached_property
    def old_tree(self) -> ast.Module | None:
        """The syntax tree before; None for anything but Python."""
        return parse(self.old) if self.language == "python" and self.change.old is not None else None

    @cached_property
    def new_tree(self) -> ast.Module | None:
        """The syntax tree now; None for anything but Python."""
        return parse(self.new) if self.language == "python" and self.change.new is not None else None

    @cached_property
    def added_comments(self) -> tuple[Line, ...]:
        """New lines with comments, as the comment alone where the language can be told from its strings."""
        return _only(self.added, self._new_parts, comments=True)

    @cached_property
    def removed_comments(self) -> tuple[Line, ...]:
        """Comments on lines that are gone."""
        return _only(self.removed, self._old_parts, comments=True)

    @cached_property
    def added_code(self) -> tuple[Line, ...]:
        """New lines without what stands in strings and comments, where they can be told apart."""
        return _only(self.added, self._new_parts, comments=False)

    @cached_property
    def removed_code(self) -> tuple[Line, ...]:
        """The code of lines that are gone."""
        return _only(self.removed, self._old_parts, comments=False)

    @cached_property
    def _new_parts(self) -> "Parts | None":
        return parts_of(self.new) if self.language == "python" else None

    @cached_property
    def _old_parts(self) -> "Parts | None":
        return parts_of(self.old) if self.language == "python" else None

    def at(self, line: int | None) -> str:
        """A place in the file as it is now."""
        return f"{self.path}:{line}" if line else self.path

    def before(self, line: int | None) -> str:
        """A place in the file as it was."""
        return f"{self.old_path}:{line}" if line else self.old_path


Parts = tuple[dict[int, str], dict[int, str]]
"""Comments and code by line."""


def parts_of(text: str) -> Parts | None:
    """Python's comments, and its code with strings emptied; None where the text cannot be taken apart."""
    if len(text) > PARSED_BYTES:
        return None
    comments: dict[int, str] = {}
    words: dict[int, list[str]] = {}
    ends: dict[int, int] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                comments[token.start[0]] = token.string[:LONGEST_LINE]
            else:
                line, column = token.start
                row = words.setdefault(line, [])
                gap = " " if row and column > ends.get(line, 0) else " " * column if not row else ""
                row.append(gap + ("''" if token.type == tokenize.STRING else token.string.rstrip("\n")))
                ends[token.end[0]] = token.end[1]
    except (tokenize.TokenError, SyntaxError, ValueError):
        return None
    return comments, {line: "".join(row)[:LONGEST_LINE] for line, row in words.items()}


def _only(lines: tuple[Line, ...], parts: Parts | None, *, comments: bool) -> tuple[Line, ...]:
    if parts is None:
        return lines
    found = parts[0] if comments else parts[1]
    return tuple((number, found[number]) for number, _ in lines if number in found)


def reject(name: str, place: str, detail: str) -> Finding:
    """A finding that no honest fix has."""
    return Finding(name=name, place=place, severity=Severity.REJECT, detail=detail)


def show(name: str, place: str, detail: str) -> Finding:
    """A finding that an honest fix may have, for a human to look at."""
    return Finding(name=name, place=place, severity=Severity.SHOW, detail=detail)
