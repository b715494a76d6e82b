"""The terminal, pipe or file this process was started on, behind a small port that tests can play."""

import asyncio
import errno
import os
import select
import stat
import termios
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol, TextIO

CHUNK_BYTES = 65_536
DEFAULT_COLUMNS = 80
TELL_MORE = "\x1b[?2004h\x1b[?1004h"
"""Marks around what is pasted, and reports of the focus."""
TELL_NO_MORE = "\x1b[?1004l\x1b[?2004l"

PLAIN_CHARACTERS = str.maketrans(
    {"…": "...", "·": "-", "−": "-", "•": "-", "│": "|", "─": "-", "┼": "+", "⏎": "$", "’": "'", "“": '"', "”": '"'}
)

OnBytes = Callable[[bytes], None]


class OutputGone(Exception):
    """Nobody reads what we write any more: the pipe was closed or the terminal hung up."""


class Terminal(Protocol):
    """Bytes in, text out, and what kind of place it is."""

    interactive: bool
    """A person types here."""
    editing: bool
    """The cursor can be moved, so the line can be edited and redrawn."""
    colour: bool

    def columns(self) -> int:
        """Width now; 0 when the output is not a terminal."""
        ...

    def write(self, text: str) -> None:
        """Show text that is safe to show. Raises OutputGone."""
        ...

    def begin(self, on_bytes: OnBytes) -> None:
        """Start to read; an empty chunk is the end of the input."""
        ...

    def end(self) -> None:
        """Stop reading and leave the terminal as it was found. Safe to call twice."""
        ...

    def keys(self, *, raw: bool) -> None:
        """Raw: every key arrives at once, unseen. Otherwise the terminal collects and shows whole lines."""
        ...

    def discard_input(self) -> None:
        """Forget what was typed and not read yet."""
        ...

    def hold(self, *, paused: bool) -> None:
        """Stop or go on reading a pipe whose lines cannot be used yet."""
        ...


class StdTerminal:
    """The Terminal of a real process."""

    def __init__(self, stdin: TextIO, stdout: TextIO, env: Mapping[str, str]) -> None:
        self._in, self._out = stdin.fileno(), stdout.fileno()
        self._encoding = stdout.encoding or "utf-8"
        self._env = env
        self.interactive = os.isatty(self._in)
        shown = os.isatty(self._out)
        capable = env.get("TERM", "") not in ("", "dumb", "unknown")
        self.editing = self.interactive and shown and capable
        self.colour = shown and capable and not env.get("NO_COLOR")
        self._shown = shown
        self._found: list[Any] | None = None
        self._raw = False
        self._on_bytes: OnBytes | None = None
        self._reading: asyncio.Task[None] | None = None
        self._watching = False

    def columns(self) -> int:
        """Width now; 0 when the output is not a terminal."""
        if not self._shown:
            return 0
        try:
            return os.get_terminal_size(self._out).columns or DEFAULT_COLUMNS
        except OSError:
            return DEFAULT_COLUMNS

    def write(self, text: str) -> None:
        """Everything or OutputGone; a slow reader is waited for."""
        data = memoryview(self._encoded(text))
        while data:
            try:
                data = data[os.write(self._out, data) :]
            except BlockingIOError:
                select.select([], [self._out], [])
            except OSError as error:
                if error.errno in (errno.EPIPE, errno.EIO, errno.EBADF):
                    raise OutputGone from error
                raise

    def _encoded(self, text: str) -> bytes:
        """Where the terminal has no such characters, our own marks as those that every terminal has."""
        try:
            return text.encode(self._encoding)
        except UnicodeEncodeError:
            return text.translate(PLAIN_CHARACTERS).encode(self._encoding, "replace")

    def begin(self, on_bytes: OnBytes) -> None:
        """Watch the descriptor; a regular file or a device cannot be watched and is read in a thread."""
        self._on_bytes = on_bytes
        if self.interactive:
            self._found = termios.tcgetattr(self._in)
        self.keys(raw=self.editing)
        mode = os.fstat(self._in).st_mode
        if self.interactive or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            self.hold(paused=False)
        else:
            self._reading = asyncio.get_running_loop().create_task(self._read_file())

    def end(self) -> None:
        """Stop reading and leave the terminal as it was found."""
        self.hold(paused=True)
        if self._reading is not None:
            self._reading.cancel()
        if self._found is not None:
            self.give_back()
            self._found = None
        self._on_bytes = None

    def keys(self, *, raw: bool) -> None:
        """Signals stay on in both ways: Ctrl-C and Ctrl-Z work whatever the program does. What was written before the
        key is still shown (tests/e2e/test_plain.py)."""
        if self._found is None:
            return
        mode = [*self._found]
        mode[3] |= termios.NOFLSH
        mode[6] = [*mode[6]]
        if raw:
            mode[3] &= ~(termios.ICANON | termios.ECHO | termios.IEXTEN)
            mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
        self._set(mode, raw=raw)

    def give_back(self) -> None:
        """As it was found: for the end, and for the shell while we are suspended."""
        if self._found is not None:
            self._set(self._found, raw=False)

    def _set(self, mode: list[Any], *, raw: bool) -> None:
        # Errors mean that the terminal hung up: there is no state left to keep.
        with suppress(termios.error, OutputGone):
            termios.tcsetattr(self._in, termios.TCSANOW, mode)
            if self.editing and raw != self._raw:
                self.write(TELL_MORE if raw else TELL_NO_MORE)
        self._raw = raw

    def discard_input(self) -> None:
        """Forget what was typed and not read yet; a pipe's lines are no keys and stay."""
        if self._found is None:
            return
        with suppress(termios.error):
            termios.tcflush(self._in, termios.TCIFLUSH)

    def hold(self, *, paused: bool) -> None:
        """Stop or go on watching."""
        if self._reading is not None or self._watching is not paused:
            return
        loop = asyncio.get_running_loop()
        if paused:
            loop.remove_reader(self._in)
        else:
            loop.add_reader(self._in, self._readable)
        self._watching = not paused

    def _readable(self) -> None:
        try:
            data = os.read(self._in, CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data and not (self.interactive and not self._raw):
            # Ctrl-D on a terminal that collects lines ends one read, not the terminal.
            self.hold(paused=True)
        if self._on_bytes is not None:
            self._on_bytes(data)

    async def _read_file(self) -> None:
        data = b"?"
        while data and self._on_bytes is not None:
            data = await asyncio.to_thread(os.read, self._in, CHUNK_BYTES)
            if self._on_bytes is not None:
                self._on_bytes(data)
