"""One or a few rows of the screen that are told by a function: header, activity, footer."""

from collections.abc import Callable

from textual.strip import Strip
from textual.widget import Widget

from clew.presentation.rows.spans import Row
from clew.tui.reading.strips import StripMaker
from clew.tui.themes import styles_for


class RowLine(Widget):
    """Draws what its function says at the width there is; drawn again only when that changed."""

    ALLOW_SELECT = False

    def __init__(self, rows: Callable[[int], Row], *, id: str, ascii_only: bool = False) -> None:
        super().__init__(id=id)
        self._tell = rows
        self._ascii_only = ascii_only
        self._shown: Row = ()
        self._maker: StripMaker | None = None

    def changed(self) -> None:
        """Look again."""
        row = self._tell(self.size.width) if self.size.width else ()
        if row != self._shown:
            self._shown = row
            self.refresh()

    def recolour(self) -> None:
        """The theme changed."""
        self._maker = None
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Its only line."""
        if self._maker is None:
            self._maker = StripMaker(styles_for(self), ascii_only=self._ascii_only)
        self._shown = self._tell(self.size.width)
        strip = self._maker.strip(self._shown) if y == 0 else Strip.blank(self.size.width)
        return strip.adjust_cell_length(self.size.width, None).apply_style(self.rich_style)
