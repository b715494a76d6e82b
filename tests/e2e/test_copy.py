"""Copying through the real command in a real tmux, judged by what tmux holds and what the terminal outside is sent."""

import base64
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Place
from e2e.screen_person import ScreenPerson
from fakes.model_server import ModelServer

READY = "F1"
ANSWER = "The scale rounds each parcel up, so the sum of all parcels is more than the weight of the whole load is."
TMUX = shutil.which("tmux")
needs_tmux = pytest.mark.skipif(TMUX is None, reason="no tmux on this machine, and nothing else can stand for it")


class InTmux:
    """A person at clew inside a tmux that nobody configured."""

    def __init__(self, place: Place, socket: str, *args: str, config: str = "/dev/null") -> None:
        assert TMUX is not None
        self._tmux = (TMUX, "-L", socket, "-f", config)
        self.person = ScreenPerson(
            place, *args, within=(*self._tmux, "new-session"), SHELL="/bin/sh", TMUX_TMPDIR=str(place.home)
        )

    def tmux(self, *args: str) -> str:
        done = subprocess.run(
            [*self._tmux, *args], env=self.person.env, capture_output=True, text=True, check=False, timeout=20
        )
        return done.stdout

    def holds(self) -> str:
        """What prefix ] would paste."""
        return self.tmux("show-buffer")

    def until_held(self, wanted: str) -> None:
        self.person.until(lambda: self.holds() == wanted)

    def told_outside(self) -> list[str]:
        """What the terminal outside was told to put into its clipboard."""
        found = re.findall(rb"\x1b\]52;[a-z]*;([A-Za-z0-9+/=]+)(?:\x07|\x1b\\)", self.person.drawn)
        return [base64.b64decode(text).decode() for text in found]

    def drag(self, *places: tuple[int, int]) -> None:
        """Down at the first place, over the others, up at the last; columns and rows from 1."""
        x, y = places[0]
        self.person.type(f"\x1b[<0;{x};{y}M")
        for x, y in places[1:]:
            self.person.type(f"\x1b[<32;{x};{y}M")
        self.person.type(f"\x1b[<0;{x};{y}m")

    def leave(self) -> None:
        self.tmux("kill-server")
        self.person.leave()


@pytest.fixture
def come(tmp_path: Path) -> Iterator[Any]:
    present: list[InTmux] = []
    with ModelServer({"replies": [], "last": {"text": ANSWER}}) as server:
        place = Place(tmp_path, server.url)

        def comes(*args: str, **more: Any) -> InTmux:
            present.append(InTmux(place, f"clew{len(present)}", *args, **more))
            present[-1].person.sees(READY)
            return present[-1]

        comes.place = place  # type: ignore[attr-defined] - a fixture that is a function and knows its place
        yield comes
        for one in present:
            one.leave()


def row_of(words: str, rows: list[str]) -> int:
    return next(at for at, row in enumerate(rows, 1) if words in row)


@needs_tmux
def test_in_a_default_tmux_a_drag_a_command_and_y_arrive(come: Callable[..., InTmux]) -> None:
    here = come()
    assert here.tmux("show-options", "-s", "set-clipboard").split() == ["set-clipboard", "external"]
    person = here.person
    person.type("how heavy\r")
    person.sees("load is.")
    first = row_of("The scale", person.rows)
    last = row_of("load is.", person.rows)
    assert last > first  # it takes two rows, and is one line
    here.drag((3, first), (10, first), (len(person.rows[last - 1]), last))
    here.until_held(ANSWER)
    person.until(lambda: ANSWER in here.told_outside())
    person.sees("copied 1 line (tmux and its terminal)")

    here.tmux("set-buffer", "nothing")
    person.type("/copy\r")
    here.until_held(ANSWER)

    person.sees("ask for something")  # the command was taken, and the prompt is empty again
    person.type("\x14")
    person.sees("reading:")
    person.type("[y")  # to the prompt before, copy
    here.until_held("how heavy")
    person.until(lambda: here.told_outside()[-1] == "how heavy")


@needs_tmux
def test_what_was_answered_before_is_copied_after_coming_back(come: Callable[..., InTmux]) -> None:
    first = come()
    first.person.type("how heavy\r")
    first.person.sees("load is.")
    first.person.type("/quit\r")
    first.person.until_ended()
    again = come("-c")
    again.person.sees("load is.")
    again.person.type("/copy\r")
    again.until_held(ANSWER)


