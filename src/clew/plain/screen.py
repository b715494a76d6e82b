"""Output in whole lines around the one line that is being typed. The only place of this front end that writes."""

from clew.plain.clipboard import clipboard_sequence
from clew.plain.editor import Editor, Layout
from clew.plain.terminal import OutputGone, Terminal
from clew.plain.wrap import wrap
from clew.system.terminal_text import display_width, sanitize

STYLES = {"dim": "2", "bold": "1", "warning": "33", "error": "31"}


class Screen:
    """Every text is sanitised here or came out of a StreamSanitizer; styles are added afterwards, never taken over."""

    def __init__(self, terminal: Terminal, editor: Editor) -> None:
        self._terminal = terminal
        self._editor = editor
        self._prompt = ""
        self._open = False
        self._drawn: Layout | None = None
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
        code = STYLES.get(style, "") if self._terminal.colour else ""
        if code:
            safe = "\n".join(f"\x1b[{code}m{part}\x1b[0m" if part else part for part in safe.split("\n"))
        self._put(self._break() + safe + "\n")

    def stream(self, safe: str) -> None:
        """Show more of a text that grows. It must come out of a StreamSanitizer."""
        if safe:
            self._put(safe)

    def finish(self) -> None:
        """End a line that was streamed."""
        self._put(self._break())

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
        self._open = False
        if self._drawn is not None:
            below = len(self._drawn.rows) - 1 - self._drawn.cursor_row
            self._write((f"\x1b[{below}B" if below else "") + "\n")
            self._drawn = None
        elif echo is not None:
            self._write(sanitize(echo) + "\n")
        self._at_start = True
        self._release()

    def hide_input(self) -> None:
        """Take the line off the screen, as if it had never been asked for."""
        if self._open:
            self._erase()
            self._open = False
            self._release()

    def redraw_input(self) -> None:
        """Bring the line on the screen up to date."""
        if not self._open:
            return
        if self._terminal.editing:
            self._draw()
        elif self._at_start:
            self._write(self._prompt)
            self._at_start = False

    def clear(self) -> None:
        """Start at the top of an empty screen."""
        if self._terminal.editing:
            self._drawn = None
            self._at_start = True
            self._write("\x1b[H\x1b[2J")

    def copy(self, text: str) -> bool:
        """Hand text to the clipboard; False where that is not possible."""
        sequence = clipboard_sequence(text) if self._terminal.editing else ""
        self._write(sequence)
        return bool(sequence)

    def reset(self) -> None:
        """After a suspension: what was drawn is somewhere above, begin afresh."""
        self._drawn = None
        self._at_start = True

    def _break(self) -> str:
        """What ends a started line, held back or on the screen."""
        started = bool(self._held) or (not self._at_start and not self._open)
        return "\n" if started else ""

    def _put(self, text: str) -> None:
        """Write, in place of the typed line if there is one; a started line then waits until it is whole."""
        if not text:
            return
        if not self._open:
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
            up = f"\x1b[{self._drawn.cursor_row}A" if self._drawn.cursor_row else ""
            self._write(f"{up}\r\x1b[J")
            self._drawn = None
        elif not self._at_start:
            self._write("\n")
        self._at_start = True

    def _draw(self) -> None:
        """Put the typed line at the cursor. Typing at its end writes only what is new."""
        old, new = self._drawn, self._editor.layout(self._prompt, self.columns)
        if old == new:
            return
        self._drawn = new
        if old is not None and _only_grew(old, new):
            self._write(new.rows[-1][len(old.rows[-1]) :])
            return
        up = f"\x1b[{old.cursor_row}A" if old is not None and old.cursor_row else ""
        text = f"{up}\r\x1b[J" + "\n".join(new.rows)
        if not _at_end(new):
            back = len(new.rows) - 1 - new.cursor_row
            text += (f"\x1b[{back}A" if back else "") + "\r"
            text += f"\x1b[{new.cursor_column}C" if new.cursor_column else ""
        self._write(text)

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
