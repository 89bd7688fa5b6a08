"""Values of workflow expressions and how they turn into one another.

Rules: GitHub's "Evaluate expressions in workflows and actions" (literals, operators). Strings compare without regard to
case; values of different kinds are compared as numbers; objects and arrays are equal only to themselves.
"""

import math
import re

Value = None | bool | float | str | list["Value"] | dict[str, "Value"]
"""What an expression can be; all numbers are floats."""

MOST_TEXT = 64 * 1024
"""Characters that one text may have once its expressions are filled in."""

_DECIMAL = re.compile(r"[-+]?(?:[0-9]{1,400}\.?[0-9]{0,400}|\.[0-9]{1,400})(?:[eE][-+]?[0-9]{1,4})?")
_BASED = re.compile(r"0[xX][0-9a-fA-F]{1,16}|0[oO][0-7]{1,20}")


def as_value(data: object) -> Value:
    """What a YAML or JSON reader made, as a value; anything a workflow cannot hold becomes text."""
    match data:
        case None | bool() | str() | float():
            return data
        case int():
            return number(str(data))
        case list():
            return [as_value(item) for item in data]
        case dict():
            return {text(as_value(key)): as_value(item) for key, item in data.items()}
    return str(data)


def text(value: Value) -> str:
    """As it is put into a text."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case float():
            return _number_text(value)
        case str():
            return value
        case list():
            return "Array"
        case dict():
            return "Object"


def _number_text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return f"{value:.15g}" if value else "0"


def number(value: Value) -> float:
    """As it is compared with a number; NaN for what is none."""
    match value:
        case None:
            return 0.0
        case bool() | float():
            return float(value)
        case str():
            return _parsed(value.strip())
    return math.nan


def _parsed(value: str) -> float:
    if not value:
        return 0.0
    if _BASED.fullmatch(value):
        return float(int(value, 0))
    return float(value) if _DECIMAL.fullmatch(value) else math.nan


def is_true(value: Value) -> bool:
    """Whether a condition holds: all but false, 0, empty text, null and NaN."""
    match value:
        case None | bool() | str():
            return bool(value)
        case float():
            return bool(value) and not math.isnan(value)
    return True


def are_equal(left: Value, right: Value) -> bool:
    """`==`."""
    if isinstance(left, str) and isinstance(right, str):
        return left.casefold() == right.casefold()
    if isinstance(left, list | dict) or isinstance(right, list | dict):
        return left is right
    if left is None and right is None:
        return True
    return number(left) == number(right)


def is_less(left: Value, right: Value) -> bool:
    """`<`; texts by their letters, all else by number."""
    if isinstance(left, str) and isinstance(right, str):
        return left.casefold() < right.casefold()
    return number(left) < number(right)
