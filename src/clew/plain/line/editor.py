"""The line being typed: cells, cursor, history, and how they lie on the screen. Pure; writes nothing itself."""

from collections.abc import Callable

from msgspec import Struct

from clew.composing.pasted import Pastes, as_pasted, is_long
from clew.plain.line.keys import Key
from clew.text.terminal_text import display_width, sanitize

LONG_ITEM_CHARS = 2000
"""A longer item of the history comes back as one cell, so that every key stays quick."""


class Layout(Struct, frozen=True):
    """Rows to draw, and where the cursor stands in them."""

    rows: tuple[str, ...]
    cursor_row: int
    cursor_column: int


class Editor:
    """Readline's common keys on a list of cells. A cell is one character, or one long paste shown as a note."""

    def __init__(self, history: Callable[[], list[str]], pastes: Pastes | None = None) -> None:
        self._history = history
        self.pastes = pastes or Pastes()
        self.cells: list[str] = []
        self.cursor = 0
        self._killed: list[str] = []
        self._items: list[str] = []
        self._item = 0
        self._draft: list[str] = []

    @property
    def text(self) -> str:
        """What stands there, with a token for each long paste."""
        return "".join(self.pastes.fold(cell) if len(cell) > 1 else cell for cell in self.cells)

    def set(self, text: str) -> None:
        """Replace the line; the cursor goes to its end."""
        cells: list[str] = []
        done = 0
        for start, end, _ in self.pastes.spans(text):
            cells += [*text[done:start], self.pastes.expand(text[start:end])]
            done = end
        self._load([*cells, *text[done:]])
        self._items = []

    def take(self) -> str:
        """The text; the line is empty afterwards."""
        text = self.text
        self.set("")
        return text

    def press(self, key: Key) -> bool:
        """Apply an editing key. False when the key does nothing here."""
        if key.name == "char":
            self._insert([key.text])
        elif key.name == "paste":
            pasted = as_pasted(key.text)
            self._insert([pasted] if len(pasted) > 1 and is_long(pasted) else list(pasted))
        elif key.name == "newline":
            self._insert(["\n"])
        else:
            action = _ACTIONS.get(key.name)
            if action is None:
                return False
            action(self)
        return True

    def _insert(self, cells: list[str]) -> None:
        self.cells[self.cursor : self.cursor] = cells
        self.cursor += len(cells)

    def _load(self, cells: list[str]) -> None:
        self.cells = cells
        self.cursor = len(cells)

    def replace(self, start: int, end: int, text: str) -> None:
        """Put text in place of these cells; the cursor goes behind it."""
        self.cells[start:end] = list(text)
        self.move(start + len(text))

    def caret_line(self) -> tuple[str, int]:
        """The line the cursor stands in, and its first cell. A paste in it counts as one blank."""
        start = self.cursor
        while start and self.cells[start - 1] != "\n":
            start -= 1
        end = self.cursor
        while end < len(self.cells) and self.cells[end] != "\n":
            end += 1
        return "".join(cell if len(cell) == 1 else " " for cell in self.cells[start:end]), start

    def word_left(self) -> int:
        """Where the word before the cursor starts."""
        at = self.cursor
        while at and not self.cells[at - 1][-1].isalnum():
            at -= 1
        while at and self.cells[at - 1][-1].isalnum():
            at -= 1
        return at

    def word_right(self) -> int:
        """Where the word at the cursor ends."""
        at = self.cursor
        while at < len(self.cells) and not self.cells[at][0].isalnum():
            at += 1
        while at < len(self.cells) and self.cells[at][0].isalnum():
            at += 1
        return at

    def blank_left(self) -> int:
        """Where the text up to the blank before the cursor starts."""
        at = self.cursor
        while at and self.cells[at - 1].isspace():
            at -= 1
        while at and not self.cells[at - 1].isspace():
            at -= 1
        return at

    def move(self, at: int) -> None:
        """Put the cursor before this cell."""
        self.cursor = min(max(at, 0), len(self.cells))

    def kill(self, start: int, end: int) -> None:
        """Cut these cells; yank brings them back."""
        self._killed = self.cells[start:end]
        self.remove(start, end)

    def remove(self, start: int, end: int) -> None:
        """Delete these cells."""
        start, end = max(start, 0), min(end, len(self.cells))
        del self.cells[start:end]
        self.cursor = min(start, len(self.cells))

    def yank(self) -> None:
        """Insert what was cut last."""
        self._insert(list(self._killed))

    def browse(self, step: int) -> None:
        """Go through the history: with something typed, through the items that start with it."""
        if not self._items:
            start = self.text
            self._draft = list(self.cells)
            self._items = [item for item in self._history() if item.startswith(start) and item != start]
            self._item = len(self._items)
        target = self._item + step
        if not 0 <= target <= len(self._items):
            return
        self._item = target
        if target < len(self._items):
            item = self._items[target]
            self._load([item] if len(item) > LONG_ITEM_CHARS else list(item))
        else:
            self._load(list(self._draft))
            self._items = []

    def _look(self, cell: str) -> str:
        return self.pastes.fold(cell) if len(cell) > 1 else _shown(cell)

    def layout(self, prompt: str, columns: int, max_rows: int = 8) -> Layout:
        """The rows on a screen of this width. One column stays free: terminals disagree about a full row."""
        width = max(columns - 1, 4)
        rows, at, row, column = [""], (0, 0), 0, 0
        for index, piece in enumerate([*prompt, *map(self._look, self.cells), ""]):
            if index == len(prompt) + self.cursor:
                at = (row, column)
            for part in piece if len(piece) > 1 else (piece,):
                size = display_width(part)
                if column + size > width:
                    rows.append("")
                    row, column = row + 1, 0
                    if index == len(prompt) + self.cursor:
                        at = (row, column)
                rows[row] += part
                column += size
        first = min(max(0, at[0] - max_rows + 1), max(0, len(rows) - max_rows))
        return Layout(tuple(rows[first : first + max_rows]), at[0] - first, at[1])


def _shown(cell: str) -> str:
    """How a cell looks: safe, visible, one line."""
    if cell == "\n":
        return "\u23ce"
    return " " if cell == "\t" else sanitize(cell, one_line=True)


_ACTIONS: dict[str, Callable[[Editor], None]] = {
    "left": lambda line: line.move(line.cursor - 1),
    "ctrl-b": lambda line: line.move(line.cursor - 1),
    "right": lambda line: line.move(line.cursor + 1),
    "home": lambda line: line.move(0),
    "end": lambda line: line.move(len(line.cells)),
    "word-left": lambda line: line.move(line.word_left()),
    "word-right": lambda line: line.move(line.word_right()),
    "backspace": lambda line: line.remove(line.cursor - 1, line.cursor) if line.cursor else None,
    "delete": lambda line: line.remove(line.cursor, line.cursor + 1),
    "ctrl-d": lambda line: line.remove(line.cursor, line.cursor + 1),
    "kill-end": lambda line: line.kill(line.cursor, len(line.cells)),
    "kill-start": lambda line: line.kill(0, line.cursor),
    "kill-word": lambda line: line.kill(line.blank_left(), line.cursor),
    "yank": lambda line: line.yank(),
    "up": lambda line: line.browse(-1),
    "down": lambda line: line.browse(1),
}
