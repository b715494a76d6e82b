"""How many steps a validator takes: references make them grow by a power in two ways, counted before it starts.

References to places that refer twice to others, and so on, are followed anew each time (`copies`). A reference that
leads back to where it stands is judged with a memory, each part of a value once; but telling what is wrong has none, so
there the steps grow with each level of the value (`takes_few_steps`).
"""

from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import unquote

Json = dict[str, Any]
MAX_STEPS = 20_000
STEPS_PER_PART = 20
"""A long flat value takes many steps, too, but as many as it has parts."""
SAME_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")
CHILDREN = (
    "additionalItems",
    "additionalProperties",
    "contains",
    "items",
    "patternProperties",
    "prefixItems",
    "unevaluatedItems",
    "unevaluatedProperties",
)


class _Copies:
    """One count of a schema with all that its references lead to, as often as they lead there."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self._known: dict[int, int] = {}
        self._open: set[int] = set()
        self._named = [node for node in _nodes(root) if node.keys() & {"$anchor", "$dynamicAnchor", "$id"}]
        """Where references that are no pointers may lead."""

    def of(self, node: Any, base: Json) -> int:
        if not isinstance(node, dict | list) or id(cast(Any, node)) in self._open:
            return 1
        if (known := self._known.get(id(cast(Any, node)))) is None:
            self._open.add(id(cast(Any, node)))
            known = self._known[id(cast(Any, node))] = self._counted(cast(Any, node), base)
            self._open.discard(id(cast(Any, node)))
        return known

    def _counted(self, node: Json | list[Any], base: Json) -> int:
        if isinstance(node, list):
            return sum(self.of(item, base) for item in node)
        base = node if "$id" in node else base
        count = 1 + sum(self.of(part, base) for name, part in node.items() if name not in ("$defs", "definitions"))
        for name in ("$ref", "$dynamicRef", "$recursiveRef"):
            if isinstance(node.get(name), str):
                target, its_base = _resolved(base, node[name])
                places = [(target, its_base)] if target is not None else [(one, one) for one in self._named]
                count += max((self.of(*place) for place in places), default=1)
        return count


def copies(root: Json) -> int:
    """How many places a schema has when every reference but those that lead back is replaced by what it refers to.
    Raises RecursionError for one that is nested or refers on beyond reason."""
    return _Copies(root).of(root, root)


def _nodes(root: Json) -> list[Json]:
    found: list[Json] = []
    waiting: list[Any] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            found.append(cast(Json, node))
        waiting.extend(_children(node))
    return found


def depth_and_size(value: Any) -> tuple[int, int]:
    """How deep a value is nested, and how many parts it has."""
    depth, size, level = 0, 0, [value]
    while level:
        depth, size = depth + 1, size + len(level)
        level = [child for part in level for child in _children(part)]
    return depth, size


def takes_few_steps(root: Json, value: Any, size: int) -> bool:
    """Whether a walk of the value along the schema stays within the bound. A reference that is not a pointer within
    the schema counts as too many: where it leads depends on more than its place."""
    left = MAX_STEPS + STEPS_PER_PART * size
    waiting: list[tuple[Any, Any, Json]] = [(root, value, root)]
    while waiting:
        node, part, base = waiting.pop()
        if not isinstance(node, dict):
            continue
        left -= 1
        schema = cast(Json, node)
        base = schema if "$id" in schema else base
        if left < 0 or "$dynamicRef" in schema or "$recursiveRef" in schema:
            return False
        if "$ref" in schema:
            target, its_base = _resolved(base, schema["$ref"])
            if target is None:
                return False
            waiting.append((target, part, its_base))
        waiting.extend((member, child, base) for member, child in _next(schema, part))
    return True


def _next(schema: Json, part: Any) -> Iterator[tuple[Any, Any]]:
    for keyword in SAME_PLACE:
        for member in _schemas(schema.get(keyword), is_map=keyword == "dependentSchemas"):
            yield member, part
    for keyword in CHILDREN:
        for member in _schemas(schema.get(keyword), is_map=keyword == "patternProperties"):
            for child in _children(part):
                yield member, child
    properties, given = schema.get("properties"), part
    if isinstance(properties, dict) and isinstance(given, dict):
        for name, member in cast(Json, properties).items():
            if name in given:
                yield member, cast(Json, given)[name]


def _schemas(value: Any, *, is_map: bool = False) -> list[Any]:
    if isinstance(value, list):
        return cast(list[Any], value)
    if isinstance(value, dict):
        return list(cast(Json, value).values()) if is_map else [cast(Json, value)]
    return []


def _children(part: Any) -> list[Any]:
    return (
        cast(list[Any], part)
        if isinstance(part, list)
        else list(cast(Json, part).values())
        if isinstance(part, dict)
        else []
    )


def _resolved(base: Json, reference: Any) -> tuple[Any, Json]:
    """Where a pointer leads within the schema that it stands in, and the schema that the place stands in; None: it is
    no pointer, or nothing is there."""
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return None, base
    place: Any = base
    for part in unquote(reference).split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(place, dict):
            place = cast(Json, place).get(key)
            base = cast(Json, place) if isinstance(place, dict) and "$id" in place else base
        elif isinstance(place, list) and key.isdecimal() and int(key) < len(cast(list[Any], place)):
            place = cast(list[Any], place)[int(key)]
        else:
            return None, base
    return cast(Any, place), base
