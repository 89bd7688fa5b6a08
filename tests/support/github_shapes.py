"""GitHub's own description of its REST answers, and whether an answer fits it.

The description is an OpenAPI 3.0 document; what is checked is what such a document says of shapes: required fields,
types, null, enumerations, and which of several schemas fits.
"""

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

Schema = dict[str, Any]
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}


@cache
def described() -> Schema:
    """The description; skips the test where it is not at hand."""
    root = Path(os.environ.get("SWEEPER_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data")
    path = root / "openapi-slim.json"
    if not path.is_file():
        pytest.skip("GitHub's description of its API is not here")
    found: Schema = json.loads(path.read_text())
    return found


def misfits(path: str, answer: object, status: str = "200") -> list[str]:
    """What is wrong with the answer to a GET of a described path, as `place: what`."""
    response = _resolved(described()["paths"][path]["get"]["responses"][status])
    return list(_wrong(answer, response["content"]["application/json"]["schema"], "answer"))


def _resolved(schema: Schema) -> Schema:
    while "$ref" in schema:
        found: Any = described()
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        schema = found
    return schema


def _wrong(value: object, schema: Schema, where: str) -> Iterator[str]:
    schema = _resolved(schema)
    if value is None and schema.get("nullable"):
        return
    for name in ("anyOf", "oneOf"):
        found = [list(_wrong(value, one, where)) for one in schema.get(name, ())]
        if found and all(found):
            yield from min(found, key=len)
    for part in schema.get("allOf", ()):
        yield from _wrong(value, part, where)
    if value is None:
        if "type" in schema:
            yield f"{where}: is null"
        return
    expected = _TYPES.get(schema.get("type", ""))
    if expected and (not isinstance(value, expected) or (isinstance(value, bool) and bool not in expected)):
        yield f"{where}: is no {schema['type']}"
    elif "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is none of {schema['enum']}"
    else:
        yield from _inside(value, schema, where)


def _inside(value: object, schema: Schema, where: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{where}: lacks {name}" for name in schema.get("required", ()) if name not in value)
        for name, inner in schema.get("properties", {}).items():
            if name in value:
                yield from _wrong(value[name], inner, f"{where}.{name}")
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _wrong(item, schema.get("items", {}), f"{where}[{at}]")
