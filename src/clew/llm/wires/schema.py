"""JSON schemas in the narrower forms some providers want."""

from typing import Any, cast


def closed(schema: Any) -> Any:
    """The schema with every object closed to unknown keys, as constrained decoding asks."""
    if isinstance(schema, list):
        return [closed(item) for item in cast(list[Any], schema)]
    if not isinstance(schema, dict):
        return schema
    shape = {key: closed(value) for key, value in cast(dict[str, Any], schema).items()}
    if shape.get("type") == "object" and "additionalProperties" not in shape:
        shape["additionalProperties"] = False
    return shape
