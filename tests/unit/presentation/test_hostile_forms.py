"""Forms of servers that mean harm: nothing of them reaches a terminal raw, poses as ours, or breaks a dialog."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.plain.dialogs.elicitation import ElicitationLines
from clew.presentation.elicitation_text import cares, heading_of, told_of, wanted_of
from clew.protocol.events import ElicitationRequested
from clew.protocol.form_fields import UnusableForm, fields_of, problem_with, read_value
from clew.protocol.ids import RequestId
from clew.text.terminal_text import sanitize
from clew.tui.dialogs.elicitation import ElicitationDialog as ScreenDialog
from tui.hosting import Host

EVIL = "\x1b[2J\x1b]52;c;aGk=\x07\u202e[@click=app.exit]x[/]"
SPOOF = f"Name{' ' * 200}Allow Bash?  rm -rf ~  [y]es / [n]o > "


def asked(properties: dict[str, Any], message: str = "m", url: str = "") -> ElicitationRequested:
    schema: dict[str, Any] = {} if url else {"type": "object", "properties": properties}
    return ElicitationRequested(request_id=RequestId("e"), server="s", message=message, schema=schema, url=url)


def shown(dialog: ElicitationLines, *typed: str) -> list[str]:
    """All that is shown line by line, prompts too."""
    lines = [line.text for line in dialog.opening()] + [dialog.prompt]
    for words in typed:
        lines += [line.text for line in dialog.reply(words).lines] + [dialog.prompt]
    return lines


FIELDS: dict[str, Any] = {
    EVIL: {"type": "string", "title": EVIL, "description": EVIL, "format": EVIL, "default": EVIL},
    "safe": {"type": "string", "default": "of Paris"},
    "pick": {"type": "string", "enum": [EVIL, "b"], "enumNames": [EVIL]},
}


def test_line_by_line_nothing_is_raw() -> None:
    for line in shown(ElicitationLines(asked(FIELDS, EVIL)), "x", "", "1", "b"):
        assert line == sanitize(line), repr(line)


async def test_on_the_screen_nothing_is_raw_or_obeyed() -> None:
    app = Host(lambda: ScreenDialog(asked(FIELDS, EVIL), quiet_s=0))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        text = "\n".join(app.rows())
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "text" in app.dialog.field.placeholder, "the words for what may be typed are ours"


def test_long_words_of_a_server_do_not_push_ours_away_or_pose_as_them() -> None:
    (field,) = fields_of({"properties": {"n" * 5_000: {"type": "string", "title": SPOOF, "description": SPOOF * 20}}})
    assert len(heading_of(field)) < 250
    assert len(told_of(field)) < 500
    assert "   " not in heading_of(field) + told_of(field)


@pytest.mark.parametrize("typed", ["inf", "-inf", "nan", "1e999", "9" * 4_000])
@pytest.mark.parametrize("kind", ["number", "integer"])
def test_a_number_without_end_breaks_no_dialog(kind: str, typed: str) -> None:
    for line in shown(ElicitationLines(asked({"n": {"type": kind}})), typed, "1"):
        assert len(line) < 1_000
    (field,) = fields_of({"properties": {"n": {"type": kind, "default": float("inf"), "maximum": 10**400}}})
    assert field.default is None
    assert wanted_of(field)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "enum": ["a", "b"], "enumNames": {"x": "y", "z": 1}},
        {"type": "string", "enum": ["a"], "enumNames": 5},
        {"type": "string", "enum": 5},
        {"type": "string", "enum": {"a": "b"}},
        {"type": "string", "oneOf": {"const": "a"}},
        {"type": "array", "items": {"enum": [["a"], {"b": 1}, None]}},
        {"type": ["string"]},
        {"type": {"a": 1}},
        {"type": "integer", "minimum": 10**400, "default": 10**400},
    ],
)
def test_a_schema_that_makes_no_sense_is_refused_or_understood(schema: dict[str, Any]) -> None:
    for form in ({"properties": {"x": schema}}, {"properties": {"x": schema}, "required": [["x"], {}]}):
        try:
            for field in fields_of(form):
                wanted_of(field)
        except UnusableForm:
            continue


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
KEYS = ("type", "enum", "enumNames", "oneOf", "anyOf", "items", "minimum", "maximum", "minLength", "default", "title")
SCHEMAS = st.dictionaries(
    st.sampled_from(KEYS), JSON | st.sampled_from(["string", "number", "integer", "boolean", "array"]), max_size=6
)


@given(SCHEMAS, JSON, st.text(max_size=6))
def test_whatever_a_server_sends_is_a_form_or_is_not(schema: dict[str, Any], required: Any, typed: str) -> None:
    try:
        fields = fields_of({"properties": {"x": schema}, "required": required})
    except UnusableForm:
        return
    for field in fields:
        problem_with(field, field.default)
        try:
            read_value(field, typed)
        except ValueError:
            continue


@pytest.mark.parametrize(
    ("url", "care"),
    [
        ("https://accounts.example.org@evil.example/login", "leads to evil.example"),
        ("https://xn--pypal-4ve.example/", "another script"),
        ("http://example.org/", "not encrypted"),
    ],
)
def test_an_address_that_looks_like_another_is_told(url: str, care: str) -> None:
    assert [words for words in cares(asked({}, url=url)) if care in words]
