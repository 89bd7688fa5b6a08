"""`.github/sweeper.yml`: what a repository itself says about checks and fixes.

It is read from the default branch, so that whoever opens a pull request cannot change how it is judged.
"""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Annotated

import yaml
from pydantic import Field, PositiveInt, StringConstraints, ValidationError

from sweeper.errors import BadInput
from sweeper.model import Limits, Strict
from sweeper.policy.planning import hostile_yaml

CONFIG_PATH = ".github/sweeper.yml"
MOST_ENTRIES = 100

_Line = Annotated[str, StringConstraints(min_length=1, max_length=4000, strip_whitespace=True, strict=True)]
_Lines = Annotated[tuple[_Line, ...], Field(max_length=MOST_ENTRIES)]
_Place = tuple[str | int, ...]

_SCHEMA_TITLE = "CI Sweeper's settings of a repository"


class ChangeLimits(Strict):
    """The largest change a fix may be here. Only what is smaller than the operator's own limit counts."""

    files: Annotated[PositiveInt | None, Field(strict=True, description="Files that are changed.")] = None
    lines: Annotated[PositiveInt | None, Field(strict=True, description="Lines added and removed.")] = None
    bytes: Annotated[PositiveInt | None, Field(strict=True, description="Bytes of the files that are changed.")] = None


class RepositoryConfig(Strict):
    """What `.github/sweeper.yml` may say."""

    setup: Annotated[
        _Lines, Field(description="Shell commands that run before each check, in order, at the repository's root.")
    ] = ()
    checks: Annotated[
        _Lines, Field(description="Shell commands that show whether a fix is one, in place of the workflow's steps.")
    ] = ()
    protected: Annotated[
        _Lines, Field(description="Paths no fix may touch, as globs from the root; `**` crosses directories.")
    ] = ()
    limits: Annotated[ChangeLimits, Field(description="The largest change a fix may be; it can only be made less.")] = (
        ChangeLimits()
    )


def read_config(data: bytes | None) -> RepositoryConfig:
    """The settings; all defaults if there is no file.

    Raises BadInput naming file and line of the first mistake, with the key that may have been meant.
    """
    if data is None:
        return RepositoryConfig()
    try:
        value = hostile_yaml.read(data)
    except ValueError as error:
        raise BadInput(f"{CONFIG_PATH}{_line_of_syntax(error)} {error}; correct it.") from error
    lines = _Lined(data)
    try:
        return RepositoryConfig.model_validate(_whole_numbers({} if value is None else value))
    except ValidationError as error:
        raise BadInput(_sentence(error, lines)) from error


def tightened(limits: Limits, config: RepositoryConfig) -> Limits:
    """The operator's limits, less where the repository asks for less."""
    own = {name: value for name, value in config.limits.model_dump().items() if value is not None}
    return limits.model_copy(update={name: min(value, getattr(limits, name)) for name, value in own.items()})


def config_schema() -> dict[str, object]:
    """The JSON schema that editors use."""
    return {**RepositoryConfig.model_json_schema(), "title": _SCHEMA_TITLE}


def _whole_numbers(value: object) -> object:
    """The reader knows only floats; a limit is a whole number."""
    if isinstance(value, dict):
        return {key: _whole_numbers(item) for key, item in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _line_of_syntax(error: ValueError) -> str:
    mark = getattr(error.__cause__, "problem_mark", None)
    return "" if mark is None else f", line {mark.line + 1},"


def _sentence(error: ValidationError, lines: "_Lined") -> str:
    first = min(error.errors(), key=lambda found: lines.number(found["loc"]))
    place, line = first["loc"], lines.number(first["loc"])
    name = ".".join(str(part) for part in place if isinstance(part, str)) or "the file"
    where = f"{CONFIG_PATH}, line {line}:"
    if first["type"] == "extra_forbidden":
        return f"{where} {_unknown(place)}"
    return f"{where} {name[:80]!r} {_expected(first['type'], first['msg'])}; correct it."


def _unknown(place: _Place) -> str:
    known = ChangeLimits.model_fields if place[0] == "limits" and len(place) > 1 else RepositoryConfig.model_fields
    key = str(place[-1])[:80]
    meant = get_close_matches(key, known, n=1)
    advice = f"did you mean {meant[0]!r}?" if meant else f"there are {', '.join(known)}."
    return f"there is no setting {key!r}, {advice}"


def _expected(kind: str, message: str) -> str:
    match kind:
        case "tuple_type":
            return "has to be a list of commands or paths, one after a dash each"
        case "string_type":
            return "has to hold texts; quote what looks like a number or a word of YAML"
        case "model_type" | "dict_type":
            return "has to be a mapping of settings"
        case "int_type" | "int_parsing" | "greater_than":
            return "has to be a whole number above 0"
    return f"is refused: {message[:1].lower()}{message[1:200]}"


class _Lined:
    """On which line each value of the document stands. Raises BadInput for a key that is there twice."""

    def __init__(self, data: bytes) -> None:
        root = yaml.compose(data, hostile_yaml.Loader)
        self._lines: dict[_Place, int] = {}
        for place, line in _numbered(root, ()) if root is not None else ():
            if place in self._lines:
                name = ".".join(map(str, place))[:80]
                raise BadInput(f"{CONFIG_PATH}, line {line}: {name!r} is set a second time; keep one of them.")
            self._lines[place] = line

    def number(self, place: _Place) -> int:
        """The line of the value, else of the nearest one around it."""
        while place and place not in self._lines:
            place = place[:-1]
        return self._lines.get(place, 1)


def _numbered(node: yaml.Node, place: _Place) -> Iterator[tuple[_Place, int]]:
    """Depth is bounded by the model: what lies deeper is refused as a whole."""
    if not place:
        yield place, node.start_mark.line + 1
    if len(place) > 2:
        return
    if isinstance(node, yaml.MappingNode):
        for key, item in node.value:
            inner = (*place, str(key.value))
            yield inner, key.start_mark.line + 1
            yield from _numbered(item, inner)
    elif isinstance(node, yaml.SequenceNode):
        for n, item in enumerate(node.value):
            yield (*place, n), item.start_mark.line + 1
            yield from _numbered(item, (*place, n))
