"""The output boundary: nothing a terminal obeys, nothing a reader cannot see."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from bench.growth import escapes
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.text.terminal_text import StreamSanitizer, attachment_label, clip, display_width, reveal, sanitize, warnings
from fakes.effort import calls_in, not_hanging

CASES = Path(__file__).parents[4] / "shared" / "cases" / "terminal_escape.jsonl"
FORBIDDEN = {
    "ESC": re.compile("\x1b"),
    "C0": re.compile("[\x00-\x08\x0b-\x1f\x7f]"),
    "C1": re.compile("[\x80-\x9f]"),
    "OSC": re.compile("\x1b\\]|\x9d"),
    "CURSOR": re.compile("\x1b\\[|\x9b"),
    "BIDI": re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"),
    "ZW": re.compile("[\u00ad\u115f\u1160\u180e\u200b-\u200d\u2060-\u2064\u3164\ufeff\uffa0\ufe00-\ufe0f]"),
    "TAG": re.compile("[\U000e0000-\U000e007f]"),
    "LSEP": re.compile("[\u2028\u2029]"),
    "RAW_NEWLINE": re.compile("\n"),
    "ESC_CONCEAL": re.compile("\x1b"),
    "ESC_SAME_FG_BG": re.compile("\x1b"),
    "SGR_LEAK": re.compile("\x1b"),
    "HIDDEN_TARGET": re.compile("\x1b"),
    # The terminal boundary hands out text; what a browser would do with it is the web view's own boundary.
    "AUTO_FETCH": re.compile("\x1b"),
    "HTML_EXEC": re.compile("\x1b"),
}
ALWAYS = ("ESC", "C0", "C1", "BIDI", "TAG", "LSEP")


def cases() -> list[dict[str, Any]]:
    if not CASES.is_file():
        return []
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").split("\n") if line]


def shown(case: dict[str, Any]) -> str:
    given = case["input"]
    if isinstance(given, dict) and "mime" in given:
        return attachment_label(given["mime"], given["name"])
    if isinstance(given, list):
        stream = StreamSanitizer()
        return "".join([*(stream.feed(chunk) for chunk in given), stream.flush()])
    if isinstance(given, dict):
        if "hex" in given:
            return sanitize(bytes.fromhex(given["hex"]))
        given = "".join(text * count for text, count in given["parts"])
    if case["context"] == "approval_command":
        return reveal(given)
    return sanitize(given, one_line="RAW_NEWLINE" in case["must_not_emit"])


@pytest.mark.skipif(not CASES.is_file(), reason="the shared cases are not beside this checkout")
@pytest.mark.parametrize("case", cases(), ids=lambda case: case["name"])
def test_sample(case: dict[str, Any]) -> None:
    out = shown(case)
    for name in case["must_not_emit"]:
        assert not FORBIDDEN[name].search(out), (name, out)
    for text in case["must_survive"]:
        assert text in out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text\n\tindented", "plain text\n\tindented"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]0;title\x1b\\after", "after"),
        ("\x1b]0;never closed\nnext line", "0;never closed\nnext line"),
        ("\x1bPq#0\x1b\\after", "after"),
        ("\x1b_apc\x1b\\after", "after"),
        ("\x1b^pm\x1b\\x", "x"),
        ("\x1bXsos\x1b\\x", "x"),
        ("\x1b(0lqqk\x1b(B", "lqqk"),
        ("\x1bcreset", "reset"),
        ("\x1b7\x1b8saved", "saved"),
        ("\x1b]8;id=1;https://a.example/x\x1b\\text\x1b]8;;\x1b\\", "<https://a.example/x> text"),
        ("one\rtwo", "one\ntwo"),
        ("one\r\ntwo", "one\ntwo"),
        ("a\x08\x08b", "a\ufffdb"),
        ("a\u2028b\u2029c\x85d", "a\nb\nc\nd"),
        ("\ufeffbom", "bom"),
        ("ze\u200bro", "zero"),
        ("a\u202eb", "a<U+202E>b"),
        ("x\U000e0041", "x<U+E0041>"),
        ("\ud800x", "\ufffdx"),
        ("👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("क्\u200dष", "क्\u200dष"),
        ("a\u200db", "ab"),
        ("❤\ufe0f", "❤\ufe0f"),
        ("a\ufe0f", "a"),
        ("1\ufe0f\u20e3", "1\ufe0f\u20e3"),
        ("e\u0301", "e\u0301"),
        ("日本語 한국어 עברית", "日本語 한국어 עברית"),
        ("z" + "\u0301" * 50, "z" + "\u0301" * 8),
    ],
)
def test_sanitize(text: str, expected: str) -> None:
    assert sanitize(text) == expected


def test_one_line() -> None:
    assert sanitize("a\nb\tc\n", one_line=True) == "a⏎b c"


def test_bytes() -> None:
    assert sanitize(b"ok \xff\x1b[2J caf\xc3\xa9") == "ok \ufffd caf\u00e9"


@given(st.one_of(st.text(), st.binary(max_size=200)))
@settings(max_examples=500, deadline=None)
def test_nothing_forbidden_ever_leaves(text: str | bytes) -> None:
    for out in (sanitize(text), sanitize(text, one_line=True)):
        assert not any(FORBIDDEN[name].search(out) for name in ALWAYS), out
    if isinstance(text, str):
        assert not any(FORBIDDEN[name].search(reveal(text)) for name in (*ALWAYS, "ZW"))


PIECES = [
    "\x1b",
    "[",
    "]",
    "31m",
    "8;;",
    "http://x",
    "\x07",
    "\x1b\\",
    "P",
    "a",
    "\n",
    "\r",
    "\u200d",
    "❤",
    "\ufe0f",
    "\x9b",
    "é",
    "0;t",
]


@given(st.lists(st.sampled_from(PIECES), max_size=30), st.integers(1, 5))
@settings(max_examples=500, deadline=None)
def test_chunks_never_let_a_sequence_through(pieces: list[str], size: int) -> None:
    text = "".join(pieces)
    stream = StreamSanitizer()
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    out = "".join([*(stream.feed(chunk) for chunk in chunks), stream.flush()])
    assert not any(FORBIDDEN[name].search(out) for name in ALWAYS), (text, out)


@pytest.mark.parametrize("cut", range(1, 24))
def test_a_sequence_cut_anywhere_is_still_removed(cut: int) -> None:
    data = b"a\x1b[31mb\x1b]0;t\x1b\\c\r\nd" + "é❤\ufe0f".encode()
    stream = StreamSanitizer()
    assert stream.feed(data[:cut]) + stream.feed(data[cut:]) + stream.flush() == "abc\ndé❤\ufe0f"


def test_a_held_sequence_cannot_grow_without_end() -> None:
    stream = StreamSanitizer()
    out = stream.feed("\x1b]0;") + "".join(stream.feed("x" * 1000) for _ in range(10)) + stream.flush()
    assert len(out) >= 4000


def test_random_escapes_cost_little() -> None:
    """L43: text goes through whole, not character by character. What 64 kB take is in bench/permissions.py."""
    for seed in range(5):
        data = escapes(64_000, seed)
        sanitize(data[:1000])
        with not_hanging():
            assert calls_in(lambda data=data: sanitize(data)) < 1_000


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("abc", 3),
        ("日本", 4),
        ("e\u0301", 1),
        ("❤\ufe0f", 2),
        ("👨\u200d👩\u200d👧", 2),
        ("🇩🇪", 2),
        ("👍🏽", 2),
        ("a\tb", 3),
        ("", 0),
        ("ｆｕ", 4),
    ],
)
def test_display_width(text: str, width: int) -> None:
    assert display_width(text) == width


@pytest.mark.parametrize(
    ("text", "columns", "expected"),
    [
        ("abcdef", 10, "abcdef"),
        ("abcdef", 4, "abc…"),
        ("日本語", 4, "日…"),
        ("日本語", 6, "日本語"),
        ("abc", 0, ""),
        ("👨\u200d👩\u200d👧xyz", 4, "👨\u200d👩\u200d👧x…"),
    ],
)
def test_clip(text: str, columns: int, expected: str) -> None:
    assert clip(text, columns) == expected
    assert display_width(clip(text, columns)) <= max(columns, 0)


@pytest.mark.parametrize(
    ("text", "expected", "warned"),
    [
        ("git status", "git status", ""),
        ("ls\x1b[2J", "ls\\e[2J", "control"),
        ("ls \u202egnp", "ls \\u{202E}gnp", "invisible"),
        ("r\u00adm", "r\\xadm", "invisible"),
        ("l\u0455 -la", "l\u0455\\u{455} -la", "look-alike"),
        ("сор x", "с\\u{441}о\\u{43E}р\\u{440} x", "look-alike"),
        ("echo привет", "echo привет", ""),
        ("echo 你好", "echo 你好", ""),
        ("ls" + " " * 100 + "; rm x", "ls⟨100 blanks⟩; rm x", "blanks"),
        ("ls" + "\n" * 60 + "rm x", "ls\n⟨59 blank lines⟩\nrm x", "blank lines"),
    ],
)
def test_reveal(text: str, expected: str, warned: str) -> None:
    assert reveal(text) == expected
    assert any(warned in warning for warning in warnings(text)) if warned else warnings(text) == ()


def test_reveal_announces_what_it_cuts() -> None:
    text = "echo " + "A" * 30_000 + "; touch x"
    out = reveal(text, max_chars=2_000)
    assert out.startswith("echo AAA")
    assert out.endswith("; touch x")
    assert "characters not shown" in out
    assert any("not shown" in warning for warning in warnings(text, max_chars=2_000))


def test_attachment_labels_hold_no_foreign_type() -> None:
    assert attachment_label("image/png", "x.png") == "[image/png: x.png]"
    assert attachment_label("image/png]\n[system", "a]b\n.png") == "[file: a)b⏎.png]"
