"""Terminals that make it hard: no colour, 40 columns, text from right to left, a slow line, a serial console, and a
paste of 5,000 lines in vim mode."""

import base64
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from e2e.command import Place, Serve
from e2e.screen_person import ScreenPerson
from fakes.model_server import ModelServer

READY = "ask for something"
COLOURS = re.compile(rb"\x1b\[[0-9;]*?(?<![0-9])(?:3[0-7]|38|4[0-7]|48|9[0-7]|10[0-7])(?:;[0-9;]*)?m")
BOTH_WAYS = "שלום עולם: the parcel עגלה weighs. مرحبا بالعالم e\u0301cole n\u0303o a\u0308\u0323 end"
"""Hebrew, Arabic, and marks that join the letter before them."""
FAMILY = "कि 👨\u200d👩\u200d👧 🇩🇪"
"""Signs that are joined: more than the emulator knows, so they are not looked for on the screen."""
PASTE = "\n".join(f"line {number} with dd, :q! and \t tabs" for number in range(5_000))

Comes = Callable[..., ScreenPerson]


@pytest.fixture
def room(serve: Serve) -> Iterator[Callable[[Any], tuple[Place, ModelServer, Comes]]]:
    """A place with a script, and people who come there."""
    present: list[ScreenPerson] = []

    def opened(script: Any) -> tuple[Place, ModelServer, Comes]:
        place, server = serve(script)

        def comes(*args: str, **more: Any) -> ScreenPerson:
            present.append(ScreenPerson(place, *args, **more))
            return present[-1]

        return place, server, comes

    yield opened
    for person in present:
        person.leave()


def sent(server: ModelServer, number: int = -1) -> str:
    """The last words of the person in a request."""
    return server.requests[number].body["messages"][-1]["content"][-1]["text"]


def copied(person: ScreenPerson) -> list[str]:
    found = re.findall(rb"\x1b\]52;c;([A-Za-z0-9+/=]+)\x07", person.drawn)
    return [base64.b64decode(text).decode() for text in found]


def test_without_colour_nothing_is_coloured_and_everything_is_there(room: Any) -> None:
    edit = {"file_path": "a.py", "old_string": "1", "new_string": "2"}
    place, _, comes = room(
        {
            "replies": [
                {"calls": [{"call": "Read", "arguments": {"file_path": "a.py"}}]},
                {"calls": [{"call": "Edit", "arguments": edit}]},
            ],
            "last": {"text": "# Head\n\n`code` **bold**\n\n```python\nx = 1\n```\n\nthe end"},
        }
    )
    (place.project / "a.py").write_text("x = 1\n")
    person = comes("--permission-mode", "acceptEdits", NO_COLOR="1")
    person.sees(READY)
    person.type("edit it\r")
    person.sees("the end")
    assert not COLOURS.search(person.drawn)
    assert any("x = 1" in row for row in person.rows)


@pytest.mark.parametrize("columns", [40, 60])
def test_text_from_right_to_left_and_joined_marks_are_sent_and_copied_as_they_are(room: Any, columns: int) -> None:
    place, server, comes = room(
        {
            "replies": [{"calls": [{"call": "Read", "arguments": {"file_path": "both.txt"}}]}],
            "last": {"text": BOTH_WAYS},
        }
    )
    (place.project / "both.txt").write_text(f"{BOTH_WAYS} {FAMILY}\n")
    person = comes(size=(columns, 24), TERM="xterm-kitty")
    person.sees(READY)
    person.type(f"{BOTH_WAYS} {FAMILY}\r")
    person.until(lambda: len(server.requests) > 1)
    assert sent(server, 0).endswith(f"{BOTH_WAYS} {FAMILY}")
    assert f"{BOTH_WAYS} {FAMILY}" in server.requests[1].body["messages"][-1]["content"][0]["content"]
    person.sees("── ")
    rows = person.rows
    last = max(at for at, row in enumerate(rows, 1) if row.endswith("end"))
    first = max(at for at, row in enumerate(rows, 1) if row.startswith("  שלום"))
    assert last > first or columns > 40
    person.type(f"\x1b[<0;3;{first}M\x1b[<32;9;{first}M\x1b[<32;{columns};{last}M\x1b[<0;{columns};{last}m")
    person.until(lambda: copied(person) == [BOTH_WAYS])


def test_at_40_columns_nothing_of_the_footer_is_cut_and_an_approval_is_whole(room: Any) -> None:
    _, _, comes = room([{"calls": [{"call": "Write", "arguments": {"file_path": "depot.py", "content": "x = 1"}}]}])
    person = comes(size=(40, 20))
    person.sees(READY)
    assert "…" not in person.rows[-1]
    person.type("write it\r")
    person.sees("y s a e n x · Esc denies")
    for words in ("write depot.py", "x = 1", "Allow once"):
        assert any(words in row for row in person.rows), words
    assert "…" not in person.rows[-1]


def test_a_paste_of_5000_lines_in_vim_mode_is_one_piece_in_both_modes(room: Any) -> None:
    _, server, comes = room({"replies": [], "last": {"text": "answered"}})
    person = comes()
    person.sees(READY)
    person.type("/vim\r")
    person.sees("INSERT")
    pasted = b"\x1b[200~" + PASTE.replace("\n", "\r").encode() + b"\x1b[201~"
    person.type_all(pasted)
    person.sees("[pasted #1: 5,000 lines]")
    person.type("\x1b")
    person.sees("NORMAL")
    person.type("A and more\r")
    person.sees("answered")
    assert sent(server) == f"{PASTE} and more"
    person.type("\x1b")
    person.sees("NORMAL")
    person.type_all(pasted)
    person.sees("[pasted #1: 5,000 lines]")
    person.type("u")
    person.sees(READY)
    assert len(server.requests) == 1


@pytest.mark.parametrize("size", [1, 3, 7])
def test_a_line_that_cuts_everything_anywhere_changes_nothing(room: Any, size: int) -> None:
    _, server, comes = room({"replies": [], "last": {"text": "answered"}})
    person = comes()
    person.sees(READY)
    keys = "ab\x1b[D\x1b[Dü日\x1b[F\x1b[I\x1b[O\x1b[I\x1b[<64;10;5M\x1b[<65;10;5Mc \x1b[200~one\rtwo ä\x1b[201~ end"
    person.type_in_pieces(keys.encode(), size)
    person.sees("end")
    assert not server.requests  # the paste sent nothing by itself
    person.type("\r")
    person.sees("answered")
    assert sent(server) == "ü日abc one\ntwo ä end"


@pytest.mark.parametrize("term", ["vt100", "vt220", "linux"])
def test_a_serial_console_that_tells_no_size_has_a_screen_of_80_by_24(room: Any, term: str) -> None:
    _, _, comes = room({"replies": [], "last": {"text": "answered"}})
    person = comes(size=(0, 0), TERM=term)
    person.sees(READY)
    person.type("hello\r")
    person.sees("  answered")
    person.type("/quit\r")
    assert person.until_ended() == 0
    assert person.mode_now() == person.mode


@pytest.mark.parametrize("term", ["dumb", "", "unknown"])
def test_a_terminal_that_knows_no_codes_is_sent_none(room: Any, term: str) -> None:
    _, _, comes = room({"replies": [], "last": {"text": "**fine** and `well`"}})
    person = comes(size=(0, 0), TERM=term)
    person.sees("> ".rstrip())
    person.type("hello\r")
    person.sees("well")
    person.type("/quit\r")
    assert person.until_ended() == 0
    assert b"\x1b" not in person.drawn
