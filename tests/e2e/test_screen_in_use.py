"""The full screen through the real command and a pty: early keys, checks from within, how the terminal is left."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Place
from e2e.screen_person import ScreenPerson
from fakes.model_server import ModelServer

READY = "F1 help"
ALTERNATE_ON, ALTERNATE_OFF = b"\x1b[?1049h", b"\x1b[?1049l"


@pytest.fixture
def come(tmp_path: Path) -> Iterator[Any]:
    present: list[ScreenPerson] = []
    script = {
        "replies": [{"match": "wait", "parts": [{"text": "first words"}, {"wait": "gate"}]}],
        "last": {"text": "fine"},
    }
    with ModelServer(script) as server:
        place = Place(tmp_path, server.url)

        def comes(*args: str, **more: Any) -> ScreenPerson:
            present.append(ScreenPerson(place, *args, **more))
            return present[-1]

        yield comes
        for person in present:
            person.leave()


def test_what_was_typed_before_the_screen_was_there_is_kept(come: Any) -> None:
    person = come(early=b"early words")
    person.sees("▌ early words")
    person.type("\r")
    person.sees_word("fine")


def test_checks_from_within_the_screen_find_the_terminal(come: Any) -> None:
    person = come()
    person.sees(READY)
    person.type("/doctor \r")
    person.sees("providers")
    assert not any("AttributeError" in row for row in person.rows)
    assert any("terminal, TERM xterm-256color, 80x24, utf-8" in row for row in person.rows)


def test_a_fork_shows_what_it_was_copied_from(come: Any) -> None:
    person = come()
    person.sees(READY)
    person.type("alpha\r")
    person.sees_word("fine")
    person.type("/branch\r")
    person.sees("recap:")  # told when a session is come back to, so it is the copy's screen
    person.sees("▌ alpha")
    person.sees_word("fine")
    person.type("beta\r")
    person.sees("▌ beta")
    person.sees("▌ alpha")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("working", [True, False])
def test_the_terminal_is_left_as_it_was_found(come: Any, number: signal.Signals, working: bool) -> None:
    person = come()
    person.sees(READY)
    if working:
        person.type("wait\r")
        person.sees("first words")
    person.process.send_signal(number)
    assert person.until_ended() in (130, 128 + number)
    assert person.mode_now() == person.mode
    assert person.drawn.count(ALTERNATE_ON) == person.drawn.count(ALTERNATE_OFF) == 1
    for switched in (b"1000", b"1003", b"1004", b"2004"):
        assert person.drawn.rfind(b"\x1b[?" + switched + b"l") >= person.drawn.rfind(b"\x1b[?" + switched + b"h")
    assert person.drawn.rfind(b"\x1b[?25h") > person.drawn.rfind(b"\x1b[?25l")


def test_what_was_not_sent_is_back_after_a_kill(come: Any) -> None:
    person = come()
    person.sees(READY)
    person.type("half a thought")
    person.sees("half a thought")
    _until_kept(person, "half a thought")
    person.process.kill()
    person.until_ended()
    again = come()
    again.sees("▌ half a thought")


def _until_kept(person: ScreenPerson, words: str) -> None:
    home = Path(person.env["CLEW_HOME"])
    person.until(lambda: any(words in path.read_text(errors="replace") for path in home.rglob("*") if path.is_file()))
