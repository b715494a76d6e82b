"""What the mouse has selected: two places by passage and row, so that it holds while the screen moves."""

from msgspec import Struct
from msgspec.structs import replace
from rich.cells import cell_len, set_cell_size

from clew.presentation.rows.spans import plain
from clew.tui.reading.viewport import Place, Viewport


class Selection(Struct, frozen=True, kw_only=True):
    """From where the button went down to where the mouse is."""

    start: Place | None = None
    start_column: int = 0
    end: Place | None = None
    end_column: int = 0
    dragging: bool = False

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
        return (self.start, self.start_column) != (self.end, self.end_column)

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
        """The selected words, row by row, without what stands in the gutter."""
        bounds = self.bounds(viewport)
        if bounds is None:
            return ""
        lines: list[str] = []
        (from_index, _, _), (to_index, _, _) = bounds
        for index in range(from_index, to_index + 1):
            key = viewport.passage(index).key
            for row, content in enumerate(viewport.rows_of(index)):
                text = plain(content)
                span = self.columns_on(Place(key, row), viewport, cell_len(text))
                if span is not None:
                    lines.append(_between(text, *span).rstrip())
        return "\n".join(lines)


def _between(text: str, start: int, end: int) -> str:
    """The columns from start to end of a text; the gutter is not somebody's words."""
    start = max(start, 2) if cell_len(text) > 2 else start
    head = set_cell_size(text, end) if end < cell_len(text) else text
    skipped = set_cell_size(text, start)
    return head[len(skipped) :] if head.startswith(skipped) else head
