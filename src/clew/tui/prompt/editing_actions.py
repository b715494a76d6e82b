"""What each editing action of the keymap does to the text."""

from collections.abc import Callable

from clew.tui.prompt.edit_area import EditArea


def _cut_line_end(area: EditArea) -> None:
    row, column = area.cursor_location
    line = area.document.get_line(row)
    at_end = column == len(line)
    if at_end and row == area.document.line_count - 1:
        return
    area.cut((row, column), (row + 1, 0) if at_end else (row, len(line)))


def _cut_line_start(area: EditArea) -> None:
    row, column = area.cursor_location
    if column:
        area.cut((row, 0), (row, column))
    elif row:
        area.cut((row - 1, len(area.document.get_line(row - 1))), (row, 0))


def _cut_blank_left(area: EditArea) -> None:
    if not area.cut_selection():
        area.cut(area.blank_left(), area.cursor_location)


def _cut_word_left(area: EditArea) -> None:
    if not area.cut_selection():
        area.cut(area.word_left(), area.cursor_location)


def _cut_word_right(area: EditArea) -> None:
    if not area.cut_selection():
        area.cut(area.cursor_location, area.word_right())


def _step_left(area: EditArea) -> None:
    if area.selection.is_empty:
        area.action_cursor_left()
    else:
        area.move_cursor(min(area.selection))


def _step_right(area: EditArea) -> None:
    if area.selection.is_empty:
        area.action_cursor_right()
    else:
        area.move_cursor(max(area.selection))


def _line_start(area: EditArea, *, select: bool = False) -> None:
    row, _ = area.cursor_location
    area.move_cursor((row, 0), select=select)


def _line_end(area: EditArea, *, select: bool = False) -> None:
    row, _ = area.cursor_location
    area.move_cursor((row, len(area.document.get_line(row))), select=select)


EDITING: dict[str, Callable[[EditArea], None]] = {
    "newline": lambda area: area.put("\n"),
    "left": _step_left,
    "right": _step_right,
    "word_left": lambda area: area.move_cursor(area.word_left()),
    "word_right": lambda area: area.move_cursor(area.word_right()),
    "line_start": _line_start,
    "line_end": _line_end,
    "text_start": lambda area: area.move_cursor((0, 0)),
    "text_end": lambda area: area.move_cursor(area.document.end),
    "erase_left": lambda area: area.action_delete_left(),
    "erase_right": lambda area: area.action_delete_right(),
    "cut_blank_left": _cut_blank_left,
    "cut_word_left": _cut_word_left,
    "cut_word_right": _cut_word_right,
    "cut_line_start": _cut_line_start,
    "cut_line_end": _cut_line_end,
    "yank": lambda area: area.yank(),
    "undo": lambda area: area.undo(),
    "redo": lambda area: area.redo(),
    "select_left": lambda area: area.action_cursor_left(select=True),
    "select_right": lambda area: area.action_cursor_right(select=True),
    "select_up": lambda area: area.action_cursor_up(select=True),
    "select_down": lambda area: area.action_cursor_down(select=True),
    "select_word_left": lambda area: area.move_cursor(area.word_left(), select=True),
    "select_word_right": lambda area: area.move_cursor(area.word_right(), select=True),
    "select_line_start": lambda area: _line_start(area, select=True),
    "select_line_end": lambda area: _line_end(area, select=True),
    "select_all": lambda area: area.select_all(),
}
CUTTING = frozenset(("cut_blank_left", "cut_word_left", "cut_word_right", "cut_line_start", "cut_line_end"))
