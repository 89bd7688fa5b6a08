"""The functions of expressions that need nothing but their arguments.

Source: GitHub's "Evaluate expressions in workflows and actions", functions. Results are bounded, because calls nest.
"""

import json
import re
from collections.abc import Callable, Sequence

from sweeper.errors import Unverifiable
from sweeper.policy.planning.hostile_yaml import refuse_hostile
from sweeper.policy.planning.values import MOST_TEXT, Value, are_equal, as_value, text

_PLACE = re.compile(r"\{\{|\}\}|\{([0-9]{1,3})\}|[{}]")


def call(function: str, arguments: Sequence[Value]) -> Value:
    """The result of a function. Raises Unverifiable for one that is not known, or not called as it has to be."""
    try:
        least, most, implementation = _FUNCTIONS[function]
    except KeyError as error:
        raise Unverifiable(f"the function {function[:40]!r} of expressions is not known here") from error
    if not least <= len(arguments) <= most:
        raise Unverifiable(f"the function {function!r} of expressions does not take {len(arguments)} values")
    return implementation(*arguments)


def _contains(search: Value, item: Value) -> Value:
    if isinstance(search, list):
        return any(are_equal(member, item) for member in search)
    return not isinstance(search, dict) and text(item).casefold() in text(search).casefold()


def _starts(search: Value, start: Value) -> Value:
    return text(search).casefold().startswith(text(start).casefold())


def _ends(search: Value, end: Value) -> Value:
    return text(search).casefold().endswith(text(end).casefold())


def _format(pattern: Value, *arguments: Value) -> Value:
    source = text(pattern)
    parts, at = [], 0
    for place in _PLACE.finditer(source):
        parts.append(source[at : place.start()])
        parts.append(_filled(place, arguments))
        at = place.end()
    return joined([*parts, source[at:]])


def _filled(place: re.Match[str], arguments: Sequence[Value]) -> str:
    if place[1] is not None and int(place[1]) < len(arguments):
        return text(arguments[int(place[1])])
    if place[0] in ("{{", "}}"):
        return place[0][0]
    raise Unverifiable("the function 'format' of expressions was given a text with a place that is not filled")


def joined(parts: Sequence[str], separator: str = "") -> str:
    """All parts in one. Raises Unverifiable, before it is made, for a text that is too long."""
    if sum(map(len, parts)) + len(separator) * len(parts) > MOST_TEXT:
        raise Unverifiable(f"an expression makes a text of more than {MOST_TEXT // 1024} KiB")
    return separator.join(parts)


def _join(items: Value, separator: Value = ",") -> Value:
    if isinstance(items, list):
        return joined([text(item) for item in items], text(separator))
    return "" if isinstance(items, dict) else text(items)


def _to_json(value: Value) -> Value:
    try:
        return joined([json.dumps(_whole(value), indent=2)])
    except RecursionError as error:
        raise Unverifiable("a value in an expression is nested too deeply") from error


def _whole(value: Value) -> object:
    """JSON has `3` where a float would show as `3.0`."""
    match value:
        case float() if value.is_integer() and abs(value) < 1e15:
            return int(value)
        case list():
            return [_whole(item) for item in value]
        case dict():
            return {key: _whole(item) for key, item in value.items()}
    return value


def _from_json(value: Value) -> Value:
    try:
        found = json.loads(text(value), parse_int=float)
        refuse_hostile(found)
        return as_value(found)
    except (ValueError, RecursionError) as error:
        raise Unverifiable("the function 'fromJSON' of expressions was given what is no JSON") from error


_FUNCTIONS: dict[str, tuple[int, int, Callable[..., Value]]] = {
    "contains": (2, 2, _contains),
    "startswith": (2, 2, _starts),
    "endswith": (2, 2, _ends),
    "format": (1, 255, _format),
    "join": (1, 2, _join),
    "tojson": (1, 1, _to_json),
    "fromjson": (1, 1, _from_json),
}
