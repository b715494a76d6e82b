"""The keywords of a JSON Schema: whether their values make sense, and what is left of them for a validator."""

from collections.abc import Callable, Iterator
from typing import Any, cast
from urllib.parse import unquote

from clew.system.safe_patterns import BadPattern, compiled

Json = dict[str, Any]
MAX_DEPTH = 30
TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
UNCHECKED = (
    "$dynamicRef",
    "$recursiveRef",
    "maxContains",
    "minContains",
    "unevaluatedItems",
    "unevaluatedProperties",
)
"""What would be ignored if it were taken: a shape that is not checked must not seem to be."""
ONE_SCHEMA = (
    "additionalItems",
    "additionalProperties",
    "contains",
    "else",
    "if",
    "not",
    "propertyNames",
    "then",
)
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
REGEX = "a regular expression (no looking behind, no references to groups, looking ahead only after a first ^)"
MAPS = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")


class SchemaError(ValueError):
    """A schema that cannot be used; the words say where and why."""


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_count(value: Any) -> bool:
    return is_number(value) and value >= 0 and value == int(value)


def is_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in cast(list[Any], value))


def is_type(value: Any) -> bool:
    names = cast(list[Any], value) if isinstance(value, list) else [value]
    return bool(names) and all(name in TYPES for name in names if isinstance(name, str)) and is_words(names)


def is_regex(value: Any) -> bool:
    try:
        return isinstance(value, str) and compiled(value) is not None
    except BadPattern:
        return False


PLAIN: dict[str, tuple[Callable[[Any], bool], str]] = {
    "type": (is_type, f"one or several of {', '.join(TYPES)}"),
    "enum": (lambda value: isinstance(value, list) and bool(cast(list[Any], value)), "a list of values"),
    "const": (lambda value: True, ""),
    "required": (is_words, "a list of names"),
    "pattern": (is_regex, REGEX),
    "format": (lambda value: isinstance(value, str), "a word"),
    "uniqueItems": (lambda value: isinstance(value, bool), "true or false"),
    "multipleOf": (lambda value: is_number(value) and value > 0, "a number above 0"),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), (is_number, "a number")),
    **dict.fromkeys(COUNTS, (is_count, "a whole number from 0")),
}


class Walker:
    """One walk through a schema. What it returns holds only keywords that were looked at, and every reference by a
    name of ours: two places whose names differ by a letter's case stay two places."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self._names: dict[str, str] = {}
        """Where references lead, and what the places are called."""
        self.patterns: set[str] = set()
        """Every regular expression that was met."""

    def walked(self) -> Json:
        """The schema for the validator. Raises SchemaError."""
        found = self._schema(self._root, "#", 0)
        assert isinstance(found, dict)
        places: Json = {}
        while waiting := [pointer for pointer, name in self._names.items() if name not in places]:
            for pointer in waiting:
                places[self._names[pointer]] = self._schema(self._resolved(pointer), pointer, 0)
        return {**found, "definitions": places} if places else found

    def _schema(self, node: Any, at: str, depth: int) -> Json | bool:
        if isinstance(node, bool):
            return node
        if not isinstance(node, dict):
            raise SchemaError(f"{at} is not a schema: an object, true or false")
        if depth > MAX_DEPTH:
            raise SchemaError(f"{at} lies more than {MAX_DEPTH} schemas deep")
        schema = cast(Json, node)
        if unchecked := next((name for name in UNCHECKED if name in schema), ""):
            raise SchemaError(f"{at} has {unchecked}, which is not checked here")
        found: Json = {}
        for name, value in self._keywords(schema, at, depth):
            if name == "dependencies" and (twice := set(found.get(name, {})) & set(value)):
                raise SchemaError(f"{at} says two things about what {min(twice)} needs")
            found[name] = {**found.get(name, {}), **value} if name == "dependencies" else value
        if "$ref" not in schema:
            return found
        reference: Json = {"$ref": f"#/definitions/{self._name(schema['$ref'], at)}"}
        return {"allOf": [reference, found]} if found else reference

    def _keywords(self, schema: Json, at: str, depth: int) -> Iterator[tuple[str, Any]]:
        for name, value in schema.items():
            here = f"{at}/{name}"
            if name in PLAIN:
                fits, what = PLAIN[name]
                if not fits(value):
                    raise SchemaError(f"{here} is not {what}")
                if name == "pattern":
                    self.patterns.add(value)
                yield name, value
            elif name in ONE_SCHEMA:
                yield name, self._schema(value, here, depth + 1)
            elif name in LISTS:
                yield "items" if name == "prefixItems" else name, self._schemas(value, here, depth)
            elif name in MAPS:
                yield from self._map(name, value, here, depth)
            elif name == "items" and "prefixItems" not in schema:
                listed = isinstance(value, list)
                yield name, self._schemas(value, here, depth) if listed else self._schema(value, here, depth + 1)
            elif name == "items":
                yield "additionalItems", self._schema(value, here, depth + 1)
            elif name in ("dependencies", "dependentRequired"):
                yield "dependencies", self._dependencies(value, here, depth)

    def _map(self, name: str, value: Any, here: str, depth: int) -> Iterator[tuple[str, Any]]:
        if not isinstance(value, dict):
            raise SchemaError(f"{here} is not an object of schemas")
        members = cast(Json, value)
        if name == "patternProperties" and (bad := next((key for key in members if not is_regex(key)), None)):
            raise SchemaError(f"{here}/{bad} is not {REGEX}")
        if name == "patternProperties":
            self.patterns.update(members)
        found = {key: self._schema(member, f"{here}/{key}", depth + 1) for key, member in members.items()}
        if name == "dependentSchemas":
            yield "dependencies", found
        elif name not in ("$defs", "definitions"):  # those are taken where a reference leads to them
            yield name, found

    def _schemas(self, value: Any, here: str, depth: int) -> list[Json | bool]:
        if not isinstance(value, list) or not value:
            raise SchemaError(f"{here} is not a list of schemas")
        return [self._schema(item, f"{here}/{at}", depth + 1) for at, item in enumerate(cast(list[Any], value))]

    def _dependencies(self, value: Any, here: str, depth: int) -> Json:
        if not isinstance(value, dict):
            raise SchemaError(f"{here} is not an object")
        found: Json = {}
        for key, needs in cast(Json, value).items():
            found[key] = needs if is_words(needs) else self._schema(needs, f"{here}/{key}", depth + 1)
        return found

    def _name(self, reference: Any, at: str) -> str:
        if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
            raise SchemaError(f"{at}/$ref may only lead to a place of the same schema, such as #/$defs/name")
        self._resolved(reference)
        return self._names.setdefault(reference, f"place{len(self._names)}")

    def _resolved(self, pointer: str) -> Any:
        place: Any = self._root
        for part in unquote(pointer).split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(place, dict) and key in place:
                place = cast(Json, place)[key]
            elif isinstance(place, list) and key.isdecimal() and int(key) < len(cast(list[Any], place)):
                place = cast(list[Any], place)[int(key)]
            else:
                raise SchemaError(f"a $ref leads to {pointer}, where nothing is")
        return place
