"""JSON Schema as far as msgspec writes it: what in a value does not fit. Stdlib only."""

from collections.abc import Callable, Iterator
from typing import Any

Json = dict[str, Any]
TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
}
KNOWN = {
    "$schema",
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "default",
    "description",
    "discriminator",
    "enum",
    "items",
    "properties",
    "required",
    "title",
    "type",
}


def violations(value: Any, schema: Json, root: Json, at: str = "$") -> Iterator[str]:
    """Sentences about what is wrong; none when the value fits. A keyword that is not known here is an error."""
    assert set(schema) <= KNOWN, f"{at}: {set(schema) - KNOWN}"
    if "$ref" in schema:
        yield from violations(value, root["$defs"][schema["$ref"].rpartition("/")[2]], root, at)
        return
    if "anyOf" in schema:
        ways = [list(violations(value, way, root, at)) for way in schema["anyOf"]]
        if all(ways):
            yield f"{at} fits none of {len(ways)}, best: {min(ways, key=len)[:3]}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at} is {value!r}, not one of {schema['enum']}"
    if "const" in schema and value != schema["const"]:
        yield f"{at} is {value!r}, not {schema['const']!r}"
    wanted = schema.get("type")
    if wanted is not None and not TYPES[wanted](value):
        yield f"{at} is no {wanted}: {value!r}"
        return
    if isinstance(value, dict):
        yield from _members(value, schema, root, at)
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from violations(item, schema.get("items", {}), root, f"{at}[{number}]")


def _members(value: Json, schema: Json, root: Json, at: str) -> Iterator[str]:
    yield from (f"{at} has no {name}" for name in schema.get("required", []) if name not in value)
    known = schema.get("properties", {})
    others = schema.get("additionalProperties", {})
    for name, item in value.items():
        if name in known:
            yield from violations(item, known[name], root, f"{at}.{name}")
        elif isinstance(others, dict):
            yield from violations(item, others, root, f"{at}.{name}")
        elif not others:
            yield f"{at} has {name}, which is not foreseen"
