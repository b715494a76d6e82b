"""Clipboard programs on PATH: whoever is asked gets the text, two are not both claimed, and one that hangs holds
nobody up."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Place, Serve
from e2e.screen_person import ScreenPerson
from e2e.test_copy import READY, InTmux, needs_tmux

ANSWER = "The scale rounds each parcel up.\n\nשלום עולם, e\u0301 and 🇩🇪 stay as they are."
TAKES = 'cat > "$HOME/taken.$$" && mv "$HOME/taken.$$" "$HOME/taken"'
HANGS = 'echo $$ > "$HOME/hangs"; exec sleep 1000'


def program(place: Place, name: str, does: str) -> str:
    """A program of that name; the PATH that has it first."""
    folder = place.home / "bin"
    folder.mkdir(exist_ok=True)
    made = folder / name
    made.write_text(f"#!/bin/sh\n{does}\n")
    made.chmod(0o755)
    return f"{folder}:{place.env['PATH']}"


Comes = Callable[..., ScreenPerson]


@pytest.fixture
def answered(serve: Serve) -> Iterator[tuple[Place, Comes]]:
    """A person who was answered."""
    place, _ = serve({"replies": [], "last": {"text": ANSWER}})
    present: list[ScreenPerson] = []

    def comes(**env: Any) -> ScreenPerson:
        person = ScreenPerson(place, **env)
        present.append(person)
        person.sees(READY)
        person.type("how heavy\r")
        person.sees("stay as they are.")
        return person

    yield place, comes
    for person in present:
        person.leave()


def test_the_desktop_of_wayland_gets_the_source_text(answered: tuple[Place, Comes]) -> None:
    place, comes = answered
    person = comes(PATH=program(place, "wl-copy", TAKES), WAYLAND_DISPLAY="wayland-0")
    person.type("/copy\r")
    person.sees("copied 3 lines (wl-copy)")
    assert (place.home / "taken").read_text() == ANSWER


def test_of_two_programs_the_next_is_asked_when_the_first_fails_and_it_is_the_one_named(
    answered: tuple[Place, Comes],
) -> None:
    place, comes = answered
    program(place, "wl-copy", "cat > /dev/null; exit 1")
    path = program(place, "xclip", TAKES)
    person = comes(PATH=path, WAYLAND_DISPLAY="wayland-0", DISPLAY=":0")
    person.type("/copy\r")
    person.sees("copied 3 lines (xclip)")
    assert (place.home / "taken").read_text() == ANSWER


def test_a_clipboard_that_hangs_holds_neither_the_keys_nor_the_end(answered: tuple[Place, Comes]) -> None:
    place, comes = answered
    person = comes(PATH=program(place, "wl-copy", HANGS), WAYLAND_DISPLAY="wayland-0")
    person.type("/copy\r")
    person.until((place.home / "hangs").exists)
    person.type("\x03")  # in the middle of it
    person.sees("again")
    person.type("still here")
    person.sees("still here")
    person.sees("which does not say whether it took them")
    assert (place.clew_home / "copied.txt").read_text() == ANSWER
    hung = int((place.home / "hangs").read_text())
    assert subprocess.run(["kill", "-0", str(hung)], capture_output=True, check=False).returncode  # it is gone


def test_who_quits_in_the_middle_of_a_copy_is_back_in_the_shell(answered: tuple[Place, Comes]) -> None:
    place, comes = answered
    person = comes(PATH=program(place, "wl-copy", HANGS), WAYLAND_DISPLAY="wayland-0")
    person.type("/copy\r")
    person.until((place.home / "hangs").exists)
    person.type("\x03\x03")
    assert person.until_ended() in (0, 130)
    assert person.mode_now()[3] == person.mode[3]


@needs_tmux
def test_of_a_desktop_and_tmux_one_is_named_and_has_it(serve: Serve) -> None:
    place, _ = serve({"replies": [], "last": {"text": ANSWER}})
    place.env |= {"PATH": program(place, "xclip", TAKES), "DISPLAY": ":0"}
    here = InTmux(place, "clewtwo")
    try:
        here.person.sees(READY)
        here.person.type("how heavy\r")
        here.person.sees("stay as they are.")
        here.person.type("/copy\r")
        here.person.sees("copied 3 lines (xclip)")
        assert (place.home / "taken").read_text() == ANSWER
        program(place, "xclip", "exit 1")  # the desktop went away, tmux is still there
        here.person.type("/copy\r")
        here.until_held(ANSWER)
        here.person.sees("copied 3 lines (tmux")
    finally:
        here.leave()


def test_line_by_line_a_clipboard_that_hangs_holds_nobody_up(serve: Serve, tmp_path: Path) -> None:
    place, _ = serve({"replies": [], "last": {"text": ANSWER}})
    path = program(place, "wl-copy", HANGS)
    person = ScreenPerson(place, "--plain", PATH=path, WAYLAND_DISPLAY="wayland-0")
    try:
        person.sees(">")
        person.type("how heavy\r")
        person.sees("stay as they are.")
        person.type("/copy\r")
        person.until((place.home / "hangs").exists)
        person.type("still here")
        person.sees("still here")
        person.sees("which does not say whether it took them")
        assert person.drawn.index(b"still") < person.drawn.index(b"which does not say")
        assert (place.clew_home / "copied.txt").read_text() == ANSWER
    finally:
        person.leave()
