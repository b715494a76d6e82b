"""Long lines in rows that fit the screen, broken after a blank where there is one. Nothing is lost or added."""

from clew.text.terminal_text import display_width

TAB_COLUMNS = 8
MIN_ROW = 8


def wrap(text: str, columns: int, hang: str = "") -> str:
    """Each line in rows of less than `columns`; further rows of a line begin with `hang`. 0 columns: as it is."""
    width = columns - 1
    if columns <= 0 or width < len(hang) + MIN_ROW:
        return text
    return "\n".join(row for line in text.split("\n") for row in _rows(line, width, hang))


def _rows(line: str, width: int, hang: str) -> list[str]:
    if _size(line) <= width:
        return [line]
    rows: list[str] = []
    start, used, blank = 0, 0, -1
    margin = ""
    for index, char in enumerate(line):
        size = _size(char)
        while used + size > width and index > start:
            # After a blank, if what follows it then fits behind the margin.
            at_blank = blank >= start and len(hang) + _size(line[blank + 1 : index]) + size <= width
            cut = blank + 1 if at_blank else index
            rows.append(margin + line[start:cut])
            margin, start, blank = hang, cut, -1
            used = len(hang) + _size(line[start:index])
        if char == " ":
            blank = index
        used += size
    return [*rows, margin + line[start:]]


def _size(text: str) -> int:
    """Columns, with every tab at its widest. `display_width` counts a tab as one."""
    return display_width(text) + (TAB_COLUMNS - 1) * text.count("\t")
