"""JSON schemas of tool parameters, made from their Structs, small on the wire; and readable decoding errors."""

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import FieldInfo, fields

SCALARS: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


def schema_of(params: type[Struct]) -> dict[str, Any]:
    """An inline object schema: no titles, no references, no null alternatives, no defaults."""
    known = fields(params)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {field.encode_name: type_schema(field.type) for field in known},
    }
    required = [field.encode_name for field in known if field.required]
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False
    return schema


def type_schema(kind: Any) -> dict[str, Any]:
    """The schema of one annotation; an optional value is described as the value alone."""
    origin = get_origin(kind)
    if origin is Annotated:
        inner, *notes = get_args(kind)
        return type_schema(inner) | meta_schema(notes)
    if origin is Literal:
        return {"type": "string", "enum": list(get_args(kind))}
    if origin is Union or origin is UnionType:
        options = [option for option in get_args(kind) if option is not NoneType]
        if len(options) == 1:
            return type_schema(options[0])
        return {"anyOf": [type_schema(option) for option in options]}
    if origin in (tuple, list):
        return {"type": "array", "items": type_schema(get_args(kind)[0])}
    if kind in SCALARS:
        return {"type": SCALARS[kind]}
    if isinstance(kind, type) and issubclass(kind, Struct):
        return schema_of(kind)
    raise TypeError(f"a tool parameter cannot have the type {kind!r}")


def meta_schema(notes: list[Any]) -> dict[str, Any]:
    """What a `Meta` adds."""
    extra: dict[str, Any] = {}
    for note in notes:
        if not isinstance(note, Meta):
            continue
        if note.description is not None:
            extra["description"] = note.description
        if note.ge is not None:
            extra["minimum"] = note.ge
        if note.le is not None:
            extra["maximum"] = note.le
        if note.max_length is not None:
            extra["maxItems"] = note.max_length
    return extra


class BadArguments(ValueError):
    """The model's arguments do not fit; the message is for the model."""


def decode_arguments(tool: str, params: type[Struct], arguments: Mapping[str, Any]) -> Struct:
    """The typed parameters, numbers and booleans written as strings included, or `BadArguments`."""
    given = {key: value for key, value in arguments.items() if value is not None}
    try:
        return msgspec.convert(given, params, strict=False)
    except msgspec.ValidationError as error:
        words = str(error).replace("`", "'").replace(" - at '$.", " for '").replace("Object ", "the call ")
        expected = ", ".join(signature(field) for field in fields(params))
        raise BadArguments(f"Wrong arguments for {tool}, nothing was run: {words}. Parameters: {expected}.") from None


def signature(field: FieldInfo) -> str:
    """One parameter in words, such as `limit: integer (optional)`."""
    kind = type_schema(field.type).get("type", "value")
    return f"{field.encode_name}: {kind}" + ("" if field.required else " (optional)")
