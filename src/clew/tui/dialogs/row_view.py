"""Rows of styled text that scroll: drawn line by line, broken for the width there is."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.style import Style
from textual.events import Resize
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from clew.presentation.rows.spans import Row
from clew.tui.reading.strips import StripMaker
from clew.tui.themes import styles_for

Build = Callable[[int], Sequence[Row]]
"""Rows for a number of columns."""


def nothing(columns: int) -> Sequence[Row]:
    """No rows."""
    return ()


class RowView(ScrollView, can_focus=False):
    """A text of rows. It is never focused: its dialog moves it."""

    ascii_only: ClassVar[bool] = False
    """The terminal shows nothing else; set once, by the App."""

    def __init__(self, build: Build = nothing, *, classes: str = "") -> None:
        super().__init__(classes=classes)
        self._build = build
        self._rows: Sequence[Row] = ()
        self._columns = -1
        self._maker: StripMaker | None = None
        self._styles_used: dict[str, Style] = {}
        self.tallest = 0
        """The most rows it wanted so far."""

    def show(self, build: Build) -> None:
        """Another text, from its beginning."""
        self._build = build
        self.scroll_to(y=0, animate=False)
        self.changed()

    def changed(self) -> None:
        """What it is built from changed."""
        self._columns = -1
        self.refresh(layout=True)

    def wanted(self, columns: int) -> int:
        """Rows it would fill at this width, its scroll bar included in the width."""
        rows = len(self.rows(columns - self.styles.scrollbar_size_vertical))
        self.tallest = max(self.tallest, rows)
        return rows

    def rows(self, columns: int) -> Sequence[Row]:
        """Its rows for this width."""
        if columns != self._columns:
            self._rows, self._columns = self._build(max(columns, 1)), columns
        return self._rows

    @property
    def below(self) -> int:
        """Rows that are hidden under the lower edge."""
        return max(len(self._rows) - self.size.height - self.scroll_offset.y, 0)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self.wanted(width)

    def on_resize(self, event: Resize) -> None:
        self._measure()

    def _measure(self) -> None:
        self.virtual_size = Size(self._room, len(self.rows(self._room)))

    @property
    def _room(self) -> int:
        """Columns beside the scroll bar; its place is kept free also while there is none."""
        return max(self.size.width - self.styles.scrollbar_size_vertical, 0)

    def render_line(self, y: int) -> Strip:
        rows = self.rows(self._room)
        if self.virtual_size.height != len(rows):
            self.call_after_refresh(self._measure)
        place = y + self.scroll_offset.y
        row = rows[place] if place < len(rows) else ()
        return self._strip(row, self.size.width, self.row_style(place))

    def row_style(self, place: int) -> Style:
        """What lies under the styles of a row."""
        return self.rich_style

    def _strip(self, row: Row, width: int, base: Style) -> Strip:
        styles = styles_for(self)
        if self._maker is None or self._styles_used is not styles:
            self._maker, self._styles_used = StripMaker(styles, ascii_only=self.ascii_only), styles
        return self._maker.strip(row).adjust_cell_length(width).apply_style(base)
