"""The list above the prompt while a command or a file is being completed."""

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from clew.composing.completion import Candidate
from clew.text.terminal_text import clip, display_width, sanitize
from clew.tui.owning_app import app_of

MAX_SHOWN = 8
LEAST_DETAIL_COLUMNS = 20


class CompletionList(ScrollView, can_focus=False):
    """Rows with one marked. Keys reach it through the prompt, which keeps the focus; the mouse directly."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"completion--row", "completion--marked", "completion--detail"}

    class Picked(Message):
        """A row was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: tuple[Candidate, ...] = ()
        self.marked = 0
        self._labels: tuple[str, ...] = ()
        self._details: tuple[str, ...] = ()
        self._label_columns = 0
        self.display = False

    @property
    def is_open(self) -> bool:
        """Whether there is something to take."""
        return bool(self.rows)

    @property
    def choice(self) -> Candidate | None:
        """The marked row."""
        return self.rows[self.marked] if self.rows else None

    @property
    def _height(self) -> int:
        """Never more than a part of the screen: on a small one the prompt must stay in sight."""
        return min(len(self.rows), MAX_SHOWN, max(1, app_of(self).size.height // 3))

    def show(self, rows: tuple[Candidate, ...]) -> None:
        """Show these rows, the first one marked; none closes the list."""
        if rows == self.rows:
            return
        self.rows = rows
        self.marked = 0
        # Names of files and words of others: a terminal must not obey them.
        self._labels = tuple(sanitize(row.label, one_line=True) for row in rows)
        self._details = tuple(sanitize(row.detail, one_line=True) for row in rows)
        self._label_columns = max((display_width(label) for label in self._labels), default=0)
        self.display = bool(rows)
        self.virtual_size = Size(0, len(rows))
        self.styles.height = self._height
        self.scroll_to(0, 0, animate=False, force=True)
        self.refresh()

    def close(self) -> None:
        """Nothing to take any more."""
        self.show(())

    def step(self, count: int, *, around: bool = True) -> None:
        """Mark another row; past an end it goes on at the other one."""
        if not self.rows:
            return
        target = self.marked + count
        self.marked = target % len(self.rows) if around else min(max(target, 0), len(self.rows) - 1)
        top, height = self.scroll_offset.y, self._height
        if self.marked < top or self.marked >= top + height:
            top = self.marked if self.marked < top else self.marked - height + 1
            self.scroll_to(0, top, animate=False, force=True)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        index = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if index >= len(self.rows):
            return Strip.blank(width, self.rich_style)
        name = "completion--marked" if index == self.marked else "completion--row"
        style = self.get_component_rich_style(name)
        label = clip(self._labels[index], max(width - 2, 1))
        # A sign as well as a colour: the marked row is seen without colours too.
        segments = [Segment(("> " if index == self.marked else "  ") + label, style)]
        used = 2 + display_width(label)
        detail_at = min(self._label_columns, width // 2) + 4
        room = width - max(detail_at, used + 2)
        if self._details[index] and room >= LEAST_DETAIL_COLUMNS:
            detail = clip(self._details[index], room)
            dim: Style = style + self.get_component_rich_style("completion--detail", partial=True)
            segments += [Segment(" " * (width - room - used), style), Segment(detail, dim)]
            used = width - room + display_width(detail)
        return Strip([*segments, Segment(" " * max(0, width - used), style)])

    def on_click(self, event: events.Click) -> None:
        """The mouse takes a row."""
        index = event.y + self.scroll_offset.y
        if index < len(self.rows):
            event.stop()
            self.post_message(self.Picked(index))
