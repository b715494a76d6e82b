"""What can be chosen: rows to walk by arrows, numbers, letters or the mouse. Nothing is chosen in advance."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from msgspec import Struct
from rich.style import Style
from textual import events
from textual.message import Message

from clew.presentation.rows.spans import Row, Span, wrapped
from clew.tui.dialogs.row_view import RowView

CURSOR = "›"
NOWHERE = -1


class Option(Struct, frozen=True, kw_only=True):
    """One row, or a few, that can be chosen."""

    value: str
    """What the dialog knows it by."""
    key: str = ""
    """The letter or number that stands before it and chooses it."""
    label: Row = ()
    rows: Callable[[int], Sequence[Row]] | None = None
    """Instead of a label: rows for a width."""
    checked: bool | None = None
    """With a box before it."""
    heading: bool = False
    """Only told, never chosen."""


class Options(RowView):
    """A list of options with a cursor."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"options--cursor"}

    class Clicked(Message):
        """Somebody clicked on an option."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    def __init__(self, *, classes: str = "") -> None:
        super().__init__(self._lay_out, classes=classes)
        self.items: tuple[Option, ...] = ()
        self.cursor = NOWHERE
        self.live = True
        """Whether choosing counts yet; the cursor is drawn only then."""
        self._owner: list[int] = []
        """The option of each row."""

    def set(self, items: Sequence[Option], *, cursor: int | None = None) -> None:
        """Other options. Without a cursor it stays with the value it was on, where that is still there."""
        value = self.value
        self.items = tuple(items)
        if cursor is None:
            places = [place for place, item in enumerate(self.items) if item.value == value and not item.heading]
            cursor = places[0] if places and value else NOWHERE
        self.cursor = cursor if 0 <= cursor < len(self.items) else NOWHERE
        self.changed()
        self.call_after_refresh(self._follow)

    @property
    def value(self) -> str:
        """The value under the cursor; empty without one."""
        return self.items[self.cursor].value if 0 <= self.cursor < len(self.items) else ""

    @property
    def seen(self) -> list[str]:
        """The values of the options that can be seen now."""
        top = self.scroll_offset.y
        places = dict.fromkeys(self._owner[top : top + self.size.height])
        return [self.items[place].value for place in places if not self.items[place].heading]

    def walk(self, steps: int) -> bool:
        """Move the cursor over what can be chosen; whether it moved."""
        places = [place for place, item in enumerate(self.items) if not item.heading]
        if not places:
            return False
        if self.cursor in places:
            at = min(max(places.index(self.cursor) + steps, 0), len(places) - 1)
        else:
            at = 0 if steps > 0 else len(places) - 1
        moved = places[at] != self.cursor
        self.point(places[at])
        return moved

    def point(self, place: int) -> None:
        """Put the cursor on an option."""
        self.cursor = place
        self.changed()
        self._follow()

    def named(self, character: str) -> int:
        """The place of the option with this letter or number; NOWHERE if there is none."""
        wanted = character.lower()
        for place, item in enumerate(self.items):
            if item.key and item.key == wanted and not item.heading:
                return place
        choosable = [place for place, item in enumerate(self.items) if not item.heading]
        if wanted.isdecimal() and wanted.isascii() and 1 <= int(wanted) <= len(choosable):
            return choosable[int(wanted) - 1]
        return NOWHERE

    def _follow(self) -> None:
        """Scroll so that all rows of the option under the cursor are seen, and the headings above the first one."""
        if not self.is_mounted or not self.size.height:
            return
        self.rows(self._room)
        mine = [row for row, owner in enumerate(self._owner) if owner == self.cursor]
        if not mine:
            return
        first, last = mine[0], mine[-1]
        while first and self.items[self._owner[first - 1]].heading:
            first -= 1
        top, height = self.scroll_offset.y, self.size.height
        if first < top:
            self.scroll_to(y=first, animate=False, force=True)
        elif last >= top + height:
            self.scroll_to(y=last - height + 1, animate=False, force=True)

    def _lay_out(self, columns: int) -> Sequence[Row]:
        rows: list[Row] = []
        self._owner = []
        for place, item in enumerate(self.items):
            drawn = self._drawn(item, columns, under_cursor=self.live and place == self.cursor)
            rows += drawn
            self._owner += [place] * len(drawn)
        return rows

    def _drawn(self, item: Option, columns: int, *, under_cursor: bool) -> list[Row]:
        if item.heading:
            return wrapped(item.label, columns)
        mark = Span(f"{CURSOR} ", "accent bold") if under_cursor else Span("  ")
        key = Span(f"{item.key}  ", "accent") if item.key else Span("")
        box = Span("" if item.checked is None else "[x] " if item.checked else "[ ] ")
        margin = len(mark.text) + len(key.text) + len(box.text)
        hang = (Span(" " * margin),)
        if item.rows is not None:
            inner = [*item.rows(max(columns - margin, 1))]
            inner[:1] = [_heavy(row) if under_cursor else row for row in inner[:1]]
            return [((mark, key, box) if not at else hang) + tuple(row) for at, row in enumerate(inner)]
        label = _heavy(item.label) if under_cursor else item.label
        return wrapped(label, columns, first=(mark, key, box), hang=hang)

    def row_style(self, place: int) -> Style:
        if self.live and place < len(self._owner) and self._owner[place] == self.cursor:
            return self.get_component_rich_style("options--cursor", partial=False)
        return self.rich_style

    def on_click(self, event: events.Click) -> None:
        event.stop()
        place = event.y + self.scroll_offset.y
        if place < len(self._owner) and not self.items[self._owner[place]].heading:
            self.post_message(self.Clicked(self._owner[place]))


def _heavy(row: Row) -> Row:
    """What is under the cursor; what is faint stays so."""
    return tuple(span if "dim" in span.style else span._replace(style=f"bold {span.style}") for span in row)
