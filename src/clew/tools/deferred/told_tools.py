"""What a model is told of tools that others brought: their words, bounded, on one line, and never as ours."""

from typing import Any, cast

import msgspec

from clew.protocol.meant_calls import ToolSpec
from clew.text.terminal_text import sanitize
from clew.tools.deferred.described import properties_of, required_of

Json = dict[str, Any]
MAX_NAME_CHARS = 128
MAX_DESCRIPTION_CHARS = 1_200
KEPT_DEPTH = 3
WORDS_IN_SCHEMA = ("description", "title", "examples", "default", "$comment", "markdownDescription")


def plain_words(text: str, max_chars: int) -> str:
    """Somebody else's words on one line, without anything that cannot be seen, cut where they are long."""
    line = " ".join(sanitize(text[: max_chars * 4]).split())
    return line if len(line) <= max_chars else line[: max_chars - 1] + "…"


def told_spec(spec: ToolSpec) -> ToolSpec:
    """The same tool as it may stand among ours: its words cleaned and bounded."""
    return ToolSpec(
        name=spec.name,
        description=plain_words(spec.description, MAX_DESCRIPTION_CHARS),
        schema=cast("Json", clean(spec.schema)),
    )


def told_tool(spec: ToolSpec, *, source: str, max_bytes: int) -> str:
    """One line of JSON: name, whose it is, description, schema. A schema that is too long loses its words first, then
    what lies deep in it; the names of its parameters stay."""
    told: Json = {"name": plain_words(spec.name, MAX_NAME_CHARS)}
    if source:
        told["server"] = plain_words(source, MAX_NAME_CHARS)
    told["description"] = plain_words(spec.description, min(MAX_DESCRIPTION_CHARS, max_bytes // 2))
    for shape in (lambda: clean(spec.schema), lambda: without_words(spec.schema), lambda: shallow(spec.schema)):
        line = msgspec.json.encode(told | {"schema": shape()})
        if len(line) <= max_bytes:
            return line.decode()
    most = max(max_bytes // 80, 1)
    short: Json = {"type": "object", "properties": {}}
    short["properties"] = {plain_words(name, 60): {} for name in list(properties_of(spec.schema))[:most]}
    short["required"] = [plain_words(name, 60) for name in required_of(spec.schema)[:most]]
    return msgspec.json.encode(told | {"schema": short, "cut": "the schema is longer"}).decode()


def clean(node: Any, *, depth: int = 0) -> Any:
    """A schema without invisible letters in its texts."""
    if depth > 60:
        return {}
    if isinstance(node, dict):
        return {
            plain_words(key, 200): clean(value, depth=depth + 1)
            for key, value in cast("Json", node).items()
            if key != "$schema"
        }
    if isinstance(node, list):
        return [clean(item, depth=depth + 1) for item in cast("list[Any]", node)]
    return plain_words(node, 2_000) if isinstance(node, str) else node


def without_words(node: Any) -> Any:
    """The schema without what only explains."""
    return _fewer(clean(node), depth=1_000)


def shallow(node: Any) -> Any:
    """The same, without what lies deep."""
    return _fewer(clean(node), depth=KEPT_DEPTH)


def _fewer(node: Any, *, depth: int) -> Any:
    """`depth`: how many levels of schemas stay. The names below `properties` are names, whatever they are."""
    if isinstance(node, list):
        return [_fewer(item, depth=depth) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    if depth <= 0:
        kind = cast("Json", node).get("type")
        return {"type": kind} if isinstance(kind, str) else {}
    kept: Json = {}
    for key, value in cast("Json", node).items():
        if key == "properties" and isinstance(value, dict):
            kept[key] = {name: _fewer(shape, depth=depth - 1) for name, shape in cast("Json", value).items()}
        elif key not in WORDS_IN_SCHEMA:
            kept[key] = _fewer(value, depth=depth - 1)
    return kept
