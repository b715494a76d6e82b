"""The full screen through a real terminal: early keys, approvals, crashes, signals, sizes; a terminal left as found."""

import signal
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from bench.screen_terminal import ScreenTerminal

from e2e.command import CLEW, Place
from fakes.model_server import ModelServer

READY = "sk for something"
"""The first letter of the words in an empty prompt stands under the cursor."""
LEFT = b"\x1b[?1049l"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@contextmanager
def opened(place: Place, script: Any, *arguments: str, early: str = "", **size: int) -> Iterator[ScreenTerminal]:
    with ModelServer(script) as server:
        env = {**place.env, "ANTHROPIC_BASE_URL": server.url, "TERM": "xterm-256color", "PYTHONDONTWRITEBYTECODE": ""}
        with ScreenTerminal([CLEW, "--trust", *arguments], env, place.project, **size) as terminal:
            if early:
                terminal.type(early)
            yield terminal


def test_what_is_typed_before_the_screen_is_there_is_kept_and_sent(place: Place) -> None:
    with opened(place, [{"text": "Hello **there** 你好 👍."}], early="hello early") as terminal:
        terminal.shows("▌ hello early")
        terminal.type("\r")
        terminal.shows("Hello there 你")
        terminal.shows(READY)
        terminal.type("\x04")
        assert terminal.wait() == 0
        assert LEFT in terminal.output
        assert b"clew --resume" in terminal.output


@pytest.mark.parametrize("plain", [False, True])
def test_what_could_not_be_saved_is_told_at_the_end_and_not_offered(place: Place, *, plain: bool) -> None:
    place.clew_home.mkdir()
    (place.clew_home / "projects").write_text("no directory")
    with opened(place, [{"text": "Hello there."}], *(["--plain"] if plain else [])) as terminal:
        terminal.shows("lists commands" if plain else READY)
        terminal.type("hello\r")
        terminal.shows("Hello there.")
        terminal.shows("-- " if plain else READY)
        terminal.type("\x04")
        assert terminal.wait() == 0
    shown = terminal.output.decode().rpartition("Hello there.")[2]
    assert "entries could not be saved; what was before, if anything: clew --resume" in shown
    assert "Continue with" not in shown


def test_an_approval_is_asked_and_answered_and_the_file_is_changed(place: Place) -> None:
    target = place.project / "a.txt"
    target.write_text("old line\n")
    edit = {"file_path": str(target), "old_string": "old line", "new_string": "new line"}
    script = [
        {"calls": [{"call": "Read", "arguments": {"file_path": str(target)}}]},
        {"calls": [{"call": "Edit", "arguments": edit}]},
        {"text": "Changed."},
    ]
    with opened(place, script) as terminal:
        terminal.shows(READY)
        terminal.type("change it\r")
        terminal.shows("Allow Edit?")
        terminal.shows("Esc denies")  # its quiet time is over
        terminal.type("y")
        terminal.shows("Changed.")
        assert target.read_text() == "new line\n"
        assert any("+ new line" in row for row in terminal.rows())


def test_kill_9_loses_neither_the_conversation_nor_the_draft(place: Place) -> None:
    with opened(place, [{"text": "The first answer."}]) as terminal:
        terminal.shows(READY)
        terminal.type("first question\r")
        terminal.shows("The first answer.")
        terminal.shows(READY)
        terminal.type("half a thought")
        terminal.shows("half a thought")
        drafts = place.clew_home / "drafts"
        terminal.until(lambda _: any("half a thought" in file.read_text() for file in drafts.rglob("*.json")))
        terminal.signal(signal.SIGKILL)
        terminal.wait()
    with opened(place, {"replies": [], "last": {"text": "The second answer."}}, "-c") as terminal:
        terminal.shows("▌ first question")
        terminal.shows("The first answer.")
        terminal.shows("▌ half a thought")
        terminal.type("\r")
        terminal.shows("The second answer.")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_leave_the_terminal_as_it_was(place: Place, number: signal.Signals) -> None:
    with opened(place, [{"fault": "hang"}]) as terminal:
        before = termios.tcgetattr(terminal.descriptor)
        terminal.shows(READY)
        assert termios.tcgetattr(terminal.descriptor) != before
        terminal.type("work\r")
        terminal.shows("Waiting for the model")
        terminal.signal(number)
        if number == signal.SIGINT:
            terminal.shows("again quits")
            terminal.signal(number)
        assert terminal.wait() == 130
        assert LEFT in terminal.output
        assert b"\x1b[?25h" in terminal.output[terminal.output.rindex(LEFT) :]
        assert termios.tcgetattr(terminal.descriptor) == before


def test_a_lost_terminal_ends_the_process_and_the_session_goes_on_in_the_log(place: Place) -> None:
    with opened(place, [{"text": "Kept answer."}]) as terminal:
        terminal.shows(READY)
        terminal.type("question\r")
        terminal.shows("Kept answer.")
        terminal.shows(READY)
        terminal.hang_up()
        terminal.wait_gone()
    with opened(place, {"replies": [], "last": {"text": "Next."}}, "-c") as terminal:
        terminal.shows("Kept answer.")


def test_a_storm_of_sizes_while_words_stream_in(place: Place) -> None:
    words = " ".join(f"word{number}" for number in range(300))
    slow = {"parts": [{"text": words}], "fault": "trickle", "bytes": 60, "delay_s": 0.01}
    with opened(place, [slow, {"text": "Still here."}]) as terminal:
        terminal.shows(READY)
        terminal.type("go\r")
        terminal.shows("word1")
        for columns, lines in [(60, 20), (10, 6), (120, 40), (1, 1), (200, 5), (80, 24)]:
            terminal.resize(columns, lines)
            terminal.type("x")
        terminal.shows("word299")
        terminal.type("\x15again\r")
        terminal.shows("Still here.")


def test_escape_interrupts_a_turn_and_the_next_one_works(place: Place) -> None:
    with opened(place, [{"fault": "hang"}, {"text": "Back again."}]) as terminal:
        terminal.shows(READY)
        terminal.type("wait for ever\r")
        terminal.shows("Waiting for the model")
        terminal.type("\x1b")
        terminal.shows("Interrupted")
        terminal.type("once more\r")
        terminal.shows("Back again.")


def test_stdout_that_is_no_terminal_gets_no_screen(place: Place) -> None:
    with ModelServer([{"text": "plain answer"}]) as server:
        done = place.run("--trust", stdin="hello\n", env={"ANTHROPIC_BASE_URL": server.url, "TERM": "xterm"})
    assert "plain answer" in done.out
    assert "\x1b" not in done.out
