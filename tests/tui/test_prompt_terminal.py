"""The prompt in a real terminal: the cursor of the terminal, early keys, bytes that are no text, a huge paste."""

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fakes.effort import not_hanging

COLUMNS, ROWS = 60, 20
TESTS = Path(__file__).parents[1]
PLACED = re.compile(rb"\x1b\[(\d+);(\d+)H$")


class Terminal:
    """The app behind a pty; what it drew is read until it is as expected."""

    def __init__(self, out: Path, early: bytes) -> None:
        self._out = out
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.write(self._master, early)
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(TESTS), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        command = [sys.executable, "-m", "tui.prompt_main", str(out)]
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=env)
        os.close(slave)
        self.drawn = b""

    def type(self, data: bytes) -> None:
        """Written as the app takes it, reading meanwhile: a pty holds only a few kilobytes either way."""
        os.set_blocking(self._master, False)
        while data:
            readable, writable, _ = select.select([self._master], [self._master], [])
            if readable:
                self.drawn += os.read(self._master, 65_536)
            if writable:
                data = data[os.write(self._master, data) :]

    def until_cursor(self, row: int, column: int) -> None:
        """Wait until the terminal's cursor is left there, both counted from 1."""
        self._until(
            lambda: bool(match := PLACED.search(self.drawn)) and (int(match[1]), int(match[2])) == (row, column)
        )

    def entries(self, count: int) -> list[str]:
        """Wait until so many were sent and written to their ends."""
        self._until(lambda: self._out.exists() and self._out.read_bytes().count(b"\n") >= count)
        return [json.loads(line) for line in self._out.read_text().splitlines()]

    def _until(self, done: Callable[[], bool]) -> None:
        with not_hanging():
            while not done():
                if select.select([self._master], [], [], 0.05)[0]:
                    self.drawn += os.read(self._master, 65_536)

    def until_ended(self) -> None:
        """Wait until the app has left by itself."""
        with not_hanging():
            while self.process.poll() is None:
                if select.select([self._master], [], [], 0.05)[0]:
                    with contextlib.suppress(OSError):
                        os.read(self._master, 65_536)

    def hang_up(self) -> None:
        """The other end of the terminal is gone."""
        os.close(self._master)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    started = Terminal(tmp_path / "out", b"early ")
    yield started
    started.end()


def test_a_real_terminal(terminal: Terminal) -> None:
    terminal.until_cursor(20, 9)  # what was typed before the app was ready is in the prompt
    terminal.type("日本".encode())
    terminal.until_cursor(20, 13)  # beside the caret, for input methods
    terminal.type(b"\x1b\rx\xffy")  # Alt-Enter of an ordinary terminal, then a byte that is no text
    terminal.until_cursor(20, 6)
    terminal.type(b"\x1b[A")
    terminal.until_cursor(19, 6)
    terminal.type(b"\r")
    assert terminal.entries(1) == ["early 日本\nx\ufffdy"]
    terminal.until_cursor(20, 3)
    text = ("y" * 80 + "\r") * 60_000
    terminal.type(b"\x1b[200~" + text.encode() + b"\x1b[201~\r")
    assert terminal.entries(2)[1] == text.replace("\r", "\n")
    assert terminal.process.poll() is None


def test_letters_that_join_others_are_text(terminal: Terminal) -> None:
    """Within an emoji and within words of scripts that need them; anywhere else nobody would see them."""
    terminal.until_cursor(20, 9)
    terminal.type("👩\u200d👧 می\u200cخواهم a\u200db\r".encode())
    assert terminal.entries(1) == ["early 👩\u200d👧 می\u200cخواهم ab"]


def test_leaving_and_a_terminal_that_goes_away_end_the_app(terminal: Terminal, tmp_path: Path) -> None:
    terminal.until_cursor(20, 9)
    terminal.type(b"\x11")
    terminal.until_ended()
    gone = Terminal(tmp_path / "other", b"")
    gone.until_cursor(20, 3)
    gone.hang_up()
    with not_hanging():
        gone.process.wait()
