"""Schemas that people give: what is taken, what is refused and why, and what values are held against them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.tools.answer_schema import AnswerSchema, NoJson, json_in
from clew.tools.schema_keywords import SchemaError
from fakes.effort import not_hanging

PERSON = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 1}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        (PERSON, {"name": "Ada", "age": 36}, {"name": "", "age": "36"}),
        ({"type": "array", "items": {"type": "integer"}}, [1, 2], [1, "2"]),
        ({"enum": ["a", "b"]}, "a", "c"),
        ({"const": {"a": [1]}}, {"a": [1]}, {"a": [2]}),
        ({"type": ["string", "null"]}, None, 1),
        ({"anyOf": [{"type": "null"}, {"type": "number", "maximum": 3}]}, 2.5, 4),
        ({"oneOf": [{"type": "integer"}, {"minimum": 3}]}, 2, 5),
        ({"not": {"type": "string"}}, 1, "x"),
        ({"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False}, ["a", 1], ["a", 1, 2]),
        ({"items": [{"type": "string"}], "additionalItems": {"type": "null"}}, ["a", None], ["a", 1]),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1, "b": 2}, {"a": 1}),
        (
            {"dependentSchemas": {"a": {"required": ["c"]}}, "dependentRequired": {"b": ["a"]}},
            {"a": 1, "c": 1},
            {"b": 1},
        ),
        ({"patternProperties": {"^n_": {"type": "number"}}}, {"n_a": 1, "x": ""}, {"n_a": ""}),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}}, {"c": 1}, {"a": 1}),
        ({"type": "string", "pattern": "^[a-z]+$"}, "abc", "ABC"),
        ({"$ref": "#/$defs/x", "maxLength": 2, "$defs": {"x": {"type": "string"}}}, "ab", "abc"),
        ({"$defs": {"a/b": {"type": "integer"}}, "$ref": "#/$defs/a~1b"}, 1, "1"),
        ({"properties": {"a": {"$ref": "#/properties/b"}, "b": {"type": "null"}}}, {"a": None}, {"a": 1}),
        (
            {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}}, "required": ["kids"]},
            {"kids": [{"kids": []}]},
            {"kids": [{}]},
        ),
        (
            {"type": "object", "title": "x", "x-own": [1], "properties": {"$ref": {"type": "integer"}}},
            {"$ref": 1},
            {"$ref": ""},
        ),
        ({"type": "integer"}, 3, True),
    ],
)
def test_values_are_held_against_the_shape(schema: dict[str, Any], good: Any, bad: Any) -> None:
    shape = AnswerSchema(schema)
    assert shape.problems(good) == ""
    assert shape.problems(bad).startswith("output")


def test_places_whose_names_differ_only_in_case_stay_apart() -> None:
    """The validator makes names of functions from them, in small letters."""
    places = {
        "Item": {"type": "integer"},
        "item": {"type": "string"},
        "it-em": {"type": "null"},
        "it_em": {"type": "array"},
    }
    refs = {name: {"$ref": f"#/$defs/{name}"} for name in places}
    shape = AnswerSchema({"type": "object", "properties": refs, "$defs": places})
    assert shape.problems({"Item": 1, "item": "x", "it-em": None, "it_em": []}) == ""
    assert shape.problems({"Item": "x", "item": 1, "it-em": [], "it_em": None}).count("must be") == 4


def test_all_that_is_wrong_is_told_at_once_and_briefly() -> None:
    shape = AnswerSchema({"type": "array", "items": {"type": "integer"}})
    words = shape.problems(["x"] * 50)
    assert "output[0] must be integer" in words
    assert "and 45 more" in words
    assert len(AnswerSchema({"enum": ["x" * 2000]}).problems(1)) < 400


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        ({"type": "strin"}, "#/type"),
        ({"type": []}, "#/type"),
        ({"type": [["string"]]}, "#/type"),
        ({"properties": []}, "#/properties"),
        ({"properties": {"a": 3}}, "#/properties/a"),
        ({"required": "a"}, "#/required"),
        ({"minLength": -1}, "#/minLength"),
        ({"maximum": "3"}, "#/maximum"),
        ({"pattern": "("}, "#/pattern"),
        ({"pattern": 3}, "#/pattern"),
        ({"patternProperties": {"[": {}}}, "#/patternProperties"),
        ({"enum": []}, "#/enum"),
        ({"anyOf": {}}, "#/anyOf"),
        ({"items": 3}, "#/items"),
        ({"multipleOf": 0}, "#/multipleOf"),
        ({"$ref": "https://example.com/schema.json"}, "same schema"),
        ({"$ref": "file:///etc/passwd"}, "same schema"),
        ({"$ref": "other.json#/x"}, "same schema"),
        ({"$ref": "#anchor"}, "same schema"),
        ({"$ref": 7}, "same schema"),
        ({"$ref": "#/nowhere"}, "nothing is"),
        ({"$ref": "#"}, "without end"),
        ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}, "without end"),
        ({"unevaluatedProperties": False}, "unevaluatedProperties"),
        ({"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"a": {}}}, "two things"),
        ({"description": "x" * 70_000}, "64 kB"),
    ],
)
def test_what_is_no_schema_or_leads_elsewhere_is_refused(schema: dict[str, Any], word: str) -> None:
    with pytest.raises(SchemaError) as refused:
        AnswerSchema(schema)
    assert word in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("keyword", ["items", "not", "additionalProperties"])
def test_deep_schemas_are_refused(keyword: str) -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(400):
        schema = {keyword: schema}
    with pytest.raises(SchemaError, match="deep"):
        AnswerSchema(schema)


def test_more_blocks_than_the_language_has_are_refused_in_our_words() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(25):
        schema = {"type": "array", "items": schema}
    with pytest.raises(SchemaError, match="deep"):
        AnswerSchema(schema)


def test_an_address_in_a_schema_is_never_asked() -> None:
    nested = {"$id": "http://127.0.0.1:9/inner", "type": "integer"}
    shape = AnswerSchema(
        {"$id": "http://127.0.0.1:9/outer", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": nested}}
    )
    assert shape.problems({"a": 1}) == ""
    assert "integer" in shape.problems({"a": ""})


HOSTILE = [
    '"""',
    "'''",
    '"]; raise SystemExit(3) #',
    "\\",
    "{variable}",
    "{}",
    "\n    raise SystemExit(3)\n",
    "%s",
    "\x00é\u2028",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_word_of_a_schema_becomes_code(text: str) -> None:
    schema = {
        "type": "object",
        "title": text,
        "description": text,
        "$comment": text,
        "properties": {text: {"enum": [text], "const": text, "default": text, "format": text}},
        "required": [text],
        "patternProperties": {"^" + "".join(f"\\u{ord(letter):04x}" for letter in text) + "$": {"type": "string"}},
        "dependentRequired": {text: [text]},
        "additionalProperties": False,
    }
    shape = AnswerSchema(schema)
    assert shape.problems({text: text}) == ""
    assert shape.problems({text: "other"})
    assert shape.problems({"other": text})


