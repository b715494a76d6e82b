"""Textual's terminal driver as we need it: a slow or lost terminal holds nothing up, and at rest nothing wakes.

Bytes of the terminal on their way to Textual: pastes in one piece, Alt with any key at once, no byte that ends us.

Textual looks at a paste character by character (five seconds for five megabytes), takes Alt-Enter of most terminals for
Enter, and stops with an error at a byte that is not UTF-8.
"""

import os
import re
import selectors
import sys
import threading
from codecs import getincrementaldecoder
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from textual import constants, events
from textual._time import get_time
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Resize
from textual.geometry import Size
from textual.message import Message

from clew.tui.prompt.prompt import void

PASTE_START = "\x1b[200~"
PASTE_END = "\x1b[201~"

_ALT_NAMES = {"\r": "alt+enter", "\n": "alt+enter", "\x7f": "alt+backspace", "\x08": "alt+backspace", "\t": "alt+tab"}
_ALT_SIGNS = {"<": "less_than_sign", ">": "greater_than_sign", "_": "underscore", ".": "full_stop", ",": "comma"}


_CUT = re.compile(r"\x1b(?:\[[0-?]*[ -/]*)?\Z")
"""A sequence whose end was not read yet."""
CUT_S = 2.0
"""How long the rest of a sequence is waited for. Only a lone Escape is also a key, and is waited for much shorter."""


class InputParser(XTermParser):
    """Textual's parser with two shortcuts before it, and what a slow line cut in the middle in one piece.

    Textual takes the two halves for an Escape and letters, and never ends a paste whose marks were cut."""

    def __init__(self) -> None:
        super().__init__(debug=False)
        self._pasted: list[str] | None = None
        self._cut = ""
        """The start of a sequence, held back."""
        self._cut_until_s = 0.0

    @property
    def is_waiting(self) -> bool:
        """Half a sequence was read: time alone may end it."""
        return bool(self._cut) or self._timeout_time is not None

    def tick(self) -> Iterable[Message]:
        """The events that are complete because nothing came after them."""
        if self._cut and get_time() >= self._cut_until_s:
            cut, self._cut = self._cut, ""
            yield from super().feed(cut)
            if cut == "\x1b":
                self._timeout_time = 0.0  # it was waited for already
        yield from super().tick()

    def feed(self, data: str) -> Iterable[Message]:
        """The events that are complete so far. Empty data is the end of the input."""
        ends, data, self._cut = not data, self._cut + data, ""
        while data:
            if self._pasted is None:
                keys, mark, data = data.partition(PASTE_START)
                if not (mark or ends) and (found := _CUT.search(keys)):
                    keys, self._cut = keys[: found.start()], found[0]
                    self._cut_until_s = get_time() + (constants.ESCAPE_DELAY if self._cut == "\x1b" else CUT_S)
                if keys:
                    yield from super().feed(keys)
                if mark:
                    self._pasted = []
            else:
                data = self._take(data)
                if self._pasted_whole:
                    yield events.Paste("".join(self._pasted).replace("\x00", ""))
                    self._pasted = None
        if ends:
            yield from super().feed("")

    def _take(self, data: str) -> str:
        """Move pasted text over; what is left after its end."""
        assert self._pasted is not None
        # The mark of the end may be cut by the border of two reads.
        tail = self._pasted.pop() if self._pasted and len(self._pasted[-1]) < len(PASTE_END) else ""
        body, mark, rest = (tail + data).partition(PASTE_END)
        self._pasted_whole = bool(mark)
        if mark:
            self._pasted.append(body)
            return rest
        keep = len(PASTE_END) - 1
        self._pasted += (body[:-keep], body[-keep:])
        return ""

    _pasted_whole = False

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        """Escape and one more character is Alt with that key, told at once instead of after a pause."""
        key = _alt_key(sequence)
        if key:
            return iter((events.Key(key, None),))
        return super()._sequence_to_key_events(sequence, alt)


def _alt_key(sequence: str) -> str:
    if len(sequence) != 2 or sequence[0] != "\x1b":
        return ""
    char = sequence[1]
    if char in _ALT_NAMES:
        return _ALT_NAMES[char]
    if char in _ALT_SIGNS:
        return f"alt+{_ALT_SIGNS[char]}"
    # Capitals begin longer sequences: ESC O and ESC P belong to terminals.
    return f"alt+{char}" if char.isascii() and (char.islower() or char.isdigit()) else ""


READ_BYTES = 65_536
POLL_S = 0.05
"""While an Escape may still be the start of a sequence, and while we end."""
DRAIN_S = 2.0
"""How long a terminal may take for the last codes before it is left as it is."""


