"""The words for JSON Schema keywords: why a schema cannot be used, and why a value does not fit one.

The validator reports a kind and a place; these functions make a short sentence of them, for the person who gave the
schema or for the model that gave the value.
"""

import json
from collections.abc import Sequence
from typing import Any, Protocol, cast

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
REGEX = "a regular expression, or one that takes too much memory"
MAPS = ("$defs", "definitions", "dependentSchemas", "dependencies", "patternProperties", "properties")
"""Keywords whose members have names of the schema's author: such a name is no keyword."""
ONE_SCHEMA = (
    "additionalItems",
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
)
COUNTS = (
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
)
A_SCHEMA = "a schema: an object, true or false"
WANTED: dict[str, str] = {
    "type": f"one or several of {', '.join(TYPES)}",
    "enum": "a list of values",
    "required": "a list of names",
    "pattern": REGEX,
    "format": "a word",
    "uniqueItems": "true or false",
    "multipleOf": "a number above 0",
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), "a number"),
    **dict.fromkeys(COUNTS, "a whole number from 0"),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), "a list of schemas"),
    **dict.fromkeys(MAPS, "an object of schemas"),
    **dict.fromkeys(ONE_SCHEMA, A_SCHEMA),
}
SAID: dict[str, str] = {
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "exclusiveMinimum": "must be above {}",
    "exclusiveMaximum": "must be below {}",
    "minLength": "must have at least {} characters",
    "maxLength": "must have at most {} characters",
    "minItems": "must have at least {} items",
    "maxItems": "must have at most {} items",
    "minProperties": "must have at least {} properties",
    "maxProperties": "must have at most {} properties",
    "additionalItems": "must have at most {} items",
    "multipleOf": "must be a multiple of {}",
    "const": "must be {}",
    "format": "must have the format {}",
    "required": "must have the property {}",
    "not": "must not fit {}",
    "uniqueItems": "must not have the same item twice",
    "falseSchema": "must not be there",
}
MAX_BRANCH_PROBLEMS = 3


class SchemaError(ValueError):
    """A schema that cannot be used; the words say where and why."""


class Kind(Protocol):
    """Which keyword a value does not fit, and what the keyword says."""

    @property
    def name(self) -> str: ...
    @property
    def value(self) -> Any: ...
    def as_dict(self) -> dict[str, Any]: ...


class Misfit(Protocol):
    """One thing that does not fit, as the validator reports it."""

    @property
    def message(self) -> str: ...
    @property
    def instance_path(self) -> list[str | int]: ...
    @property
    def schema_path(self) -> list[str | int]: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def instance(self) -> Any: ...


def why_unusable(problem: Misfit) -> str:
    """What is wrong with a schema, for the person who gave it."""
    if problem.kind.name == "$ref":
        return _why_unresolved(problem.message)
    path = problem.instance_path
    at = pointer(path)
    if is_bad_pattern(problem) and path[-2:-1] == ["patternProperties"]:
        return f"{at} is not {REGEX}"
    names = [part for part in path if isinstance(part, str)]
    if not names or (len(path) > 1 and path[-2] in MAPS):
        return f"{at} is not {A_SCHEMA}"
    if names[-1] == "$ref":
        return f"{at} may only lead to a place of the same schema, such as #/$defs/name"
    return f"{at} is not {WANTED[names[-1]]}" if names[-1] in WANTED else f"{at}: {problem.message}"


def is_bad_pattern(problem: Misfit) -> bool:
    """Whether a schema was refused because of a regular expression in it."""
    return problem.kind.name == "format" and problem.kind.value == "regex"


def _why_unresolved(message: str) -> str:
    if message.startswith(("Pointer", "Anchor")):
        return f"a $ref in it leads to {message.split()[1]}, where nothing is"
    if message.startswith("Resource"):
        return f"a $ref in it leads to {message.split()[1]}; it may only lead to another place of the same schema"
    return f"a $ref in it cannot be followed ({message})"


def pointer(path: Sequence[str | int]) -> str:
    """A place in a schema, as a `$ref` would name it."""
    return "/".join(["#", *(str(part).replace("~", "~0").replace("/", "~1") for part in path)])


def why_unfit(problem: Misfit, called: str) -> list[str]:
    """What is wrong with a value that the model knows as `called`: one sentence, or several for the only alternative
    that the value can have been meant as."""
    kind, at = problem.kind, called + _steps(problem.instance_path)
    match kind.name:
        case "type":
            return [f"{at} must be {' or '.join(kind.as_dict()['types'])}, not {type_of(problem.instance)}"]
        case "anyOf" | "oneOf":
            return _why_no_alternative(problem, called, at)
        case "enum":
            return [f"{at} must be one of {', '.join(_json(option) for option in kind.value)}"]
        case "pattern" if "pattern" in kind.as_dict():
            return [f"{at} must match pattern {kind.value}"]
        case "pattern":
            return [f"{at} must match a pattern that takes too long to try on it"]
        case "additionalProperties" | "unevaluatedProperties":
            return [f"{at} must not have {_listed(kind.value, 'the property', 'the properties')}"]
        case "contains" | "unevaluatedItems":
            keyword = str(problem.schema_path[-1]) if problem.schema_path else kind.name
            return [f"{at} must have such items as {keyword} asks for"]
        case "propertyNames":
            return [f"{at} has a property whose name does not fit: {cast(Misfit, kind.value).message}"]
        case name if name in SAID:
            return [f"{at} {SAID[name].format(kind.value if name == 'format' else _json(kind.value))}"]
        case _:
            return [f"{at}: {problem.message}"]


def _why_no_alternative(problem: Misfit, called: str, at: str) -> list[str]:
    branches: list[list[Misfit]] = problem.kind.as_dict()["context"]
    if fitting := sum(not branch for branch in branches):
        return [f"{at} must fit exactly one of the {len(branches)} schemas of oneOf, and fits {fitting}"]
    meant = [branch for branch in branches if not any(_is_of_another_type(one, problem) for one in branch)]
    if len(meant) == 1 and len(meant[0]) <= MAX_BRANCH_PROBLEMS:
        return [words for one in meant[0] for words in why_unfit(one, called)]
    kinds = {
        name for branch in branches for one in branch if one.kind.name == "type" for name in one.kind.as_dict()["types"]
    }
    types = f" ({', '.join(sorted(kinds))})" if kinds and not meant else ""
    return [f"{at} must fit one of the {len(branches)} schemas of {problem.kind.name}{types}, and fits none"]


def _is_of_another_type(one: Misfit, whole: Misfit) -> bool:
    """Whether an alternative asks for another type, or for another constant that tells it apart."""
    here = len(one.instance_path) - len(whole.instance_path)
    return (one.kind.name == "type" and here == 0) or (one.kind.name == "const" and here <= 1)


def _steps(path: Sequence[str | int]) -> str:
    steps = (
        f"[{part}]" if isinstance(part, int) else f".{part}" if part.isidentifier() else f"[{_json(part)}]"
        for part in path
    )
    return "".join(steps)


def _listed(names: list[str], one: str, several: str) -> str:
    return f"{one if len(names) == 1 else several} {', '.join(names)}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def type_of(value: Any) -> str:
    """The type of a value as JSON Schema calls it."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case str():
            return "string"
        case list() | tuple():
            return "array"
        case dict():
            return "object"
        case _:
            return "number"
