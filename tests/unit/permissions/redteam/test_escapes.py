"""Escape sequences and invisible characters written independently of the sanitiser: whole, in pieces, and as a prompt.

A line of escapes.txt is the text that must stay readable, a tab, and the input; `=` means that all of it must.
"""

import re

import pytest

from clew.text.terminal_text import StreamSanitizer, reveal, sanitize

from .test_redteam import lines_of, written_out

UNWANTED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\u200b\u2060-\u2064\u00ad\u115f\u1160"
    "\u180e\u3164\ufeff\uffa0\ud800-\udfff\U000e0000-\U000e007f]"
)
ATTACKS = [line.split("\t", 1) for group, line in lines_of("escapes.txt") if group.startswith("attacks")]
ORDINARY = [written_out(line[2:]) for group, line in lines_of("escapes.txt") if group.startswith("ordinary")]


def in_order(kept: str, out: str) -> bool:
    return re.search(".*".join(kept), out, re.DOTALL) is not None


def streamed(text: str, size: int) -> str:
    stream = StreamSanitizer()
    pieces = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
    return "".join([*pieces, stream.flush()])


@pytest.mark.parametrize(("kept", "line"), ATTACKS)
def test_nothing_is_obeyed_and_the_text_stays(kept: str, line: str) -> None:
    text = written_out(line)
    for out in (sanitize(text), streamed(text, 1), streamed(text, 3), sanitize(text, one_line=True)):
        assert not UNWANTED.search(out), out
        assert in_order(kept, out), out
    shown = reveal(text)
    assert not UNWANTED.search(shown)
    assert in_order(kept, shown)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_comes_through(text: str) -> None:
    assert sanitize(text) == text
    assert streamed(text, 1) == text or "\u20e3" in text or "\U000e0100" in text, "split inside one sign"


@pytest.mark.parametrize("unit", ["é" + "a" * 50, "a\u202e", "❤\ufe0f", "\x1b[", "\x1b]0;", "\u0430a", "\n \n"])
def test_the_work_grows_with_the_text_and_not_faster(unit: str) -> None:
    """A text of 400,000 characters is done within the patience of a test; anything quadratic is not."""
    text = (unit * (400_000 // len(unit) + 1))[:400_000]
    assert sanitize(text) is not None
    assert reveal(text, max_chars=0)
    assert reveal("é" + "a" * 400_000)
