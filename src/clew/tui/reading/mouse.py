"""The mouse on the transcript: a drag selects, one click opens, two take a word, three a line, the right one more.

Each of them can be switched off, and then the mouse does as if it had not been pressed."""

from msgspec import Struct
from textual import events
from textual.widget import Widget

from clew.config.schema import ScreenSettings
from clew.tui.reading.selection import Selection, line_at, passage_at, word_at
from clew.tui.reading.viewport import Place, Viewport


class MouseParts(Struct, frozen=True, kw_only=True):
    """Which parts of the mouse are clew's."""

    wheel: bool = True
    click: bool = True
    select: bool = True
    right: bool = True

    @classmethod
    def of(cls, screen: ScreenSettings) -> "MouseParts":
        """As the settings have it."""
        return cls(
            wheel=screen.mouse_wheel, click=screen.mouse_click, select=screen.mouse_select, right=screen.mouse_right
        )

    def __bool__(self) -> bool:
        """Any of them is."""
        return self.wheel or self.click or self.select or self.right


class Pointed(Struct, frozen=True):
    """What the mouse asks for: a passage to open, a text to copy."""

    open: int | None = None
    copy: str = ""


class Pointing:
    """Follows the mouse over one viewport."""

    def __init__(self, widget: Widget, viewport: Viewport) -> None:
        self._widget = widget
        self._viewport = viewport
        self.parts = MouseParts()
        self.selection = Selection()
        self._pressed: tuple[Place, int] | None = None
        self._first: tuple[Place, int] | None = None
        """Where the first click of several was: what it opened may have moved the rows since."""
        self._opened: tuple[str, int | None] | None = None
        """What the first click of several opened, and how far it was open before."""
        self._beyond = 0
        """The mouse is held above (-1) or below (1) the rows."""

    def press(self, event: events.MouseDown) -> None:
        """A selection may begin; the right button leaves the one that is there."""
        if event.button != 1:
            return
        place = self._viewport.place_at(event.y)
        self._pressed = (place, event.x) if place is not None else None
        if place is not None and self.parts.select:
            self.selection = Selection.starting(place, event.x)
            self._widget.capture_mouse()
        else:
            self.selection = Selection()

    def move(self, event: events.MouseMove) -> int:
        """The selection grows to where the mouse is. Returns where to scroll: -1 up, 1 down, 0 not at all."""
        if not self.selection.dragging:
            return 0
        height = self._widget.size.height
        self._beyond = -1 if event.y < 0 else 1 if event.y >= height else 0
        self.extend(event.x, event.y)
        return self._beyond

    def extend(self, x: int, y: int) -> None:
        """The selection ends at the row nearest to here."""
        rows = max(self._viewport.visible_rows - 1, 0)
        place = self._viewport.place_at(min(max(y, 0), min(self._widget.size.height - 1, rows)))
        if place is not None:
            self.selection = self.selection.extended(place, max(x, 0))

    @property
    def beyond(self) -> int:
        """Where the screen moves to by itself while the button is held outside: -1, 0 or 1."""
        return self._beyond if self.selection.dragging else 0

    def release(self) -> Pointed:
        """What was selected is copied."""
        self._widget.release_mouse()
        self._beyond = 0
        chosen, self.selection = self.selection, self.selection.ended()
        if not (chosen.dragging and chosen.moved):
            return Pointed()
        self._pressed = None
        return self._copied()

    def click(self, event: events.Click) -> Pointed:
        """One click opens, two take the word, three the line; the right button takes the selection up to here, or the
        passage where nothing is selected."""
        if event.button == 3:
            return self._right(event)
        if event.button != 1 or self._pressed is None:
            return Pointed()
        place, column = self._pressed
        if event.chain == 1:
            self._first, self._opened = self._pressed, None
            self.selection = Selection()
            index = self._viewport.index_of(place.key)
            if index is None or not self.parts.click:
                return Pointed()
            self._opened = (place.key, self._viewport.opened.get(place.key))
            return Pointed(open=index)
        return self._several(event.chain, *(self._first or (place, column))) if self.parts.select else Pointed()

    def _several(self, clicks: int, place: Place, column: int) -> Pointed:
        """A second click takes back what the first one opened: the person meant a word of it."""
        if self._opened is not None:
            key, level = self._opened
            self._opened = None
            if level is None:
                self._viewport.opened.pop(key, None)
            else:
                self._viewport.opened[key] = level
        chosen = word_at(place, column, self._viewport) if clicks == 2 else line_at(place, self._viewport)
        self.selection = chosen or Selection()
        return self._copied() if chosen is not None else Pointed()

    def _right(self, event: events.Click) -> Pointed:
        found = self._viewport.passage_at(event.y)
        if not self.parts.right or found is None:
            return Pointed()
        place = self._viewport.place_at(event.y)
        if self.selection.moved and place is not None:
            self.selection = self.selection.extended(place, event.x)
        else:
            self.selection = passage_at(found[0], self._viewport)
        return self._copied()

    def _copied(self) -> Pointed:
        text = self.selection.text(self._viewport)
        return Pointed(copy=text) if text.strip() else Pointed()
