"""Settings as values: dotted keys from formats that can be read, key by key from lines and options where not."""

import configparser
import json
import re
import tomllib

import yaml

from sweeper.policy.tampering.places import base, is_like
from sweeper.policy.tampering.seen import LONGEST_LINE, PARSED_BYTES

Values = dict[str, str | tuple[str, ...]]
_DEEPEST = 12
_INI = (".flake8", ".pylintrc", "pylintrc", ".coveragerc", ".isort.cfg", ".bandit")
_NAMES = ("id", "name", "repo", "module")
_PAIR = re.compile(
    r"(?<![\w./@-])([\w./@-]{1,80})[\"']?\s{0,8}[:=]\s{0,8}(?:\[([^\]]*)\]|[\"'\[]{0,2}([\w./*-]{1,80}))"
)
_FLAG = re.compile(
    r"(?<![\w-])--([\w-]{0,40}?(?:fail-under|max-warnings|max-line-length|max-complexity|line-length))[= ]+(\d{1,9})"
)
_OFF = ("off", "warn", "allow")


def read(path: str, text: str) -> Values | None:
    """Dotted keys with their values; None for a format that is not values or a text that cannot be read."""
    if len(text) > PARSED_BYTES:
        return None
    name = base(path)
    try:
        if name.endswith(".toml") or name == "pipfile":
            return _flat(tomllib.loads(text))
        if name.endswith((".json", ".nycrc", ".eslintrc")):
            return _flat(json.loads(text or "{}"))
        if name.endswith((".yml", ".yaml")) and "&" not in text:  # anchors can make a small text large
            return _flat(yaml.safe_load(text) or {})
        if name.endswith((".ini", ".cfg")) or is_like(path, _INI):
            return _ini(text)
    except (ValueError, RecursionError, yaml.YAMLError, configparser.Error):
        return None
    return None


def _ini(text: str) -> Values:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    parser.read_string(text)
    return {f"{section}.{key}": value or "" for section in parser.sections() for key, value in parser.items(section)}


def _flat(value: object, prefix: str = "", depth: int = 0) -> Values:
    """Lists of plain values stay together; tables in lists are told apart by their own name, not by their place."""
    if isinstance(value, dict) and depth < _DEEPEST:
        items = [(str(key), inner) for key, inner in value.items()]
    elif isinstance(value, list) and depth < _DEEPEST and any(isinstance(item, dict) for item in value):
        items = [(_name(item, number), item) for number, item in enumerate(value)]
    elif isinstance(value, list):
        return {prefix: tuple(str(item)[:LONGEST_LINE] for item in value)}
    else:
        return {prefix: str(value)[:LONGEST_LINE]}
    found: Values = {}
    for key, inner in items:
        found |= _flat(inner, f"{prefix}.{key}" if prefix else key, depth + 1)
    return found


def _name(item: object, number: int) -> str:
    named = [str(item[key])[:100] for key in _NAMES if key in item] if isinstance(item, dict) else []
    return named[0] if named else str(number)


def by_line(text: str) -> Values:
    """For code that holds settings: each `key: value`, numbered where a key stands more than once."""
    found: Values = {}
    counts: dict[str, int] = {}
    for line in text.split("\n"):
        for key, items, value in _PAIR.findall(line[:LONGEST_LINE]):
            name = f"rules.{key}" if value in _OFF else key.rpartition(".")[2] or key
            counts[name] = counts.get(name, 0) + 1
            place = name if counts[name] == 1 else f"{counts[name]}.{name}"
            found[place] = tuple(re.findall(r"[^\s,\"']+", items)) if items else value
    return found


def by_flag(text: str) -> Values:
    """Thresholds that commands name as options."""
    return {name: number for line in text.split("\n") for name, number in _FLAG.findall(line[:LONGEST_LINE])}
