"""A pseudo-terminal with a screen emulator behind it: starts a command, types, and reads what a person would see."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pyte

CLEAR = b"\x1b[2J"


class ScreenTerminal:
    """One process on one terminal."""

    def __init__(
        self, command: list[str], env: Mapping[str, str], cwd: str | Path, *, columns: int = 80, lines: int = 24
    ) -> None:
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self.output = bytearray()
        """Everything it wrote."""
        self.started_at = time.monotonic()
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execve(command[0], command, dict(env))
        self.resize(columns, lines)
        self.code: int | None = None

    def resize(self, columns: int, lines: int) -> None:
        """Another size; the process is told by its signal."""
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.screen.resize(lines, columns)

    def type(self, text: str | bytes) -> None:
        """Keys."""
        data = text.encode() if isinstance(text, str) else text
        while data:
            data = data[os.write(self._fd, data[:4096]) :]
            self.read(0)

    def read(self, timeout_s: float) -> bool:
        """Take what is there; False when nothing came in time or it is over."""
        if not select.select([self._fd], [], [], timeout_s)[0]:
            return False
        try:
            data = os.read(self._fd, 65_536)
        except OSError:
            return False
        self.output += data
        with contextlib.suppress(Exception):  # the emulator does not know every private sequence
            self._stream.feed(_known(data))
        return bool(data)

    def until(self, seen: Callable[["ScreenTerminal"], bool], *, deadline_s: float = 30.0) -> float:
        """Read until it is so; when that was, on the monotonic clock. The deadline only ends a hung wait."""
        ends = time.monotonic() + deadline_s
        while not seen(self):
            left = ends - time.monotonic()
            if left <= 0:
                raise TimeoutError("never seen on the screen:\n" + "\n".join(self.rows()))
            self.read(min(left, 0.5))
        return time.monotonic()

    def shows(self, text: str, *, deadline_s: float = 30.0) -> float:
        """Until these words stand on one row of the screen."""
        return self.until(lambda terminal: any(text in row for row in terminal.rows()), deadline_s=deadline_s)

    def rows(self) -> list[str]:
        """The screen as text."""
        return [line.rstrip() for line in self.screen.display]

    def signal(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def wait(self, *, deadline_s: float = 30.0) -> int:
        """Until it has ended; its exit code, negative for a signal."""
        ends = time.monotonic() + deadline_s
        while self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
                while self.read(0.05):
                    pass
            elif time.monotonic() > ends:
                raise TimeoutError("it does not end:\n" + "\n".join(self.rows()))
            else:
                self.read(0.05)
        return self.code

    @property
    def descriptor(self) -> int:
        """The terminal, for its settings."""
        return self._fd

    def hang_up(self) -> None:
        """The connection is lost."""
        os.close(self._fd)
        self._fd = -1

    def wait_gone(self, *, deadline_s: float = 30.0) -> None:
        """Until a process that lost its terminal has ended."""
        ends = time.monotonic() + deadline_s
        while not os.waitpid(self.pid, os.WNOHANG)[0]:
            if time.monotonic() > ends:
                raise TimeoutError("it does not end")
            select.select([], [], [], 0.02)
        self.code = 0

    def close(self) -> None:
        """End it, whatever it does."""
        if self.code is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.code = -signal.SIGKILL
        if self._fd >= 0:
            os.close(self._fd)

    def __enter__(self) -> "ScreenTerminal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_MODES = tuple(b"\x1b[?%d%c" % (mode, end) for mode in (2026, 2048) for end in b"hl")
UNKNOWN = (b"\x1b[>1u", b"\x1b[>5u", b"\x1b[>9u", b"\x1b[<u", b"\x1b[?2026$p", b"\x1b[?2048$p", *_MODES)


def _known(data: bytes) -> bytes:
    """Without what the emulator would print instead of obeying: kitty keys and mode reports."""
    for code in UNKNOWN:
        data = data.replace(code, b"")
    return data
