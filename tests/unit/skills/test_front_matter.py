"""Front matter is read as YAML is, and a colon in a sentence is a colon; what is broken names its line."""

import string

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from clew.skills.front_matter import FrontMatterError, parse

LETTERS = st.text(string.ascii_letters + string.digits + " .,:;#'\"\\-[]{}()!&*|>%@`$/\n\té中", max_size=60)
WORDS = LETTERS.map(lambda text: "\n".join(line.rstrip().replace("\t", " ") for line in text.strip().split("\n")))
KEYS = st.from_regex(r"[a-z][a-z-]{0,12}", fullmatch=True)
VALUES = WORDS | st.lists(WORDS.map(lambda text: text.replace("\n", " ")).filter(bool), min_size=1, max_size=4)


@settings(max_examples=120, deadline=None)
@given(
    st.dictionaries(KEYS, VALUES, min_size=1, max_size=2),
    st.sampled_from([None, '"', "'", "|", ">"]),
    st.sampled_from([20, 80, 100_000]),
)
def test_what_a_yaml_writer_writes_is_read_as_a_yaml_reader_reads_it(fields, style, width):
    values = {key: value for key, value in fields.items() if isinstance(value, str) or style is None}
    assume(values)
    text = yaml.dump(
        values, default_style=style, width=width, allow_unicode=True, default_flow_style=False, sort_keys=False
    )
    expected = yaml.load(text, Loader=yaml.BaseLoader)
    found = parse(f"---\n{text}---\nbody\n")
    assert {key: list(value) if isinstance(value, tuple) else value for key, value in found.fields.items()} == (
        expected or {}
    )
    assert found.body == "body\n"


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("description: Use this: always, when asked", {"description": "Use this: always, when asked"}),
        ("description: a\n  b\n\n  c", {"description": "a b\nc"}),
        ("description: >-\n  one\n  two\n\n  three", {"description": "one two\nthree"}),
        ("description: |\n  one\n    two\n", {"description": "one\n  two\n"}),
        ("allowed-tools: [Read, \"Bash(git add:*)\", 'Grep']", {"allowed-tools": ("Read", "Bash(git add:*)", "Grep")}),
        ("allowed-tools: [Bash(git add, git diff), Read]", {"allowed-tools": ("Bash(git add, git diff)", "Read")}),
        ("allowed-tools:\n  - Read\n  - Bash(git *)", {"allowed-tools": ("Read", "Bash(git *)")}),
        ("allowed-tools:\n- Read\nmodel: x # the small one", {"allowed-tools": ("Read",), "model": "x"}),
        ("argument-hint: [file] [--all]", {"argument-hint": "[file] [--all]"}),
        ("metadata:\n  author: me\n  tags:\n    - a\nname: x", {"metadata": ("a",), "name": "x"}),
        ("metadata: {author: me}\nname: x", {"metadata": None, "name": "x"}),
        ("# a comment\n\nname: x", {"name": "x"}),
        ("empty:\nname: x", {"empty": None, "name": "x"}),
        ("license: Apache-2.0 # see LICENSE", {"license": "Apache-2.0"}),
        ("url: https://example.com/#part", {"url": "https://example.com/#part"}),
    ],
)
def test_what_people_write(text, fields):
    assert parse(f"---\n{text}\n---\n").fields == fields


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("name: x", 1, "never closed"),
        ("name: x\n---", 0, ""),
        ("name: x\njust words\n---", 3, "expected `key: value`"),
        ("name: x\nname: y\n---", 3, "twice"),
        ('description: "no end\nname: x\n---', 2, "never closed"),
        ("tools: [a, b\nname: x\n---", 2, "never closed"),
        ("name: x\n description: y\n---", 3, "indented"),
        ("name: &anchor x\n---", 2, "quotes"),
        ('name: "x" y\n---', 2, "follow"),
        ("description: |\n    a\n  b\n---", 2, "indented alike"),
        ("\tname: x\n---", 2, "tab"),
    ],
)
def test_what_is_broken_names_its_line(text, line, words):
    if not line:
        assert parse(f"---\n{text}").fields == {"name": "x"}
        return
    with pytest.raises(FrontMatterError, match=words) as error:
        parse(f"---\n{text}")
    assert error.value.line == line


@settings(max_examples=300, deadline=None)
@given(st.text(string.printable, max_size=300))
def test_any_text_is_read_or_refused(text):
    try:
        parse(f"---\n{text}\n---\n")
    except FrontMatterError:
        return


def test_without_front_matter_all_is_body():
    assert parse("# Title\n---\nx").body == "# Title\n---\nx"
    assert parse("\ufeff---\r\nname: x\r\n---\r\nbody").fields == {"name": "x"}
