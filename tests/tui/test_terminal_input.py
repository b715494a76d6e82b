"""Bytes of the terminal into events: pastes, Alt with keys, and reads that cut anything anywhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.message import Message

from clew.tui.terminal import driver
from clew.tui.terminal.driver import PASTE_END, PASTE_START, InputParser
from fakes.effort import calls_in


def told(*chunks: str) -> list[str]:
    """What the parser makes of these reads: keys by name, pastes by their text."""
    parser = InputParser()
    found: list[Message] = []
    for chunk in chunks:
        found += parser.feed(chunk)
        found += parser.tick()
    return [
        message.key if isinstance(message, events.Key) else f"paste:{message.text}"
        for message in found
        if isinstance(message, events.Key | events.Paste)
    ]


def test_keys_are_what_they_were() -> None:
    assert told("aä\r\n\t\x7f\x1b[A\x1b[1;5C") == [
        "a",
        "ä",
        "enter",
        "ctrl+j",
        "tab",
        "backspace",
        "up",
        "ctrl+right",
    ]


def test_alt_with_a_key_comes_at_once() -> None:
    assert told("\x1b\r") == ["alt+enter"]
    assert told("\x1bb", "\x1bf", "\x1b\x7f", "\x1b<", "\x1b_") == [
        "alt+b",
        "alt+f",
        "alt+backspace",
        "alt+less_than_sign",
        "alt+underscore",
    ]
    assert told("\x1b\rab") == ["alt+enter", "a", "b"]


def test_sequences_of_terminals_are_not_taken_for_alt() -> None:
    assert told("\x1bOA", "\x1b[1;3D", "\x1b[13;2u") == ["up", "alt+left", "shift+enter"]


def test_a_paste_is_one_event_with_keys_before_and_after() -> None:
    assert told(f"a{PASTE_START}one\rtwo\x1b[A\0{PASTE_END}b") == ["a", "paste:one\rtwo\x1b[A", "b"]
    assert told(f"{PASTE_START}{PASTE_END}") == ["paste:"]
    assert told(f"{PASTE_START}1{PASTE_END}{PASTE_START}2{PASTE_END}") == ["paste:1", "paste:2"]


@given(st.text(alphabet="ab\r\x1b[201~", max_size=30), st.lists(st.integers(0, 60), max_size=6))
def test_a_paste_may_be_cut_anywhere_after_it_began(text: str, cuts: list[int]) -> None:
    text = text.replace(PASTE_END, "").replace(PASTE_START, "")
    whole = f"{text}{PASTE_END}x"
    places = sorted({min(cut, len(whole)) for cut in cuts})
    chunks = [whole[start:end] for start, end in zip([0, *places], [*places, len(whole)], strict=True)]
    expected = ["paste:" + whole[: whole.index(PASTE_END)], *told(whole[whole.index(PASTE_END) + len(PASTE_END) :])]
    assert told(PASTE_START, *(chunk for chunk in chunks if chunk)) == expected


@given(st.lists(st.integers(0, 80), max_size=12))
def test_reads_that_cut_sequences_anywhere_change_nothing(cuts: list[int]) -> None:
    whole = f"a\x1b[A\x1b[1;5Cb\x1b[<64;10;5M\x1b[I{PASTE_START}one\rtwo\x1b[A{PASTE_END}\x1b[13;2uc\x1b[O\x1bbd\r"
    expected = ["a", "up", "ctrl+right", "b", "paste:one\rtwo\x1b[A", "shift+enter", "c", "alt+b", "d", "enter"]
    places = sorted({min(cut, len(whole)) for cut in cuts})
    chunks = [whole[start:end] for start, end in zip([0, *places], [*places, len(whole)], strict=True)]
    assert told(*(chunk for chunk in chunks if chunk)) == expected


def test_the_second_half_of_a_sequence_is_waited_for_and_a_lone_escape_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 100.0
    monkeypatch.setattr(driver, "get_time", lambda: now_s)
    parser = InputParser()
    assert [*parser.feed("\x1b[20"), *parser.tick()] == []
    now_s += 1.5
    assert list(parser.tick()) == []
    (pasted,) = parser.feed(f"0~rm -rf x\r{PASTE_END}")
    assert isinstance(pasted, events.Paste)
    assert pasted.text == "rm -rf x\r"
    assert [*parser.feed("\x1b"), *parser.tick()] == []
    assert parser.is_waiting
    now_s += 0.2
    (escape,) = parser.tick()
    assert isinstance(escape, events.Key)
    assert escape.key == "escape"
    assert not parser.is_waiting


def test_five_megabytes_take_steps_by_reads_not_by_characters() -> None:
    read = "x" * 4095 + "\r"

    def work(reads: int) -> int:
        parser = InputParser()
        chunks = [PASTE_START, *[read] * reads, PASTE_END]
        return calls_in(lambda: [list(parser.feed(chunk)) for chunk in chunks])

    assert work(1200) < 1200 * 20
