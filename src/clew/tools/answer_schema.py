"""The shape an answer must have: a JSON Schema that somebody gave, checked and bounded, ready to judge values.

What judges is code that fastjsonschema writes and runs, so nothing reaches it but keywords whose values were looked at
here. References are local, get names of ours, and lead nowhere else.
"""

import re
from typing import Any, cast

import fastjsonschema
import msgspec

from clew.system import safe_patterns
from clew.tools.schema_keywords import SchemaError, Walker

Json = dict[str, Any]
MAX_BYTES = 64 * 1024
"""The code for a schema takes time and memory in proportion to it."""
MAX_PROBLEMS = 5
MAX_PROBLEM_CHARS = 300
WRAPPED = "output"
UNFIT = ("allOf", "anyOf", "oneOf", "not", "if", "$ref", "enum", "const")
"""What providers do not take at the top of a tool's parameters."""
FENCED = re.compile(r"```[a-zA-Z]*\n(.*)\n```", re.DOTALL)


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
        walker = Walker(msgspec.json.decode(data))
        self._validate = compiled(walker.walked(), walker.patterns)
        self.given: Json = msgspec.json.decode(data)
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
        try:
            self._validate(value)
        except fastjsonschema.JsonSchemaValuesException as error:
            return sentence([one.message for one in error.errors], called)
        except fastjsonschema.JsonSchemaException as error:
            return sentence([str(error)], called)
        except RecursionError:
            return "it is nested too deeply"
        return ""


def compiled(schema: Json | bool, patterns: set[str]) -> Any:
    """The function that judges. Raises SchemaError."""
    try:
        validate = fastjsonschema.compile(schema, handlers=Nowhere(), use_default=False, fast_fail=False)
    except SyntaxError:  # the code for it nests more blocks than the language has
        raise SchemaError("it is nested too deeply") from None
    except (fastjsonschema.JsonSchemaDefinitionException, re.error, ValueError, TypeError, RecursionError) as error:
        raise SchemaError(f"it is not a schema ({error})") from None
    validate.__globals__["REGEX_PATTERNS"].update({one: Pattern(one) for one in patterns})
    try:
        validate(None)
    except fastjsonschema.JsonSchemaException:
        pass
    except RecursionError:
        raise SchemaError("a $ref in it leads back to itself without end") from None
    return validate


class Pattern:
    """In place of the library's own: none of them can run for ever, whatever the schema and the model say."""

    def __init__(self, expression: str) -> None:
        self.search = self.match = safe_patterns.compiled(expression)


class Nowhere(dict[str, Any]):
    """In place of what fetches documents from other places: there is nothing to fetch. No reference that leads there
    comes this far; should one, it is refused and not fetched."""

    def __contains__(self, scheme: object) -> bool:
        return True

    def __getitem__(self, scheme: str) -> Any:
        raise SchemaError("a $ref may only lead to another place of the same schema")


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
    if isinstance(reference, str) and reference.startswith("#"):
        found["$ref"] = f"#/properties/{WRAPPED}{reference[1:]}"
    return found


def sentence(problems: list[str], called: str) -> str:
    """The first few of them."""
    words = [re.sub(r"^data", called, problem)[:MAX_PROBLEM_CHARS] for problem in problems[:MAX_PROBLEMS]]
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
