"""The rows of a job's matrix and the name each is shown by.

Rules: GitHub's "Running variations of jobs in a workflow" and `jobs.<job_id>.strategy.matrix`: a row that an `exclude`
describes is left out; an `include` is added to the rows of which it changes no value of their own, else it is a row.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

from sweeper.errors import Unverifiable
from sweeper.policy.planning.contexts import Row
from sweeper.policy.planning.evaluation import CLOSE, OPEN, Mark, Scope, evaluate, settle
from sweeper.policy.planning.values import Value, are_equal, as_value, text

MOST_ROWS = 256
LONGEST_NAME = 100
_Values = dict[str, Value]


def rows(strategy: object, scope: Scope) -> tuple[Row, ...]:
    """One row per job; a single empty one without a matrix. Raises Unverifiable for a matrix that is not known."""
    settings = as_value(strategy)
    settings = resolve(settings, scope) if isinstance(settings, str) else settings
    if not isinstance(settings, dict) or settings.get("matrix") is None:
        return (Row({}),)
    matrix = resolve(settings["matrix"], scope)
    if not isinstance(matrix, dict):
        raise Unverifiable("the matrix is no mapping")
    found = _combined(matrix)
    if len(found) > MOST_ROWS:
        raise Unverifiable(f"the matrix has more than {MOST_ROWS} rows")
    told: dict[str, Value | Mark] = {
        key: _told(settings[key], scope) for key in ("fail-fast", "max-parallel") if key in settings
    }
    return tuple(Row(values, index, len(found), told) for index, values in enumerate(found))


def _told(value: Value, scope: Scope) -> Value | Mark:
    """A setting of the strategy: no row depends on it."""
    try:
        return resolve(value, scope)
    except Unverifiable:
        return Mark.NEVER


def resolve(value: Value, scope: Scope) -> Value:
    """A value with its expressions worked out; a text that is one expression becomes what it is."""
    match value:
        case str():
            alone = only_expression(value)
            return settle(value, scope) if alone is None else evaluate(alone, scope)
        case list():
            return [resolve(item, scope) for item in value]
        case dict():
            return {key: resolve(item, scope) for key, item in value.items()}
    return value


def only_expression(source: str) -> str | None:
    """The inside of a text that is one `${{ }}` and nothing else."""
    source = source.strip()
    inside = source[len(OPEN) : -len(CLOSE)]
    is_one = source.startswith(OPEN) and source.endswith(CLOSE) and OPEN not in inside and CLOSE not in inside
    return inside.strip() if is_one else None


def _combined(matrix: _Values) -> list[_Values]:
    axes = {key: _items(values, key) for key, values in matrix.items() if key not in ("include", "exclude")}
    if prod(len(values) for values in axes.values()) > MOST_ROWS:
        raise Unverifiable(f"the matrix has more than {MOST_ROWS} rows")
    crossed = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())] if axes else []
    excluded = _entries(matrix.get("exclude"), "exclude")
    own = [row for row in crossed if not any(_agrees(row, entry, entry) for entry in excluded)]
    found, added = [dict(row) for row in own], []
    for entry in _entries(matrix.get("include"), "include"):
        shared = [key for key in entry if key in axes]
        fitting = [row for row, before in zip(found, own, strict=True) if _agrees(before, entry, shared)]
        for row in fitting:
            row.update(entry)
        if not fitting:
            added.append(entry)
    return [*found, *added]


def _items(values: Value, key: str) -> list[Value]:
    if not isinstance(values, list):
        raise Unverifiable(f"the matrix has no list for {key[:40]!r}")
    return values


def _entries(values: Value, key: str) -> list[_Values]:
    entries = [] if values is None else _items(values, key)
    found = [entry for entry in entries if isinstance(entry, dict)]
    if len(found) < len(entries) or len(entries) > MOST_ROWS:
        raise Unverifiable(f"the matrix has no usable list for {key!r}")
    return found


def _agrees(row: Mapping[str, Value], entry: Mapping[str, Value], keys: Sequence[str] | Mapping[str, Value]) -> bool:
    return all(key in row and _is_like(row[key], entry[key]) for key in keys)


def _is_like(value: Value, wanted: Value) -> bool:
    if isinstance(value, dict) and isinstance(wanted, dict):
        return all(key in value and _is_like(value[key], item) for key, item in wanted.items())
    return value == wanted if isinstance(value, list) or isinstance(wanted, list) else are_equal(value, wanted)


def shown_names(key: str, name: str | None, row: Row, scope: Scope) -> tuple[str, ...]:
    """How the API names the job of a row: `key (a, b)`, or by its own name, which gets the same tail if it is fixed."""
    own = name or key
    tail = _with_values(own, row)
    if OPEN in own:
        return (_cut(settle(own, scope)),)
    return (_cut(tail),) if tail == own else (_cut(tail), _cut(own))


def _with_values(name: str, row: Row) -> str:
    leaves, waiting = [], list(row.values.values())
    while waiting:
        match waiting.pop(0):
            case list(items):
                waiting[:0] = items
            case dict(fields):
                waiting[:0] = list(fields.values())
            case scalar:
                leaves.append(text(scalar))
    shown = ", ".join(leaf for leaf in leaves if leaf)
    return f"{name} ({shown})" if shown else name


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 3] + "..."
