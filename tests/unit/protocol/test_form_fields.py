"""Forms of servers: what is accepted is what the schema says, held against a JSON Schema validator."""

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.protocol.form_fields import UnusableForm, fields_of, problem_with_all, read_value

WORDS = st.text(max_size=6)
NUMBERS = st.integers(-9, 9) | st.floats(-9, 9, allow_nan=False)


@st.composite
def property_schema(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["string", "number", "integer", "boolean", "enum", "oneOf", "array"]))
    low, high = sorted(draw(st.tuples(st.integers(0, 5), st.integers(0, 5))))
    match kind:
        case "string":
            return {"type": "string", "minLength": low, "maxLength": high}
        case "number" | "integer":
            return {"type": kind, "minimum": low - 3, "maximum": high}
        case "enum":
            return {"type": "string", "enum": ["a", "b"], "enumNames": ["A"]}
        case "oneOf":
            return {"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]}
        case "array":
            items = {"type": "string", "enum": ["a", "b", "c"]}
            return {"type": "array", "items": items, "minItems": low, "maxItems": high}
        case _:
            return {"type": kind}


FORMS = st.dictionaries(st.sampled_from(["p", "q", "r"]), property_schema(), max_size=3)
VALUES = st.one_of(
    WORDS,
    NUMBERS,
    st.booleans(),
    st.sampled_from(["a", "b"]),
    st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=4),
)


@given(FORMS, st.data())
def test_what_fits_is_what_the_schema_says(properties: dict[str, Any], data: st.DataObject) -> None:
    required = data.draw(st.lists(st.sampled_from(sorted(properties)), unique=True)) if properties else []
    schema = {"type": "object", "properties": properties, "required": required}
    values = data.draw(st.dictionaries(st.sampled_from(["p", "q", "r"]), VALUES, max_size=3))
    # A float with a whole value is an integer to JSON Schema; here a person would have typed it as one.
    floats = any(isinstance(value, float) and value.is_integer() for value in values.values())
    fits = jsonschema_rs.is_valid({**schema, "additionalProperties": False}, values)
    told = problem_with_all(fields_of(schema), values)
    assert (not told) == fits or floats, told


@pytest.mark.parametrize(
    ("schema", "typed", "value"),
    [
        ({"type": "string"}, " hello ", "hello"),
        ({"type": "integer"}, "7", 7),
        ({"type": "number"}, "2.5", 2.5),
        ({"type": "boolean"}, "Yes", True),
        ({"type": "boolean"}, "n", False),
        ({"type": "string", "enum": ["red", "blue"], "enumNames": ["Red", "Deep Blue"]}, "deep blue", "blue"),
        ({"type": "string", "enum": ["red", "blue"]}, "2", "blue"),
        ({"type": "array", "items": {"type": "string", "enum": ["x", "y", "z"]}}, "3, 1 3", ["z", "x"]),
        ({"type": "array", "items": {"anyOf": [{"const": "x", "title": "Ex"}]}}, "ex", ["x"]),
        ({"type": "string", "format": "email"}, "a@b.org", "a@b.org"),
        ({"type": "string", "format": "date"}, "2026-11-17", "2026-11-17"),
    ],
)
def test_what_is_typed(schema: dict[str, Any], typed: str, value: object) -> None:
    (field,) = fields_of({"type": "object", "properties": {"p": schema}})
    assert read_value(field, typed) == value


@pytest.mark.parametrize(
    ("schema", "typed"),
    [
        ({"type": "integer"}, "2.5"),
        ({"type": "number"}, "nan"),
        ({"type": "number", "maximum": 3}, "4"),
        ({"type": "boolean"}, "maybe"),
        ({"type": "string", "enum": ["red"]}, "2"),
        ({"type": "string", "maxLength": 2}, "abc"),
        ({"type": "string", "format": "email"}, "nobody"),
        ({"type": "string", "format": "uri"}, "example"),
        ({"type": "string", "format": "date-time"}, "tomorrow"),
        ({"type": "array", "items": {"enum": ["x"]}, "minItems": 1}, ""),
    ],
)
def test_what_is_refused(schema: dict[str, Any], typed: str) -> None:
    (field,) = fields_of({"type": "object", "properties": {"p": schema}})
    with pytest.raises(ValueError, match=r"\w"):
        read_value(field, typed)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array"},
        {"type": "object", "properties": []},
        {"type": "object", "properties": {"p": {"type": "object", "properties": {}}}},
        {"type": "object", "properties": {"p": {"type": "array", "items": {"type": "string"}}}},
        {"type": "object", "properties": {"p": {}}},
        {"type": "object", "properties": {"p": True}},
        {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(100)}},
        {"type": "object", "properties": {"p": {"type": "string", "enum": [str(n) for n in range(500)]}}},
    ],
)
def test_what_cannot_be_shown(schema: dict[str, Any]) -> None:
    with pytest.raises(UnusableForm):
        fields_of(schema)


@pytest.mark.parametrize(
    ("name", "looks"),
    [("password", True), ("db_passwd", True), ("apiKey", True), ("api-key", True), ("city", False), ("opinion", False)],
)
def test_secrets_are_noticed(name: str, looks: bool) -> None:
    (field,) = fields_of({"type": "object", "properties": {name: {"type": "string"}}})
    assert field.looks_secret is looks


def test_a_default_that_does_not_fit_is_none() -> None:
    fields = fields_of(
        {
            "type": "object",
            "properties": {"p": {"type": "integer", "default": "x"}, "q": {"type": "integer", "default": 3}},
        }
    )
    assert [field.default for field in fields] == [None, 3]
