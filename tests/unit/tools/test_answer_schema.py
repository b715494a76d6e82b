"""Schemas that people give: what is taken, what is refused and why, and what values are held against them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.tools.schemas.answer_schema import AnswerSchema, NoJson, json_in
from clew.tools.schemas.keywords import SchemaError
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
        ({"anyOf": {}}, "#/anyOf"),
        ({"items": 3}, "#/items"),
        ({"multipleOf": 0}, "#/multipleOf"),
        ({"$ref": "https://example.com/schema.json"}, "same schema"),
        ({"$ref": "file:///etc/passwd"}, "same schema"),
        ({"$ref": "other.json#/x"}, "same schema"),
        ({"$ref": 7}, "same schema"),
        ({"$ref": "#/nowhere"}, "nothing is"),
        ({"$ref": "#anchor"}, "nothing is"),
        ({"properties": {"a/b": {"required": ["x", 3]}}}, "#/properties/a~1b/required/1 is not a list of names"),
        ({"type": "object", "minProperties": 1.5}, "#/minProperties is not a whole number"),
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


def test_thirty_arrays_in_each_other_are_a_schema() -> None:
    schema: dict[str, Any] = {"type": "string"}
    value: Any = "x"
    for _ in range(30):
        schema, value = {"type": "array", "items": schema}, [value]
    assert AnswerSchema(schema).problems(value) == ""
    assert AnswerSchema(schema).problems(value[0]) == "output" + "[0]" * 29 + " must be array, not string"


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"allOf": [{"$ref": "#"}], "type": "string"},
        {"$dynamicAnchor": "n", "anyOf": [{"type": "null"}, {"$dynamicRef": "#n"}], "minimum": 3},
    ],
)
def test_a_reference_that_leads_back_to_itself_ends(schema: dict[str, Any]) -> None:
    with not_hanging():
        AnswerSchema(schema).problems(1)


ALTERNATIVES = {"type": "array", "items": {"$ref": "#/$defs/t"}}
TWICE = {
    "$ref": "#/$defs/t",
    "$defs": {"t": {"anyOf": [ALTERNATIVES, {**ALTERNATIVES, "minItems": 2}, {"type": "null"}]}},
}
BOTH = {
    "$ref": "#/$defs/t",
    "$defs": {"t": {"type": ["array", "null"], "allOf": [{"items": {"$ref": "#/$defs/t"}}] * 2}},
}


def doubling(reference: str, places: int, *, last: dict[str, Any]) -> dict[str, Any]:
    """Places that refer twice to the next one, by pointer or by name."""
    twice = {f"d{at}": {"$anchor": f"d{at}", "allOf": [{"$ref": reference.format(at + 1)}] * 2} for at in range(places)}
    end = {f"d{places}": {"$anchor": f"d{places}", **last}}
    return {"$ref": reference.format(0), "$defs": {**twice, **end}}


ITEMS = {"items": {"$ref": "#"}}
CHOICE = {"type": ["array", "null"], "if": ITEMS, "then": ITEMS, "else": ITEMS}
ONE_OF = {"oneOf": [{"type": "array", **ITEMS}, {"type": "array", "minItems": 2, **ITEMS}, {"type": "null"}]}
FOUND = {"anyOf": [{"type": "null"}, {"type": "array", "contains": {"$ref": "#"}, **ITEMS}]}
NAMED = {"type": "array", "items": {"$dynamicRef": "#n"}}
DYNAMIC = {"$dynamicAnchor": "n", "anyOf": [NAMED, {**NAMED, "minItems": 2}, {"type": "null"}]}


@pytest.mark.parametrize("schema", [TWICE, BOTH, CHOICE, ONE_OF, FOUND, DYNAMIC])
def test_alternatives_that_lead_back_are_judged_once_each(schema: dict[str, Any]) -> None:
    good: Any = None
    bad: Any = 1
    for _ in range(60):
        good, bad = [good], [bad]
    with not_hanging():
        shape = AnswerSchema(schema)
        assert shape.problems(good) == ""
        assert shape.problems(bad) == "output does not have the shape that the schema asks for"


@pytest.mark.parametrize("reference", ["#/$defs/d{}", "#d{}"])
@pytest.mark.parametrize("last", [{"type": "null"}, {"items": {"$ref": "#"}}])
def test_references_that_multiply_are_refused(reference: str, last: dict[str, Any]) -> None:
    assert AnswerSchema(doubling(reference, 8, last=last)).problems(None) == ""
    with not_hanging(), pytest.raises(SchemaError, match="multiply"):
        AnswerSchema(doubling(reference, 60, last=last))


def test_references_that_refer_on_and_on() -> None:
    def chain(places: int) -> dict[str, Any]:
        named = {f"d{at}": {"$ref": f"#/$defs/d{at + 1}"} for at in range(places)}
        return {"$ref": "#/$defs/d0", "$defs": {**named, f"d{places}": {"type": "null"}}}

    assert AnswerSchema(chain(100)).problems(1) == "output must be null, not integer"
    with pytest.raises(SchemaError, match="deep"):
        AnswerSchema(chain(1700))


def test_what_is_wrong_in_a_schema_that_refers_to_itself_is_told() -> None:
    assert AnswerSchema(BOTH).problems([[1]]) == "output[0][0] must be null or array, not integer"
    assert "output must fit one of the 3 schemas of anyOf" in AnswerSchema(TWICE).problems([[1]])


def test_the_same_value_many_times_is_no_growing() -> None:
    words = AnswerSchema({"items": {"allOf": [{"type": "integer"}, {"minimum": 0}]}}).problems(["x"] * 30_000)
    assert words.endswith("; and 29995 more")


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


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        (r"^(a+)b\1$", "aabaa", "aaba"),
        ("(?<=a)b", "ab", "bb"),
        ("a(?=b)", "ab", "ac"),
        ("^" + "a" * 600, "a" * 600, "a"),
    ],
)
def test_patterns_that_are_bounded_instead_of_linear(pattern: str, good: str, bad: str) -> None:
    shape = AnswerSchema({"type": "string", "pattern": pattern})
    assert shape.problems(good) == ""
    assert "must match pattern" in shape.problems(bad)


@pytest.mark.parametrize(
    ("pattern", "hostile"), [(r"(a+)+\1$", "a" * 5000 + "!"), (r"(?=.*b)c", "a" * 50_000), (r"(.*)(.*)\1x", "a" * 9000)]
)
def test_a_pattern_that_would_take_too_long_is_told_as_that(pattern: str, hostile: str) -> None:
    with not_hanging():
        words = AnswerSchema({"type": "string", "pattern": pattern}).problems(hostile)
    assert words == "output must match a pattern that takes too long to try on it"


def test_a_pattern_that_takes_much_memory_is_refused() -> None:
    with pytest.raises(SchemaError, match="#/pattern is not a regular expression"):
        AnswerSchema({"type": "string", "pattern": "(a{1000}){1000}"})


@pytest.mark.parametrize(
    ("schema", "value", "words"),
    [
        (
            PERSON,
            {"age": "36", "size": 2},
            'output must have the property "name"; output.age must be integer, not string; '
            "output must not have the property size",
        ),
        ({"enum": ["a", None, 3]}, "b", 'output must be one of "a", null, 3'),
        ({"const": {"a": 1}}, 2, 'output must be {"a": 1}'),
        ({"properties": {"a b": {"minLength": 2}}}, {"a b": ""}, 'output["a b"] must have at least 2 characters'),
        ({"items": {"minimum": 3}}, [4, 2.5], "output[1] must be at least 3"),
        ({"format": "date"}, "2026-13-01", "output must have the format date"),
        ({"uniqueItems": True}, [1, 1], "output must not have the same item twice"),
        ({"prefixItems": [{}], "items": False}, [1, 2], "output[1] must not be there"),
        (
            {"contains": {"type": "null"}, "minContains": 2},
            [None],
            "output must have such items as minContains asks for",
        ),
        (
            {"unevaluatedProperties": False, "allOf": [{"properties": {"a": {}}}]},
            {"a": 1, "b": 1, "c": 1},
            "output must not have the properties b, c",
        ),
        (
            {"propertyNames": {"maxLength": 2}},
            {"abc": 1},
            'output has a property whose name does not fit: "abc" is longer than 2 characters',
        ),
        (
            {"oneOf": [{"type": "integer"}, {"minimum": 3}]},
            5,
            "output must fit exactly one of the 2 schemas of oneOf, and fits 2",
        ),
        (
            {"anyOf": [{"type": "null"}, {"type": "integer"}]},
            "x",
            "output must fit one of the 2 schemas of anyOf (integer, null), and fits none",
        ),
        (
            {"properties": {"f": {"anyOf": [{"type": "null"}, PERSON]}}},
            {"f": {"name": "", "age": 3}},
            "output.f.name must have at least 1 characters",
        ),
        (
            {
                "oneOf": [
                    {"properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}},
                    {"properties": {"kind": {"const": "box"}, "width": {"type": "number"}}},
                ]
            },
            {"kind": "box", "width": "3", "radius": None},
            "output.width must be number, not string",
        ),
    ],
)
def test_the_words_for_what_is_wrong(schema: dict[str, Any], value: Any, words: str) -> None:
    assert AnswerSchema(schema).problems(value) == words


@pytest.mark.parametrize("name", ["https://example.com/dialect", "nonsense", 7])
def test_a_draft_that_nobody_knows_is_read_as_the_newest(name: Any) -> None:
    assert (
        AnswerSchema({"$schema": name, "prefixItems": [{"type": "string"}]}).problems([1])
        == "output[0] must be string, not integer"
    )


def test_half_a_character_is_no_value() -> None:
    assert "not JSON" in AnswerSchema({"type": "string"}).problems("\ud800")