@needs_tmux
def test_a_tmux_whose_terminal_has_no_clipboard_says_so(come: Callable[..., InTmux], tmp_path: Path) -> None:
    config = tmp_path / "tmux.conf"
    config.write_text("set -s terminal-features ''\nset -s terminal-overrides ',*:Ms@'\n")
    here = come(config=str(config))
    here.person.type("how heavy\r")
    here.person.sees("load is.")
    here.person.type("/copy\r")
    here.until_held(ANSWER)
    here.person.sees("tmux alone, prefix ] pastes")
    here.person.sees("terminal-features")
    assert not here.told_outside()


@needs_tmux
def test_two_clicks_take_a_word_and_each_part_of_the_mouse_can_be_switched_off(come: Callable[..., InTmux]) -> None:
    here = come()
    person = here.person
    person.type("how heavy\r")
    person.sees("load is.")
    row = row_of("The scale", person.rows)
    here.drag((8, row))
    here.drag((8, row))
    here.until_held("scale")
    here.drag((8, row))
    here.until_held(ANSWER)
    here.tmux("set-buffer", "nothing")
    person.type("/mouse select off\r")
    person.sees("screen.mouseSelect: off")
    row = row_of("The scale", person.rows)
    here.drag((3, row), (10, row))
    person.type("/copy\r")  # comes after the drag, and is the only one that copies
    here.until_held(ANSWER)


def test_a_terminal_that_takes_osc_52_is_sent_it(tmp_path: Path) -> None:
    with ModelServer({"replies": [], "last": {"text": ANSWER}}) as server:
        person = ScreenPerson(Place(tmp_path, server.url), TERM="xterm-kitty")
        try:
            person.sees(READY)
            person.type("how heavy\r")
            person.sees("load is.")
            person.type("/copy\r")
            person.sees("copied 1 line (the terminal)")
            assert base64.b64encode(ANSWER.encode()) in person.drawn
        finally:
            person.leave()


def test_where_nobody_takes_it_the_text_is_in_a_file_that_is_named(tmp_path: Path) -> None:
    with ModelServer({"replies": [], "last": {"text": ANSWER}}) as server:
        place = Place(tmp_path, server.url)
        person = ScreenPerson(place, TERM="linux")
        try:
            person.sees(READY)
            person.type("how heavy\r")
            person.sees("load is.")
            person.type("/copy\r")
            person.sees("no clipboard here")
            assert (place.clew_home / "copied.txt").read_text() == ANSWER
            assert b"\x1b]52" not in person.drawn
        finally:
            person.leave()


@pytest.mark.skipif(not (shutil.which("Xvfb") and shutil.which("xclip")), reason="needs Xvfb and xclip")
def test_on_a_desktop_its_own_clipboard_has_the_text(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    desktop = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "100x100x8", "-nolisten", "tcp"],
        pass_fds=(writing,),
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    with open(reading) as told, ModelServer({"replies": [], "last": {"text": ANSWER}}) as server:
        display = f":{told.readline().strip()}"
        person = ScreenPerson(Place(tmp_path, server.url), DISPLAY=display)
        try:
            person.sees(READY)
            person.type("how heavy\r")
            person.sees("load is.")
            person.type("/copy\r")
            person.sees("copied 1 line (xclip)")
            paste = ["xclip", "-selection", "clipboard", "-out"]
            held = subprocess.run(paste, env={**person.env, "DISPLAY": display}, capture_output=True, check=True)
            assert held.stdout.decode() == ANSWER
        finally:
            person.leave()
            desktop.terminate()
            desktop.wait()


@pytest.mark.skipif(not shutil.which("screen"), reason="needs GNU screen")
def test_gnu_screen_passes_the_text_on_and_nobody_claims_that_it_arrived(tmp_path: Path) -> None:
    sockets = tmp_path / "sockets"
    sockets.mkdir(mode=0o700)
    with ModelServer({"replies": [], "last": {"text": ANSWER}}) as server:
        place = Place(tmp_path, server.url)
        within = ("screen", "-c", "/dev/null", "-S", "clew-copy")
        person = ScreenPerson(place, within=within, SCREENDIR=str(sockets))
        try:
            person.sees(READY)
            person.type("how heavy\r")
            person.sees("load is.")
            person.type("/copy\r")
            person.sees("sent 1 line to the terminal")
            person.until(lambda: base64.b64encode(ANSWER.encode()) in person.drawn)
            person.sees("GNU screen has no clipboard")
            assert (place.clew_home / "copied.txt").read_text() == ANSWER
        finally:
            subprocess.run(["screen", "-S", "clew-copy", "-X", "quit"], env=person.env, check=False)
            person.leave()
