"""The shape an answer must have: a JSON Schema that somebody gave, compiled by jsonschema-rs, ready to judge values.

Schemas come from people, programs and servers, values from models, so neither may hang or end the process: references
stay within the schema, expressions are matched in linear time or with a bound, deep values are refused, and what is
wrong is told in full only where telling it takes few steps.
"""

import re
from collections.abc import Callable
from typing import Any, cast

import jsonschema_rs
import msgspec

from clew.tools.schemas.keywords import SchemaError, is_bad_pattern, why_unfit, why_unusable
from clew.tools.schemas.steps import copies, depth_and_size, takes_few_steps

Json = dict[str, Any]
MAX_BYTES = 64 * 1024
"""A compiled schema takes time and memory in proportion to it."""
MAX_COPIES = 1_000_000
"""What a value may be held against: 30 ms for each of its parts at the very most."""
MAX_DEPTH = 200
"""Of values: the validator recurses, and a deep enough value would end the process."""
MAX_PATTERN_BYTES = 1 << 20
"""What one compiled expression may take."""
MAX_BACKTRACKS = 1000
"""For expressions with looking around or references to groups, which no linear engine has: each may cost as many steps
as the text is long."""
MAX_PROBLEMS = 5
MAX_PROBLEM_CHARS = 300
WRAPPED = "output"
UNFIT = ("allOf", "anyOf", "oneOf", "not", "if", "$ref", "$dynamicRef", "enum", "const")
"""What providers do not take at the top of a tool's parameters."""
DRAFTS = (
    "json-schema.org/draft-04/schema",
    "json-schema.org/draft-06/schema",
    "json-schema.org/draft-07/schema",
    "json-schema.org/draft/2019-09/schema",
    "json-schema.org/draft/2020-12/schema",
)
FENCED = re.compile(r"```[a-zA-Z]*\n(.*)\n```", re.DOTALL)
LINEAR = jsonschema_rs.RegexOptions(size_limit=MAX_PATTERN_BYTES)
BOUNDED = jsonschema_rs.FancyRegexOptions(size_limit=MAX_PATTERN_BYTES, backtrack_limit=MAX_BACKTRACKS)


class NoJson(ValueError):
    """A text that is no JSON."""


class AnswerSchema:
    """One schema. `parameters` is what a model is told of it as the parameters of a tool, which must be an object:
    anything else is put into one."""

    def __init__(self, given: Json) -> None:
        """Raises SchemaError with words for the person who gave it."""
        try:
            data = msgspec.json.encode(given)
        except (TypeError, ValueError, RecursionError) as error:
            raise SchemaError(f"it is not JSON ({error})") from None
        if len(data) > MAX_BYTES:
            raise SchemaError(f"it is longer than {MAX_BYTES >> 10} kB")
        self.given: Json = msgspec.json.decode(data)
        self._validator = bounded(self.given)
        self._wraps = not is_object(self.given)
        self.parameters = self._parameters()

    def _parameters(self) -> Json:
        told = {name: value for name, value in self.given.items() if name != "$schema"}
        if not self._wraps:
            return {"type": "object", **told}
        return {
            "type": "object",
            "properties": {WRAPPED: moved(told)},
            "required": [WRAPPED],
            "additionalProperties": False,
        }

    def value_in(self, arguments: Any) -> Any:
        """The answer within the arguments of a call."""
        return arguments[WRAPPED] if self._wraps and set(arguments) == {WRAPPED} else arguments

    def problems(self, value: Any, *, called: str = "output") -> str:
        """What keeps a value from having the shape, in words for a model, who knows it as `called`; empty: nothing."""
        depth, size = depth_and_size(value)
        if depth > MAX_DEPTH:
            return "it is nested too deeply"
        try:
            if self._validator.is_valid(value):  # remembers what it has judged, unlike what follows
                return ""
            if not takes_few_steps(self.given, value, size):
                return f"{called} does not have the shape that the schema asks for"
            problems = (words for one in self._validator.iter_errors(value) for words in why_unfit(one, called))
            return sentence(list(dict.fromkeys(problems)))
        except ValueError as error:
            return f"it is not JSON ({error})"


def bounded(schema: Json) -> jsonschema_rs.Validator:
    """What judges, for a schema whose references do not multiply each other. Raises SchemaError."""
    try:
        too_many = copies(schema) > MAX_COPIES
    except RecursionError:
        raise SchemaError("it is nested too deeply") from None
    if too_many:
        raise SchemaError(f"the references in it multiply each other to more than {MAX_COPIES} places")
    return compiled(schema)


def compiled(schema: Json) -> jsonschema_rs.Validator:
    """What judges. The schema is of the draft that it names, or 2020-12; without a name, where it is none of that,
    draft 7, which many programs still write. Raises SchemaError."""
    if "$schema" in schema and not is_known_draft(schema["$schema"]):
        schema = {name: value for name, value in schema.items() if name != "$schema"}
    try:
        return of_draft(jsonschema_rs.validator_for, schema)
    except jsonschema_rs.ValidationError as error:
        if "$schema" not in schema:
            try:
                return of_draft(jsonschema_rs.Draft7Validator, schema)
            except jsonschema_rs.ValidationError:
                pass
        raise SchemaError(" ".join(why_unusable(error).split())) from None
    except ValueError as error:
        deep = "Recursion limit" in str(error)
        raise SchemaError("it is nested too deeply" if deep else f"it is not a schema ({error})") from None


def of_draft(make: Callable[..., jsonschema_rs.Validator], schema: Json) -> jsonschema_rs.Validator:
    """The validator with the linear engine for expressions, or the bounded one where the schema needs it."""
    try:
        return make(schema, offline=True, validate_formats=True, pattern_options=LINEAR)
    except jsonschema_rs.ValidationError as error:
        if not is_bad_pattern(error):
            raise
    return make(schema, offline=True, validate_formats=True, pattern_options=BOUNDED)


def is_known_draft(name: Any) -> bool:
    return isinstance(name, str) and name.rstrip("#").rpartition("://")[2] in DRAFTS


def is_object(schema: Json) -> bool:
    """Whether it can be the parameters of a tool as it is."""
    plain = not any(keyword in schema for keyword in UNFIT)
    return plain and (schema.get("type") == "object" or ("type" not in schema and "properties" in schema))


def moved(node: Any) -> Any:
    """The same schema one property further down: its references follow."""
    if isinstance(node, list):
        return [moved(item) for item in cast(list[Any], node)]
    if not isinstance(node, dict):
        return node
    found = {name: moved(value) for name, value in cast(Json, node).items()}
    reference = found.get("$ref")
    if isinstance(reference, str) and (reference == "#" or reference.startswith("#/")):
        found["$ref"] = f"#/properties/{WRAPPED}{reference[1:]}"
    return found


def sentence(problems: list[str]) -> str:
    """The first few of them."""
    words = [problem[:MAX_PROBLEM_CHARS] for problem in problems[:MAX_PROBLEMS]]
    more = f"; and {len(problems) - MAX_PROBLEMS} more" if len(problems) > MAX_PROBLEMS else ""
    return "; ".join(words) + more


def json_in(text: str) -> Any:
    """The value that a text is, plain or as the one fenced block that it consists of. Raises NoJson."""
    bare = text.strip()
    fenced = FENCED.fullmatch(bare)
    try:
        return msgspec.json.decode(fenced[1] if fenced else bare)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise NoJson(text[:80]) from None
