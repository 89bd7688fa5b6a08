"""YAML written by whoever may push: bounded in size, in depth and in what its anchors unfold to.

Scalars follow YAML 1.2 core as GitHub does: `on` and `yes` are words, a date is text, `3.10` is 3.1.
"""

import re

import yaml

MAX_BYTES = 128 * 1024
MAX_VALUES = 50_000
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
"""What an escape can write and no command, variable or record can hold: a zero byte, half of a surrogate pair."""

_CORE = "tag:yaml.org,2002:"


class Loader(yaml.SafeLoader):
    """YAML 1.2 core. Every number is read as a float, as GitHub does."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    yaml_constructors = {
        tag: yaml.SafeLoader.yaml_constructors[tag]
        for tag in (None, *(_CORE + kind for kind in ("null", "bool", "float", "str", "seq", "map")))
    }


for _kind, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    Loader.add_implicit_resolver(_CORE + _kind, re.compile(rf"^(?:{_pattern})$"), _first)


def read(data: bytes) -> object:
    """The values of one document. Raises ValueError with half a sentence ("is ...") for what cannot be read."""
    if len(data) > MAX_BYTES:
        raise ValueError(f"is larger than {MAX_BYTES // 1024} KiB")
    try:
        value: object = yaml.load(data, Loader)  # noqa: S506 - a subclass of SafeLoader with fewer constructors
    except (yaml.YAMLError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise ValueError("is not valid YAML") from error
    refuse_hostile(value)
    return value


def refuse_hostile(value: object) -> None:
    """Raises ValueError for text that nothing can hold, and for too much: anchors make a small file a tree of any size.

    Each visit through an alias counts.
    """
    waiting, visited = [value], 0
    while waiting:
        item = waiting.pop()
        visited += 1
        if visited > MAX_VALUES:
            raise ValueError("unfolds to too many values")
        if isinstance(item, str) and _NO_TEXT.search(item):
            raise ValueError("holds a zero byte or half a character")
        if isinstance(item, dict):
            waiting.extend((*item, *item.values()))
        elif isinstance(item, list):
            waiting.extend(item)
