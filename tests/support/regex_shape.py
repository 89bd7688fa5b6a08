"""Whether a regular expression takes time linear in a line, judged by its shape: no clock, no hostile input needed."""

import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import sre_parse

MANY = 1000
"""Repeats up to more than this count as without end."""

Tree = Iterable[tuple[Any, Any]]
"""As the standard library's parser gives it: the arguments of an opcode are of no one type."""


def faults(pattern: re.Pattern[str]) -> list[str]:
    """Why it may take longer than linear time; empty if nothing speaks for it."""
    parsed: Tree = sre_parse.parse(pattern.pattern, pattern.flags & ~re.UNICODE)  # type: ignore[assignment]
    tree = list(parsed)
    found = []
    if any(_endless_inside(inner) for inner in _endless(tree)):
        found.append("a repeat without end holds another one")
    if not _is_anchored(tree) and any(True for _ in _endless(_without_last(tree))):
        found.append("it may start anywhere, and repeats without end before its end")
    if sum(1 for inner in _endless(_without_last(tree)) if _is_any(inner)) > 1:
        found.append("two parts of it may match anything")
    if any(most > MANY for most in _bounded(tree)):
        found.append("a bounded repeat of more than a thousand")
    return found


def _is_anchored(tree: list[tuple[Any, Any]]) -> bool:
    return bool(tree) and str(tree[0][0]) == "AT" and str(tree[0][1]) in ("AT_BEGINNING", "AT_BEGINNING_STRING")


def _without_last(tree: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Without a repeat at the very end: nothing after it can fail."""
    if not tree:
        return tree
    *before, (kind, value) = tree
    if str(kind) in ("MAX_REPEAT", "MIN_REPEAT"):
        return before
    if str(kind) == "SUBPATTERN":
        return [*before, (kind, (*value[:-1], _without_last(list(value[-1]))))]
    if str(kind) == "BRANCH":
        return [*before, (kind, (value[0], [_without_last(list(branch)) for branch in value[1]]))]
    return list(tree)


def _parts(tree: Tree) -> Iterator[tuple[str, Any, list[Tree]]]:
    """Each part with what lies directly inside."""
    for kind, value in tree:
        name = str(kind)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            yield name, value, [value[2]]
        elif name == "SUBPATTERN":
            yield name, value, [value[-1]]
        elif name == "BRANCH":
            yield name, value, list(value[1])
        elif name in ("ASSERT", "ASSERT_NOT"):
            yield name, value, [value[1]]
        else:
            yield name, value, []


def _endless(tree: Tree) -> Iterator[Tree]:
    """The insides of all repeats without end."""
    for name, value, inner in _parts(tree):
        if name.endswith("REPEAT") and value[1] == sre_parse.MAXREPEAT:
            yield value[2]
        for part in inner:
            yield from _endless(part)


def _endless_inside(tree: Tree) -> bool:
    return any(True for _ in _endless(tree))


def _bounded(tree: Tree) -> Iterator[int]:
    for name, value, inner in _parts(tree):
        if name.endswith("REPEAT") and value[1] != sre_parse.MAXREPEAT:
            yield int(value[1])
        for part in inner:
            yield from _bounded(part)


def _is_any(tree: Tree) -> bool:
    return any(name == "ANY" for name, _, _ in _parts(tree))
