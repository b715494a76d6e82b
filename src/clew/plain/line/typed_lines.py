"""What arrives from the keyboard or a pipe, as whole lines: edited here, or collected by the terminal."""

import codecs
from collections.abc import Callable, Iterator

from msgspec import Struct

from clew.plain.line.editor import Editor
from clew.plain.line.keys import Key, KeyDecoder
from clew.plain.line.screen import Screen
from clew.plain.line.search import LineSearch


class EnteredLine(Struct, frozen=True):
    """Enter was pressed."""

    text: str


class Bad(Struct, frozen=True):
    """Something that is no text arrived; it was dropped."""

    note: str


class End(Struct, frozen=True):
    """No more input: Ctrl-D on an empty line, or the end of the pipe."""

    final: bool = True
    """False for a key: more could follow."""


class Pressed(Struct, frozen=True):
    """A key that is not about the text alone."""

    name: str


Typed = EnteredLine | Bad | End | Pressed

MEANINGFUL = frozenset({"escape", "tab", "shift-tab", "alt-up", "search"})


class EditedInput:
    """Keys through the editor. The line on the screen follows every key."""

    def __init__(self, editor: Editor, screen: Screen, search: LineSearch, queued: Callable[[], bool]) -> None:
        self._editor = editor
        self._screen = screen
        self._search = search
        self._queued = queued
        """Whether something waits that could be taken back."""
        self._decoder = KeyDecoder()

    def feed(self, data: bytes) -> Iterator[Typed]:
        """The lines that were completed, each before the keys after it are looked at."""
        if not data:
            yield End()
        for key in self._decoder.feed(data):
            item = self._press(key)
            if item is not None:
                yield item

    @property
    def in_doubt(self) -> bool:
        """An Esc came; whether it is a key of its own shows when nothing follows."""
        return self._decoder.in_doubt

    def settle(self) -> Iterator[Typed]:
        """Nothing followed."""
        for key in self._decoder.settle():
            item = self._press(key)
            if item is not None:
                yield item

    def reset(self) -> None:
        """Forget half-read keys."""
        self._decoder.reset()

    def _press(self, key: Key) -> Typed | None:
        editor = self._editor
        if self._search.active and key.name not in ("clear-screen", "invalid"):
            self._search.press(key)
            return None
        if key.name in MEANINGFUL or (key.name == "up" and not editor.cells and self._queued()):
            return Pressed("alt-up" if key.name == "up" else key.name)
        if key.name == "ctrl-b" and not editor.cells:
            return Pressed("background")
        if key.name == "enter":
            self._screen.redraw_input()
            return EnteredLine(editor.take())
        if key.name == "ctrl-d" and not editor.cells:
            return End(final=False)
        if key.name == "invalid":
            return Bad("a key that is not UTF-8 was ignored; set the terminal to UTF-8")
        if key.name == "clear-screen":
            self._screen.clear()
        else:
            editor.press(key)
        return None


class LineInput:
    """Lines as a terminal without editing, a pipe or a file delivers them."""

    def __init__(self, *, interactive: bool) -> None:
        self._interactive = interactive
        self.in_doubt = False
        self._pending = b""
        self._ended = False
        self._begun = False

    def feed(self, data: bytes) -> Iterator[Typed]:
        """The lines that were completed; the last line of a pipe needs no newline."""
        if not data:
            rest, self._pending = self._pending, b""
            if rest:
                yield _decoded(rest)
            # A terminal's Ctrl-D may be followed by more; a second one in a row is a terminal that is gone.
            yield End(final=not self._interactive or self._ended)
            self._ended = True
            return
        self._ended = False
        if not self._begun and not self._interactive:
            data = data.removeprefix(codecs.BOM_UTF8)
        self._begun = True
        *lines, self._pending = (self._pending + data).split(b"\n")
        for line in lines:
            yield _decoded(line)

    def settle(self) -> Iterator[Typed]:
        """Lines are never in doubt."""
        yield from ()

    def reset(self) -> None:
        """Forget a half-read line of a terminal; a pipe loses nothing."""
        if self._interactive:
            self._pending = b""


def _decoded(line: bytes) -> Typed:
    try:
        return EnteredLine(line.removesuffix(b"\r").decode("utf-8"))
    except UnicodeDecodeError as error:
        byte = line[error.start]
        return Bad(f"a line is not UTF-8 (byte 0x{byte:02x} at position {error.start + 1}); it was not sent")
