"""A person at the full screen: the real command behind a pty, and the screen as an emulator shows it."""

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
from collections.abc import Callable
from typing import Any

import pyte

from e2e.command import CLEW, Place, with_a_terminal
from fakes.effort import not_hanging

COLUMNS, ROWS = 80, 24


class ScreenPerson:
    """Types bytes, and waits for what is to be seen."""

    def __init__(
        self,
        place: Place,
        *args: str,
        early: bytes = b"",
        trust: bool = True,
        within: tuple[str, ...] = (),
        size: tuple[int, int] | None = None,
        **env: str,
    ) -> None:
        """`within`: the command that starts clew, such as a multiplexer. `size`: columns and rows that the terminal
        tells; a serial line tells none."""
        self._master, slave = pty.openpty()
        columns, rows = size or (COLUMNS, ROWS)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._slave = slave
        self.mode = termios.tcgetattr(slave)
        if early:
            os.write(self._master, early)
        self.drawn = b""
        self.env = {**place.env, "TERM": "xterm-256color", **env}
        self._screen = pyte.Screen(columns or COLUMNS, rows or ROWS)
        self._stream = pyte.ByteStream(self._screen)
        self.process = subprocess.Popen(
            [*within, CLEW, *(("--trust",) if trust else ()), *args],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=place.project,
            env=self.env,
            start_new_session=True,
            preexec_fn=with_a_terminal,
        )

    @property
    def rows(self) -> list[str]:
        return [row.rstrip() for row in self._screen.display]

    def type(self, keys: bytes | str) -> None:
        os.write(self._master, keys.encode() if isinstance(keys, str) else keys)

    def type_all(self, data: bytes) -> None:
        """As much as it may be: a terminal holds a few kilobytes, so what is drawn is read meanwhile."""
        os.set_blocking(self._master, False)
        with not_hanging():
            while data:
                readable, writable, _ = select.select([self._master], [self._master], [])
                if readable:
                    self._read()
                if writable:
                    data = data[os.write(self._master, data) :]
        os.set_blocking(self._master, True)

    def type_in_pieces(self, data: bytes, size: int = 1) -> None:
        """Each piece is a read of its own: the next one comes when the one before was taken."""
        for start in range(0, len(data), size):
            self.type(data[start : start + size])
            self.until(lambda: not self._waiting_bytes())

    def _waiting_bytes(self) -> int:
        return struct.unpack("i", fcntl.ioctl(self._slave, termios.FIONREAD, struct.pack("i", 0)))[0]

    def sees_word(self, word: str) -> None:
        """Waits until the screen shows it as a word of its own: the footer speaks of unconfined commands."""
        alone = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
        self.until(lambda: any(alone.search(row) for row in self.rows))

    def sees(self, words: str) -> None:
        self.until(lambda: any(words in row for row in self.rows))

    def until_ended(self) -> int:
        self.until(lambda: self.process.poll() is not None)
        self._read()
        return self.process.returncode

    def mode_now(self) -> list[Any]:
        return termios.tcgetattr(self._slave)

    def until(self, done: Callable[[], bool]) -> None:
        with not_hanging():
            while not done():
                self._read()

    def _read(self) -> None:
        while select.select([self._master], [], [], 0.05)[0]:
            data = os.read(self._master, 65_536)
            self.drawn += data
            self._stream.feed(data)

    def leave(self) -> None:
        self.process.kill()
        self.process.wait()
        for descriptor in (self._master, self._slave):
            with contextlib.suppress(OSError):
                os.close(descriptor)
