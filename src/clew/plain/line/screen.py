"""Output in whole lines above the rows that change: unfinished words, the sign of life, the line that is typed.

The only place of this front end that writes.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from clew.plain.line.editor import Editor, Layout
from clew.plain.line.terminal import OutputGone, Terminal
from clew.plain.line.wrap import wrap
from clew.presentation.rows.spans import Row, clipped, plain
from clew.system.clipboard import Copy, copy_text
from clew.text.terminal_text import display_width, sanitize

STYLES = {
    **{
        "dim": "2",
        "bold": "1",
        "heading": "1",
        "heading-1": "1;4",
        "heading-2": "1",
        "heading-3": "1;3",
        "italic": "3",
        "warning": "33",
        "error": "31",
        "accent": "36",
    },
    **{"code": "36", "inline-code": "36", "link": "4", "quote": "2", "added": "32", "removed": "31"},
    **{"added-word": "1;32", "removed-word": "1;31", "strike": "9", "code-comment": "2", "code-keyword": "35"},
    **{"code-string": "32", "code-name": "34", "code-number": "33"},
}


class Region(Struct, frozen=True):
    """What is drawn under the output and is drawn over again."""

    head: tuple[str, ...] = ()
    """Rows that are not typed, without styles."""
    line: Layout | None = None

    @property
    def rows(self) -> tuple[str, ...]:
        """All rows from the top."""
        return self.head + (self.line.rows if self.line is not None else ())

    @property
    def cursor(self) -> tuple[int, int]:
        """Where the cursor stands."""
        if self.line is not None:
            return len(self.head) + self.line.cursor_row, self.line.cursor_column
        return max(len(self.head) - 1, 0), display_width(self.head[-1]) if self.head else 0


class Screen:
    """Every text is sanitised here, or is a row or out of a StreamSanitizer; styles are added afterwards, never taken
    over."""

    def __init__(
        self, terminal: Terminal, editor: Editor, *, env: Mapping[str, str] | None = None, home: Path | None = None
    ) -> None:
        self._terminal = terminal
        self._env = env or {}
        self._home = home
        self._editor = editor
        self._prompt = ""
        self._open = False
        self._tail: tuple[Row, ...] = ()
        self._status: Row = ()
        self._drawn: Region | None = None
        self._at_start = True
        self._held = ""
        self.gone = False
        """The reader of our output went away; nothing is written any more."""

    @property
    def columns(self) -> int:
        """Width of the screen; 0 without one."""
        return self._terminal.columns()

    @property
    def input_open(self) -> bool:
        """A line is being asked for."""
        return self._open

    def text(self, text: str) -> None:
        """Show somebody's words as they are, on lines of their own."""
        self._put(self._break() + sanitize(text) + "\n")

    def line(self, text: str, style: str = "", *, hang: str = "  ") -> None:
        """Show a line of ours; what does not fit goes on behind `hang`."""
        safe = wrap(sanitize(text), self.columns, hang)
        self._put(self._break() + "\n".join(self._painted(part, style) for part in safe.split("\n")) + "\n")

    def rows(self, rows: Sequence[Row]) -> None:
        """Show rows that were made for this width; their text is safe."""
        if rows:
            shown = ("".join(self._painted(span.text, span.style) for span in row).rstrip(" ") for row in rows)
            self._put(self._break() + "\n".join(shown) + "\n")

    def stream(self, safe: str) -> None:
        """Show more of a row that grows. It must come out of a row or a StreamSanitizer."""
        if safe:
            self._put(safe)

    def finish(self) -> None:
        """End a line that was streamed."""
        self._put(self._break())

    def show_tail(self, rows: Sequence[Row]) -> None:
        """Words that are not final yet; drawn by `redraw_input`."""
        self._tail = tuple(rows) if self._terminal.editing else ()

    def show_status(self, row: Row) -> None:
        """The sign of life; drawn by `redraw_input`."""
        self._status = row if self._terminal.editing else ()

    def open_input(self, prompt: str) -> None:
        """Ask for a line from now on. It is drawn by `redraw_input`, when nothing else is about to be shown."""
        if self._open and prompt == self._prompt:
            return
        if self._open:
            self._erase()
        else:
            self._put(self._break())
        self._prompt = prompt
        self._open = True

    def close_input(self, echo: str | None = None) -> None:
        """The line is done and stays on the screen. `echo`: its text, where no terminal has shown it."""
        if not self._open:
            return
        if echo is not None:
            self.redraw_input()
        if self._drawn is not None and self._drawn.line is not None:
            self._draw(Region(line=self._drawn.line))
            below = len(self._drawn.rows) - 1 - self._drawn.cursor[0]
            self._write((f"\x1b[{below}B" if below else "") + "\n")
            self._drawn = None
        elif self._drawn is not None:
            self._erase()
        elif echo is not None:
            self._write(sanitize(echo) + "\n")
        self._open = False
        self._at_start = True
        self._release()

    def hide_input(self) -> None:
        """Take the line off the screen, as if it had never been asked for."""
        if self._open:
            self._erase()
            self._open = False
            self._release()

    def redraw_input(self) -> None:
        """Bring what is drawn under the output up to date."""
        if self._terminal.editing:
            self._draw(self._wanted())
        elif self._open and self._at_start:
            self._write(self._prompt)
            self._at_start = False

    def clear(self) -> None:
        """Start at the top of an empty screen."""
        if self._terminal.editing:
            self._drawn = None
            self._at_start = True
            self._write("\x1b[H\x1b[2J")

    @property
    def has_line(self) -> bool:
        """A line is edited here: a person sits at a terminal."""
        return self._terminal.editing

    def copy(self, text: str, send: Callable[[str], None]) -> Copy:
        """Hand text to whoever takes it here; `send` gets the codes for the terminal. It waits for programs: call it
        from a thread."""
        return copy_text(text, self._env, home=self._home, send=send)

    def send_codes(self, codes: str) -> None:
        """Codes of our own that show nothing and move nothing."""
        self._write(codes)

    def reset(self) -> None:
        """After a suspension: what was drawn is somewhere above, begin afresh."""
        self._drawn = None
        self._at_start = True

    def end(self) -> None:
        """Leave nothing behind that would be drawn over."""
        self._tail, self._status = (), ()
        self.hide_input()
        if self._drawn is not None:
            self._erase()
        self.finish()

    def _wanted(self) -> Region:
        room = max(self.columns - 1, 4)
        head = tuple(plain(clipped(row, room)) for row in (*self._tail, *([self._status] if self._status else [])))
        return Region(head, self._editor.layout(self._prompt, self.columns) if self._open else None)

    def _break(self) -> str:
        """What ends a started line, held back or on the screen."""
        started = bool(self._held) or (not self._at_start and not self._open)
        return "\n" if started else ""

    def _put(self, text: str) -> None:
        """Write above what is drawn; beside a line that is typed a started row then waits until it is whole."""
        if not text:
            return
        if not self._open:
            if self._drawn is not None:
                self._erase()
            self._write(text)
            self._at_start = text.endswith("\n")
            return
        whole, newline, rest = (self._held + text).rpartition("\n")
        self._held = rest
        if newline:
            self._erase()
            self._write(whole + "\n")

    def _release(self) -> None:
        held, self._held = self._held, ""
        self._put(held)

    def _erase(self) -> None:
        if self._drawn is not None:
            self._write(self._to_top(self._drawn) + "\x1b[J")
            self._drawn = None
        elif not self._at_start:
            self._write("\n")
        self._at_start = True

    def _to_top(self, region: Region) -> str:
        """To the first column of its first row. On a screen that became narrower its rows take more room."""
        row, column = region.cursor
        columns = max(self.columns, 1)
        up = sum(max(display_width(text) - 1, 0) // columns + 1 for text in region.rows[:row]) + column // columns
        return (f"\x1b[{up}A" if up else "") + "\r"

    def _draw(self, new: Region) -> None:
        """Put the region at the cursor. Typing at the end of the line writes only what is new."""
        old = self._drawn
        if old == new or (old is None and not new.rows):
            return
        self._drawn = new if new.rows else None
        if old is not None and old.line and new.line and old.head == new.head and _only_grew(old.line, new.line):
            self._write(new.line.rows[-1][len(old.line.rows[-1]) :])
            return
        text = (self._to_top(old) if old is not None else "\r") + "\x1b[J"
        text += "\n".join((*(self._painted(row, "dim") for row in new.head), *(new.line.rows if new.line else ())))
        if new.line is not None and not _at_end(new.line):
            back = len(new.line.rows) - 1 - new.line.cursor_row
            text += (f"\x1b[{back}A" if back else "") + "\r"
            text += f"\x1b[{new.line.cursor_column}C" if new.line.cursor_column else ""
        self._write(text)

    def _painted(self, text: str, style: str) -> str:
        codes = ";".join(STYLES[name] for name in style.split() if name in STYLES) if self._terminal.colour else ""
        return f"\x1b[{codes}m{text}\x1b[0m" if codes and text else text

    def _write(self, text: str) -> None:
        if self.gone or not text:
            return
        try:
            self._terminal.write(text)
        except OutputGone:
            self.gone = True


def _only_grew(old: Layout, new: Layout) -> bool:
    """Both end at the cursor and the new rows continue the old ones on the same row."""
    return (
        len(old.rows) == len(new.rows)
        and old.rows[:-1] == new.rows[:-1]
        and new.rows[-1].startswith(old.rows[-1])
        and _at_end(old)
        and _at_end(new)
    )


def _at_end(layout: Layout) -> bool:
    at_last = layout.cursor_row == len(layout.rows) - 1
    return at_last and layout.cursor_column == display_width(layout.rows[-1])
