"""The frame of a dialog: heading, text, field, options and hint, of which each kind fills what it needs."""

from collections.abc import Sequence
from typing import Any, cast

from textual.app import App, ComposeResult
from textual.geometry import Size
from textual.widget import Widget

from clew.presentation.rows.spans import Row, Span, clipped, spread, width_of, wrapped
from clew.tui.dialogs.layout import LOW_SCREEN, WIDE, DialogLayout, LayoutPart, rows_allowed
from clew.tui.dialogs.options import Options
from clew.tui.dialogs.row_view import RowView
from clew.tui.terminal.key_order import LineField

RULE = "─"
MIN_BODY = 3
MIN_OPTIONS = 3
ASIDE_ROWS = 7
"""What stands beside the options has this many rows where it must stand below them."""


class Frame(Widget, can_focus=True):
    """The parts and where they stand. Keys and answers are the dialog's."""

    field_last = False
    """The field stands under the options."""
    tall = False
    """What it shows is worth nearly all rows of a low screen."""
    aside_below = False
    """What stands beside the options is shown below them where there is no room."""

    def __init__(self) -> None:
        super().__init__(classes="dialog")
        self._said: Row = ()
        self._heading = RowView(lambda columns: [self._heading_row(columns)], classes="heading")
        self.body = RowView(self.body_rows, classes="body")
        self.divider = RowView(self._divider_rows, classes="divider")
        self.field = LineField(compact=True, select_on_focus=False, classes="field")
        self.options = Options(classes="options")
        self.aside = RowView(classes="aside")
        self._gap = RowView(lambda columns: [()], classes="gap")
        self._hint = RowView(self._hint_rows, classes="hint")
        self._placing = DialogLayout(self)
        self.field.cursor_blink = False  # nothing moves but what is alive
        self.field.display = False
        self.aside.display = False

    def compose(self) -> ComposeResult:
        """All parts; those a dialog does not use take no rows."""
        yield from (self._heading, self.body, self.divider)
        if self.field_last:
            yield from (self.options, self.aside, self.field)
        else:
            yield from (self.field, self.options, self.aside)
        yield from (self._gap, self._hint)

    def on_mount(self) -> None:
        """What is hidden below is counted whenever the text moves."""
        self.watch(self.body, "scroll_y", self._count_below, init=False)
        self.watch(self.body, "virtual_size", self._count_below, init=False)

    def title(self) -> str:
        """What it is about, in a few words."""
        return ""

    def note(self) -> str:
        """At the right end of the heading."""
        return ""

    def body_rows(self, columns: int) -> Sequence[Row]:
        """The text to decide on."""
        return ()

    def hint(self) -> str:
        """Which keys do what."""
        return ""

    def say(self, text: str, style: str = "notice") -> None:
        """Something in place of the hint, until the next key."""
        self._said = (Span(text, style),)
        self._hint.changed()

    def unsay(self) -> None:
        """The hint again."""
        if self._said:
            self._said = ()
            self._hint.changed()

    def redraw(self) -> None:
        """What it shows has changed."""
        for part in (self._heading, self.body, self.divider, self.options, self.aside, self._hint):
            part.changed()
        self.refresh(layout=True)

    def scroll_body(self, rows: int) -> None:
        """Move the text."""
        self.body.scroll_to(y=self.body.scroll_offset.y + rows, animate=False)

    def _count_below(self) -> None:
        self.call_after_refresh(self.divider.changed)
        self.call_after_refresh(self._heading.changed)

    @property
    def _below(self) -> int:
        """Rows of the text that are hidden below."""
        return self.body.below if self.body.size.height else 0

    @property
    def layout(self) -> DialogLayout:
        return self._placing

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        children = [child for child in self.children if child.display]
        allowed = rows_allowed(viewport.height, tall=self.tall) - self.styles.gutter.height
        return min(self._placing.height(children, width), allowed)

    @property
    def low(self) -> bool:
        """The screen has few rows."""
        return self.terminal_size.height <= LOW_SCREEN

    @property
    def terminal_size(self) -> Size:
        """Of the terminal, also while the dialog is being taken down."""
        app = cast("App[object]", cast(Any, self).app)  # Textual does not say what its App returns
        return app.size

    def part(self, child: Widget, columns: int) -> LayoutPart:
        """The rows a child wants at this width."""
        wants = child.wanted(columns) if isinstance(child, RowView) else 1
        if child is self.aside and self.beside(columns) is None:
            wants = min(wants, ASIDE_ROWS) if self.aside_below else 0
        least = MIN_BODY if child is self.body else MIN_OPTIONS if child is self.options else wants
        return LayoutPart(wants=wants, least=0 if child is self._gap else min(least, wants))

    def beside(self, columns: int) -> tuple[Widget, Widget] | None:
        """What stands beside the options."""
        return (self.options, self.aside) if self.aside.display and columns >= WIDE else None

    def _heading_row(self, columns: int) -> Row:
        told = self.note()
        if self.tall and self.low and self._below:
            told = " · ".join(filter(None, (told, f"↓ {self._below:,} more")))
        note = f" {told} {RULE}" if told else ""
        left: Row = (Span(f"{RULE}{RULE} ", "dim"), Span(self.title(), "bold"), Span(" "))
        left = clipped(left, max(columns - width_of((Span(note),)), 8))
        middle = max(columns - width_of(left) - width_of((Span(note),)), 0)
        return (*left, Span(RULE * middle + note, "dim"))

    def _divider_rows(self, columns: int) -> list[Row]:
        """An empty row under the text, or how much of it is hidden."""
        if not self.body.wanted(columns) or (self.tall and self.low):
            return []
        below = self._below
        if not below:
            return [()]
        words = f"↓ {below:,} more row{'' if below == 1 else 's'}"
        return [spread((Span(words, "warning"),), (Span("PgDn, wheel", "dim"),), columns)]

    def _hint_rows(self, columns: int) -> list[Row]:
        """Empty as long as no key counts, at the height it will have."""
        rows = wrapped(self._said or (Span(self.hint(), "dim"),), columns)
        return rows if self._said or self.options.live else [()] * len(rows)