class TerminalWriter(threading.Thread):
    """Writes in the order given, from a thread of its own. Nobody waits for it."""

    def __init__(self, descriptor: int, *, on_gone: Callable[[], None]) -> None:
        super().__init__(daemon=True, name="terminal-output")
        self._descriptor = descriptor
        self._on_gone = on_gone
        self._texts: deque[str] = deque()
        self._ready = threading.Condition()
        self._ended = False
        self.gone = False
        """Nobody reads what we write any more."""
        self.behind = 0
        """Characters that the terminal has not taken yet."""

    def write(self, text: str) -> None:
        """Add to what is written; nothing once the terminal is gone."""
        if self.gone or not text:
            return
        with self._ready:
            self._texts.append(text)
            self.behind += len(text)
            self._ready.notify()

    def end(self) -> None:
        """Write the rest, within a limit."""
        with self._ready:
            self._ended = True
            self._ready.notify()
        if self.is_alive():
            self.join(DRAIN_S)

    def run(self) -> None:
        """Until it is ended and everything is written, or the terminal is gone."""
        while not self.gone:
            with self._ready:
                while not self._texts and not self._ended:
                    self._ready.wait()
                text = "".join(self._texts)
                self._texts.clear()
            if not text:
                return
            try:
                self._put(text.encode("utf-8", "replace"))
            except OSError:
                self.gone = True
                self._on_gone()
            self.behind = max(self.behind - len(text), 0)

    def _put(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]


class TerminalDriver(LinuxDriver):
    """Draws on stdout, also when stderr goes to a file, and reads through our parser. Give it to the app as
    `driver_class`."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        # Textual leaves the type of its app open.
        super().__init__(app, debug=debug, mouse=mouse, size=size)  # pyright: ignore[reportUnknownMemberType]
        if sys.__stdout__ is not None:
            self._file = sys.__stdout__
        self._woken, self._wake = os.pipe()
        self._writer: TerminalWriter | None = None
        self._given_back = False
        self.on_gone: Callable[[], None] = lambda: void(app.call_later(app.exit))
        """Called from a thread when the terminal is no longer there."""

    @property
    def behind(self) -> int:
        """Characters that the terminal has not taken yet."""
        return self._writer.behind if self._writer is not None else 0

    def write(self, data: str) -> None:
        """Never waits."""
        if self._given_back:
            return
        if self._writer is None:
            self._writer = TerminalWriter(self._file.fileno(), on_gone=lambda: self.on_gone())
            self._writer.start()
        self._writer.write(data)

    def resized(self, event: Resize) -> Resize:
        """The event with the size the terminal has now. Signals that come in a row interrupt each other's handlers, so
        the last one told need not be the last one that was."""
        width, height = self._get_terminal_size()
        return event if event.size == (width, height) else Resize(Size(width, height), Size(width, height))

    def use_mouse(self, *, wanted: bool) -> None:
        """Take the mouse, or leave it to the terminal."""
        if wanted is self._mouse:
            return
        if wanted:
            self._mouse = True
            self._enable_mouse_support()
        else:
            self._disable_mouse_support()
            self._mouse = False

    def start_application_mode(self) -> None:
        """The terminal is ours, at first and after a suspension."""
        self._given_back = False
        super().start_application_mode()

    def close(self) -> None:
        """Everything is written, or the terminal is gone; from now on it is somebody else's."""
        self._given_back = True
        if self._writer is not None:
            self._writer.end()
            self._writer = None
        super().close()

    def disable_input(self) -> None:
        """Wake the thread that reads, so that it sees its end."""
        with suppress(OSError):
            os.write(self._wake, b"x")
        super().disable_input()

    def run_input_thread(self) -> None:
        """Read until the app ends; the events go to it in order. At rest it sleeps until a key comes."""
        parser = InputParser()
        decoder = getincrementaldecoder("utf-8")("replace")
        with selectors.DefaultSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            ending = False
            while not self.exit_event.is_set():
                ready = selector.select(POLL_S if parser.is_waiting or ending else None)
                if any(key.fd == self._woken for key, _ in ready):
                    os.read(self._woken, 1)
                    selector.unregister(self._woken)
                    ending = True
                elif ready:
                    data = self._read()
                    if not data:
                        return
                    if text := decoder.decode(data):  # half a character is none yet
                        self._pass_on(parser.feed(text))
                self._pass_on(parser.tick())

    def _read(self) -> bytes:
        """What was typed; nothing when the terminal is gone."""
        try:
            data = os.read(self.fileno, READ_BYTES)
        except OSError:
            data = b""
        if not data:
            self.on_gone()
        return data

    def _pass_on(self, found: Iterable[Message]) -> None:
        for message in found:
            self.process_message(message)