@given(st.text(min_size=1), st.text())
@settings(max_examples=60)
def test_any_words_are_only_words(name: str, value: str) -> None:
    shape = AnswerSchema({"properties": {name: {"const": value}}, "required": [name], "additionalProperties": False})
    assert shape.problems({name: value}) == ""
    assert shape.problems({name: value + "x"})


def test_values_nested_beyond_reason_are_no_answer() -> None:
    shape = AnswerSchema({"type": "array", "items": {"$ref": "#"}})
    value: list[Any] = []
    for _ in range(5000):
        value = [value]
    assert "nested" in shape.problems(value)


def test_an_object_is_the_parameters_and_everything_else_is_put_into_one() -> None:
    told = AnswerSchema(PERSON)
    assert told.parameters == {name: value for name, value in PERSON.items() if name != "$schema"}
    assert told.value_in({"name": "Ada", "age": 1}) == {"name": "Ada", "age": 1}
    assert AnswerSchema({"properties": {"a": {}}}).parameters["type"] == "object"
    schema = {"type": "array", "items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer"}}}
    wrapped = AnswerSchema(schema)
    inner = wrapped.parameters["properties"]["output"]
    assert inner["items"]["$ref"] == "#/properties/output/$defs/n"
    assert wrapped.value_in({"output": [1]}) == [1]
    assert wrapped.problems(wrapped.value_in({"wrong": [1]}))
    again = AnswerSchema(wrapped.parameters)
    assert again.problems({"output": [1]}) == ""
    assert again.problems({"output": ["x"]})


def test_the_given_schema_is_left_as_it_is() -> None:
    given: dict[str, Any] = {"$id": "x:y", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"default": 1}}}
    AnswerSchema(given)
    assert given == {"$id": "x:y", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"default": 1}}}


@pytest.mark.parametrize("text", ['{"a": 1}', ' \n{"a": 1}\n', '```json\n{"a": 1}\n```', '```\n{"a": 1}\n```'])
def test_a_text_that_is_json(text: str) -> None:
    assert json_in(text) == {"a": 1}


@pytest.mark.parametrize(
    "text", ["", "Here: {}", '{"a": 1} done', "```json\n{}\n```\nand more", "[" * 100_000, "{'a': 1}"]
)
def test_a_text_that_is_none(text: str) -> None:
    with pytest.raises(NoJson):
        json_in(text)


@pytest.mark.parametrize(
    ("pattern", "hostile"),
    [
        ("^(a+)+$", "a" * 60 + "!"),
        ("^(a|a)*$", "a" * 60 + "!"),
        ("^(([a-z])+.)+[A-Z]([a-z])+$", "a" * 60),
        ("^" + ".*" * 12 + "=$", "a" * 3000),
        ("^(?=.*a)(?=.*b)c", "a" * 200_000),
        ("(a+)+$|_re_pattern", "a" * 60 + "!"),
    ],
)
def test_no_pattern_makes_the_judging_hang(pattern: str, hostile: str) -> None:
    values = AnswerSchema({"type": "string", "pattern": pattern})
    names = AnswerSchema({"type": "object", "patternProperties": {pattern: {"type": "null"}}})
    with not_hanging():
        assert "must match pattern" in values.problems(hostile) or pattern.endswith("_re_pattern")
        assert names.problems({hostile: 1}) == ""


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        (r"^\d{4}-\d{2}-\d{2}$", "2026-11-16", "2026-11-1x"),
        (r"^(?=.*[A-Z])(?=.*\d).{8,}$", "Passw0rdy", "password"),
        (r"^\u00e4[\u0430-\u044f]+\x21$", "\u00e4\u0436\u0448!", "ae!"),
        (r"^https?:\/\/[\w.\-]+(:\d+)?(\/.*)?$", "https://a.example:80/x?y", "ftp://a"),
        (r"\S", "   x", "   "),
    ],
)
def test_patterns_as_people_write_them(pattern: str, good: str, bad: str) -> None:
    schema = AnswerSchema({"type": "string", "pattern": pattern})
    assert schema.problems(good) == ""
    assert "must match pattern" in schema.problems(bad)


@pytest.mark.parametrize("pattern", [r"(a)\1", "(?<=a)b", "a(?=b)", "a" * 501])
def test_patterns_that_could_not_be_bounded_are_refused(pattern: str) -> None:
    with pytest.raises(SchemaError, match="#/pattern is not a regular expression"):
        AnswerSchema({"type": "string", "pattern": pattern})
