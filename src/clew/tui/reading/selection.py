"""What the mouse has selected: two places by passage and row, so that it holds while the screen moves."""

import re
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from clew.presentation.rows.spans import copied, goes_on, width_of
from clew.text.terminal_text import clusters
from clew.tui.reading.viewport import Place, Viewport


class Selection(Struct, frozen=True, kw_only=True):
    """From where the button went down to where the mouse is."""

    start: Place | None = None
    start_column: int = 0
    end: Place | None = None
    end_column: int = 0
    dragging: bool = False
    by_click: bool = False
    """A word or a line that was clicked, not a way that the mouse went."""

    @classmethod
    def starting(cls, place: Place, column: int) -> "Selection":
        """The button went down here."""
        return cls(start=place, start_column=column, end=place, end_column=column, dragging=True)

    def __bool__(self) -> bool:
        """Something is selected, or may be soon."""
        return self.start is not None

    @property
    def moved(self) -> bool:
        """More than a click."""
        return self.by_click or (self.start, self.start_column) != (self.end, self.end_column)

    def extended(self, place: Place, column: int) -> "Selection":
        """The mouse is here now."""
        return replace(self, end=place, end_column=column)

    def ended(self) -> "Selection":
        """The button is up; the selection stays visible."""
        return replace(self, dragging=False)

    def bounds(self, viewport: Viewport) -> tuple[tuple[int, int, int], tuple[int, int, int]] | None:
        """Both ends as (passage, row, column), the earlier one first."""
        if self.start is None or self.end is None:
            return None
        first, last = viewport.index_of(self.start.key), viewport.index_of(self.end.key)
        if first is None or last is None:
            return None
        ends = sorted([(first, self.start.row, self.start_column), (last, self.end.row, self.end_column)])
        return ends[0], ends[1]

    def columns_on(self, place: Place, viewport: Viewport, width: int) -> tuple[int, int] | None:
        """Which columns of this row are selected."""
        bounds = self.bounds(viewport) if self.moved else None
        index = viewport.index_of(place.key)
        if bounds is None or index is None:
            return None
        (from_index, from_row, from_column), (to_index, to_row, to_column) = bounds
        here = (index, place.row)
        if not (from_index, from_row) <= here <= (to_index, to_row):
            return None
        start = from_column if here == (from_index, from_row) else 0
        end = to_column + 1 if here == (to_index, to_row) else width
        return min(start, width), min(end, width)

    def text(self, viewport: Viewport) -> str:
        """The source text of what is selected: lines broken for want of room are whole, clew's own marks are left
        out."""
        bounds = self.bounds(viewport)
        if bounds is None:
            return ""
        out: list[str] = []
        (from_index, _, _), (to_index, to_row, to_column) = bounds
        joint = ""
        for index in range(from_index, to_index + 1):
            key = viewport.passage(index).key
            for row, content in enumerate(viewport.rows_of(index)):
                width = width_of(content)
                span = self.columns_on(Place(key, row), viewport, width)
                if span is None:
                    continue
                last = (index, row) == (to_index, to_row) and to_column + 1 < width
                out += [joint, copied(content, span[0], span[1] if last else None)]
                on = goes_on(content)
                joint = "\n" if on is None else on
        return "".join(out)


WORD = re.compile(r"[\w@~#%&+=?./:-]+")
"""What a double click takes: a word, a path, an address."""
LAST = 1_000_000
"""A column behind every row."""


def word_at(place: Place, column: int, viewport: Viewport) -> Selection | None:
    """The word at a place, over the rows that it is broken into; None where there is none."""
    cells = [cell for row in _line(place, viewport) for cell in _cells(row, place.key, viewport)]
    text = "".join(cell[0] for cell in cells)
    here = next((at for at, (_, row, first, end) in enumerate(cells) if row == place.row and first <= column < end), -1)
    ends = [0]
    for cell in cells:
        ends.append(ends[-1] + len(cell[0]))
    for found in WORD.finditer(text):
        if here >= 0 and found.start() <= ends[here] < found.end():
            inside = [cell for cell, end in zip(cells, ends[1:], strict=True) if found.start() < end <= found.end()]
            start, last = inside[0], inside[-1]
            return Selection(
                start=Place(place.key, start[1]),
                start_column=start[2],
                end=Place(place.key, last[1]),
                end_column=last[3] - 1,
                by_click=True,
            )
    return None


def line_at(place: Place, viewport: Viewport) -> Selection:
    """The whole line of the text at a place, however many rows it takes."""
    rows = _line(place, viewport)
    return Selection(start=Place(place.key, rows[0]), end=Place(place.key, rows[-1]), end_column=LAST, by_click=True)


def passage_at(index: int, viewport: Viewport) -> Selection:
    """All of a passage."""
    key = viewport.passage(index).key
    rows = viewport.rows_of(index)
    first = next((at for at, row in enumerate(rows) if row), 0)
    return Selection(start=Place(key, first), end=Place(key, len(rows) - 1), end_column=LAST, by_click=True)


def _line(place: Place, viewport: Viewport) -> range:
    """The rows of the line that this row is a part of."""
    index = viewport.index_of(place.key)
    rows = viewport.rows_of(index) if index is not None else ()
    first = last = min(place.row, max(len(rows) - 1, 0))
    while first and goes_on(rows[first - 1]) is not None:
        first -= 1
    while last < len(rows) - 1 and goes_on(rows[last]) is not None:
        last += 1
    return range(first, last + 1)


def _cells(row: int, key: str, viewport: Viewport) -> Iterator[tuple[str, int, int, int]]:
    """The characters of a row that are somebody's, with the row and their columns; what stands between this row and the
    next one of its line has no columns."""
    index = viewport.index_of(key)
    content = viewport.rows_of(index)[row] if index is not None else ()
    at = 0
    for span in content:
        for cluster, width in clusters(span.text):
            if span.source != "":
                yield cluster, row, at, at + width
            at += width
    if goes_on(content):
        yield " ", row, at, at
