"""The keys of vi, the usual ones: normal and insert mode over a buffer that somebody else draws."""

from typing import Literal, NamedTuple, Protocol

from clew.composing.vim_motions import MOTIONS, Place, TextLines, first_written, motion

VimMode = Literal["insert", "normal"]
MAX_COUNT = 10_000
_OPERATORS = ("d", "c", "y")
_INSERTING = ("i", "a", "I", "A", "o", "O", "s", "S", "C")


class Buffer(TextLines, Protocol):
    """What the keys act on."""

    @property
    def caret(self) -> Place:
        """Where typing goes."""
        ...

    def move(self, place: Place) -> None:
        """Put the caret there."""
        ...

    def replace(self, text: str, start: Place, end: Place) -> None:
        """Put text in the place of a range; the caret goes to its end."""
        ...

    def undo(self, *, redo: bool = False) -> None:
        """Take the last change back, or the last taking back."""
        ...


class _Change(NamedTuple):
    """What `.` does again."""

    times: int | None
    keys: str
    typed: str = ""


class Vim:
    """One for each prompt; begins in insert mode, as one expects of a prompt."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        self.mode: VimMode = "insert"
        self._count = ""
        self._operator = ""
        self._operator_count: int | None = None
        self._prefix = ""
        self._register = ""
        self._register_lines = False
        self._last: _Change | None = None
        self._begun: _Change | None = None
        self._begun_at: Place = (0, 0)

    @property
    def pending(self) -> str:
        """The keys of a command that is not whole yet."""
        count = "" if self._operator_count is None else str(self._operator_count)
        return f"{count}{self._operator}{self._count}{self._prefix}"

    def escape(self) -> bool:
        """Escape: to normal mode, or half a command forgotten. False: it means nothing here."""
        if self.mode == "normal":
            half = bool(self.pending)
            self._forget()
            return half
        self.mode = "normal"
        row, column = self._buffer.caret
        if self._begun is not None:
            # What was typed since is part of the change, for `.`.
            self._last = self._begun._replace(typed=_between(self._buffer, self._begun_at, (row, column)))
            self._begun = None
        self._buffer.move((row, max(0, column - 1)))
        return True

    def reset(self) -> None:
        """Something new is typed: insert mode."""
        self.mode = "insert"
        self._begun = None
        self._forget()

    def press(self, key: str) -> bool:
        """A printable key. False in insert mode, where it is text; in normal mode every key is taken."""
        if self.mode == "insert":
            return False
        if self._prefix:
            key, self._prefix = self._prefix + key, ""
        elif key == "g":
            self._prefix = key
            return True
        elif key.isdecimal() and key.isascii() and (key != "0" or self._count):
            self._count = str(min(int(self._count + key), MAX_COUNT))
            return True
        count = int(self._count) if self._count else None
        self._count = ""
        if self._operator:
            self._operate(key, count)
        elif key in _OPERATORS:
            self._operator, self._operator_count = key, count
        else:
            self._command(key, count)
        return True

    def _forget(self) -> None:
        self._count = self._operator = self._prefix = ""
        self._operator_count = None

    def _operate(self, key: str, count: int | None) -> None:
        operator, before = self._operator, self._operator_count
        self._forget()
        if count is not None or before is not None:
            count = (count or 1) * (before or 1)
        if key == operator or key in MOTIONS:
            self._change(operator + key, count)

    def _command(self, key: str, count: int | None) -> None:
        buffer = self._buffer
        if key in MOTIONS:
            self._rest_at(motion(buffer, buffer.caret, key, count).to)
        elif key == "u":
            buffer.undo()
            self._rest_at(buffer.caret)
        elif key == "." and self._last is not None:
            self._again(self._last, count)
        elif key in _INSERTING or key in ("x", "X", "D", "p", "P", "Y", "J"):
            self._change(key, count)

    def redo(self) -> None:
        """Ctrl-R of vi."""
        self._buffer.undo(redo=True)
        self._rest_at(self._buffer.caret)

    def _again(self, last: _Change, count: int | None) -> None:
        self._change(last.keys, last.times if count is None else count)
        if self.mode == "insert":
            caret = self._buffer.caret
            self._buffer.replace(last.typed, caret, caret)
            self._begun = None
            self.mode = "normal"
            row, column = self._buffer.caret
            self._buffer.move((row, max(0, column - 1)))
            self._last = last

    def _change(self, keys: str, count: int | None) -> None:
        """Do a command that changes the text, and remember it for `.`."""
        buffer, (row, column) = self._buffer, self._buffer.caret
        end = len(buffer.line(row))
        change = _Change(count, keys)
        if keys[0] in _OPERATORS:
            self._apply(keys[0], keys[1:], count)
        elif keys in ("x", "s"):
            self._take((row, column), (row, min(end, column + (count or 1))))
        elif keys == "X":
            self._take((row, max(0, column - (count or 1))), (row, column))
        elif keys in ("D", "C"):
            self._take((row, column), (row, end))
        elif keys == "S":
            self._apply("c", "c", count)
        elif keys == "Y":
            self._apply("y", "y", count)
        elif keys in ("p", "P"):
            self._put(count or 1, after=keys == "p")
        elif keys == "J":
            self._join(row)
        else:
            self._place_for_insert(keys, row, column)
        if keys[0] != "y" and keys != "Y":
            self._last = change
        if keys in _INSERTING or keys[0] == "c":
            self.mode = "insert"
            self._begun, self._begun_at = change, buffer.caret
        else:
            self._rest_at(buffer.caret)

    def _place_for_insert(self, key: str, row: int, column: int) -> None:
        buffer = self._buffer
        end = len(buffer.line(row))
        match key:
            case "a":
                buffer.move((row, min(end, column + 1)))
            case "I":
                start = first_written(buffer, row)
                buffer.move(start if buffer.line(row).strip() else (row, end))
            case "A":
                buffer.move((row, end))
            case "o":
                buffer.replace("\n", (row, end), (row, end))
            case "O":
                buffer.replace("\n", (row, 0), (row, 0))
                buffer.move((row, 0))
            case _:
                pass

    def _apply(self, operator: str, key: str, count: int | None) -> None:
        buffer, caret = self._buffer, self._buffer.caret
        if key == operator:
            self._lines(operator, caret[0], min(buffer.count - 1, caret[0] + (count or 1) - 1))
            return
        if operator == "c" and key == "w" and buffer.line(caret[0])[caret[1] : caret[1] + 1].strip():
            # As vi has it: `cw` on a word leaves the blank behind it alone.
            key = "e"
            if _one_character_word(buffer, caret) and (count or 1) == 1:
                self._take(caret, (caret[0], caret[1] + 1), yank=False)
                return
        to, kind = motion(buffer, caret, key, count)
        if kind == "lines":
            self._lines(operator, *sorted((caret[0], to[0])))
            return
        start, end = sorted((caret, to))
        if key == "w" and end[0] > start[0] and not buffer.line(end[0])[: end[1]].strip():
            # The last word of a line: its line end stays.
            end = (end[0] - 1, len(buffer.line(end[0] - 1)))
        elif kind == "inclusive":
            end = (end[0], min(len(buffer.line(end[0])), end[1] + 1))
        self._take(start, end, yank=operator == "y")

    def _take(self, start: Place, end: Place, *, yank: bool = False) -> None:
        """Into the register; out of the text, unless it is only copied."""
        if start == end:
            return
        self._register, self._register_lines = _between(self._buffer, start, end), False
        if yank:
            self._buffer.move(start)
        else:
            self._buffer.replace("", start, end)

    def _lines(self, operator: str, first: int, last: int) -> None:
        buffer = self._buffer
        self._register = _between(buffer, (first, 0), (last, len(buffer.line(last))))
        self._register_lines = True
        end = (last, len(buffer.line(last)))
        if operator == "y":
            buffer.move((first, min(buffer.caret[1], len(buffer.line(first)))))
        elif operator == "c":
            buffer.replace("", (first, 0), end)
        elif last + 1 < buffer.count:
            buffer.replace("", (first, 0), (last + 1, 0))
        elif first:
            buffer.replace("", (first - 1, len(buffer.line(first - 1))), end)
            buffer.move(first_written(buffer, first - 1))
        else:
            buffer.replace("", (0, 0), end)

    def _put(self, count: int, *, after: bool) -> None:
        if not self._register:
            return
        buffer, (row, column) = self._buffer, self._buffer.caret
        end = len(buffer.line(row))
        if self._register_lines:
            text = "\n".join([self._register] * count)
            if after:
                buffer.replace("\n" + text, (row, end), (row, end))
            else:
                buffer.replace(text + "\n", (row, 0), (row, 0))
            buffer.move(first_written(buffer, row + 1 if after else row))
        else:
            at = (row, min(end, column + 1) if after else column)
            buffer.replace(self._register * count, at, at)
            row, column = buffer.caret
            buffer.move((row, max(0, column - 1)))

    def _join(self, row: int) -> None:
        buffer = self._buffer
        if row + 1 < buffer.count:
            below = buffer.line(row + 1)
            end = len(buffer.line(row))
            blank = " " if buffer.line(row) and below.strip() else ""
            buffer.replace(blank, (row, end), (row + 1, len(below) - len(below.lstrip())))
            buffer.move((row, end))

    def _rest_at(self, place: Place) -> None:
        """In normal mode the caret stands on a character, not behind the last one."""
        row, column = place
        self._buffer.move((row, max(0, min(column, len(self._buffer.line(row)) - 1))))


def _between(lines: TextLines, start: Place, end: Place) -> str:
    if end < start:
        return ""
    if start[0] == end[0]:
        return lines.line(start[0])[start[1] : end[1]]
    middle = (lines.line(row) for row in range(start[0] + 1, end[0]))
    return "\n".join((lines.line(start[0])[start[1] :], *middle, lines.line(end[0])[: end[1]]))


def _one_character_word(lines: TextLines, caret: Place) -> bool:
    """The caret stands on the last character of a word, where `e` would go on to the next word."""
    row, column = caret
    after = lines.line(row)[column + 1 : column + 2]
    char = lines.line(row)[column]
    if not after.strip():
        return True
    return (after.isalnum() or after == "_") != (char.isalnum() or char == "_")
