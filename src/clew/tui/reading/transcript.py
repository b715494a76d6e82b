"""The transcript on the screen: drawn by the viewport, moved by keys and wheel, read and copied, never written to."""

from collections.abc import Callable
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from clew.config.schema import Density
from clew.presentation.rows import late
from clew.presentation.rows.spans import Row
from clew.presentation.story.passages import (
    BatchPassage,
    DiffPassage,
    Passage,
    PlanPassage,
    PromptPassage,
    ReasoningPassage,
    ShellPassage,
    WordsPassage,
)
from clew.presentation.story.words import passage_words
from clew.tui.reading.mouse import Pointed, Pointing
from clew.tui.reading.place_search import PlaceSearch
from clew.tui.reading.strips import StripMaker
from clew.tui.reading.viewport import Viewport, highlight
from clew.tui.themes import styles_for

WHEEL_ROWS = 3
EDGE_S = 0.05
"""How often the screen moves on by a row while the mouse is held above or below it."""
NEAR_TOP = 40
"""So few rows above the screen, and older history is asked for."""
FOUND = Style(bold=True, underline=True)
LOOKED_AT = Style(bold=True, reverse=True)
"""How places that hold the words are marked, and the one that is looked at."""
DENSITIES: tuple[Density, ...] = ("labels", "calls", "full")


class Transcript(Widget, can_focus=True):
    """One widget for all of history: it costs what is visible."""

    DEFAULT_CSS = ""
    ALLOW_SELECT = False
    FOCUS_ON_CLICK = False
    """A click looks closer; what is typed next still goes to the prompt, an answer to the dialog."""
    COMPONENT_CLASSES: ClassVar[set[str]] = set()

    reading: reactive[bool] = reactive(False)
    """A person walks through it with the keys."""

    class OlderWanted(Message):
        """The top of what is loaded is near."""

    class Copied(Message):
        """A person copied something."""

        def __init__(self, text: str) -> None:
            self.text = text
            super().__init__()

    class Found(Message):
        """The places that hold the words were counted again."""

    class Moved(Message):
        """It follows the end again, or no longer does."""

    def __init__(self, *, ascii_only: bool = False, keys: Callable[[str, str | None], bool]) -> None:
        """`keys`: does what a key means here, before the next one is looked at, and says whether it means anything."""
        super().__init__(id="transcript")
        self._keys = keys
        self._ascii_only = ascii_only
        self.viewport = Viewport(StripMaker({}))
        self._lines: list[Strip] = []
        self.pointing = Pointing(self, self.viewport)
        self._edge: Timer | None = None
        """Runs while the mouse is held above or below the rows."""
        self._current: str = ""
        """The key of the passage that is walked to."""
        self.finding = PlaceSearch(self.viewport)
        self.first_row: Callable[[int], Row] | None = None
        """What stands there before anything was said."""

    def on_mount(self) -> None:
        """Take the colours of the theme."""
        self.recolour()

    def on_key(self, event: events.Key) -> None:
        """While it is read, keys are its own."""
        if self._keys(event.key, event.character):
            event.stop()
            event.prevent_default()

    def recolour(self) -> None:
        """The theme changed."""
        self.viewport.use(StripMaker(styles_for(self), ascii_only=self._ascii_only))
        self.redraw()

    def show(self, past: tuple[Passage, ...], now: tuple[Passage, ...]) -> None:
        """The story so far."""
        self.viewport.show(past, now)
        if self.finding.words:
            self.finding.look_again()
            self.post_message(self.Found())
        self.redraw()

    def redraw(self) -> None:
        """Bring the screen up to date; only lines that changed are sent."""
        if not self.size.width:
            return
        self.viewport.resize(self.size.width, self.size.height)
        lines = self.viewport.lines()
        old = self._lines
        self._lines = lines
        height = self.size.height
        changed = [
            y for y in range(height) if (lines[y] if y < len(lines) else None) is not (old[y] if y < len(old) else None)
        ]
        if changed:
            self.refresh(Region(0, changed[0], self.size.width, changed[-1] - changed[0] + 1))

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        width = self.size.width
        if y == 0 and not self._lines and self.first_row:
            return self._first_strip(width)
        if y >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        strip = self._lines[y]
        place = self.viewport.place_at(y)
        if place is not None and self.finding.words:
            for start, end, looked_at in self.finding.marks(place):
                strip = highlight(strip, start, end, LOOKED_AT if looked_at else FOUND)
        selection = self.pointing.selection
        if place is not None and selection:
            span = selection.columns_on(place, self.viewport, strip.cell_length)
            if span:
                strip = highlight(strip, *span, Style(reverse=True))
        if place is not None and self.reading and place.key == self._current:
            here = Style(reverse=True)
            strip = highlight(strip, 0, 1, here) if strip.cell_length else Strip.blank(1, here)
        return strip.adjust_cell_length(width, None).apply_style(self.rich_style)

    def _first_strip(self, width: int) -> Strip:
        row = self.first_row(width) if self.first_row is not None else ()
        strip = StripMaker(styles_for(self), ascii_only=self._ascii_only).strip(row)
        return strip.adjust_cell_length(width, None).apply_style(self.rich_style)

    def on_resize(self, event: events.Resize) -> None:
        """Rows are made anew for the width."""
        self._lines = []
        self.redraw()
        self.finding.look_again()

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """As wide as there is room."""
        return container.width

    def scroll_rows(self, rows: int) -> None:
        """Up or down; what is older is asked for before the top is reached."""
        before = self.viewport.following
        self.viewport.scroll(rows)
        if rows < 0 and self.viewport.first_visible() < NEAR_TOP:
            self.post_message(self.OlderWanted())
        if before is not self.viewport.following:
            self.post_message(self.Moved())
        self.redraw()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel."""
        event.stop()
        self.scroll_rows(-WHEEL_ROWS * self.pointing.parts.wheel)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel."""
        event.stop()
        self.scroll_rows(WHEEL_ROWS * self.pointing.parts.wheel)

    def to_end(self) -> None:
        """Follow what happens."""
        self.viewport.to_end()
        self.post_message(self.Moved())
        self.redraw()

    def to_start(self) -> None:
        """The first thing that is loaded; what is older is asked for."""
        self.viewport.to_start()
        self.post_message(self.OlderWanted())
        self.post_message(self.Moved())
        self.redraw()

    def page(self, pages: float) -> None:
        """By screens, with two rows of overlap."""
        self.scroll_rows(round(pages * max(self.size.height - 2, 1)))

    # What a person looks at more closely.

    def set_density(self, density: Density) -> None:
        """How closely calls are shown, in history too; what was opened by hand closes."""
        self.viewport.density = density
        self.viewport.tools = dict(self.viewport.tools)
        self.viewport.opened.clear()
        self.redraw()

    def cycle_density(self) -> Density:
        """The next one of labels, calls, full."""
        at = DENSITIES.index(self.viewport.density)
        density = DENSITIES[(at + 1) % len(DENSITIES)]
        self.set_density(density)
        return density

    def show_reasoning(self, *, shown: bool) -> None:
        """All reasoning, or none of it."""
        self.viewport.reasoning = shown
        self.viewport.opened.clear()
        self.redraw()

    def open_at(self, index: int) -> None:
        """Open a passage one step further, or close it again."""
        passage = self.viewport.passage(index)
        opened = self.viewport.opened.get(passage.key)
        match passage:
            case BatchPassage():
                level = late.next_level(passage, self.viewport.density, self.viewport.tools, opened)
            case ReasoningPassage():
                shown = bool(opened) if opened is not None else self.viewport.reasoning
                level = 0 if shown else 2
            case ShellPassage() | DiffPassage() | PlanPassage() | WordsPassage(withdrawn=True):
                level = 0 if opened else 2
            case _:
                return
        self.viewport.opened[passage.key] = level
        self.redraw()

    # Walking through it.

    def walk(self, step: int, wanted: Callable[[Passage], bool] | None = None) -> None:
        """To the next passage in a direction, and put it on the screen."""
        port = self.viewport
        here = port.index_of(self._current) if self._current else None
        start = here + step if here is not None else (port.count - 1 if step < 0 else port.first_visible())
        found = port.near(wanted or (lambda _: True), start, step)
        if found is None:
            if step < 0:
                self.post_message(self.OlderWanted())
            return
        self._go(found, above=self.size.height // 3 if wanted is None else 1)

    def _go(self, index: int, *, above: int = 1) -> None:
        """Put a passage on the screen, if it is not there, and mark it."""
        port = self.viewport
        self._current = port.passage(index).key
        if not any(port.passage_at(y) == (index, 0) for y in range(self.size.height)):
            port.to(index, above=above)
        if index < NEAR_TOP:
            self.post_message(self.OlderWanted())
        self.post_message(self.Moved())
        self.refresh()
        self.redraw()

    def walk_prompts(self, step: int) -> None:
        """From prompt to prompt."""
        self.walk(step, lambda passage: isinstance(passage, PromptPassage))

    def current(self) -> Passage | None:
        """The passage that is walked to."""
        index = self.viewport.index_of(self._current) if self._current else None
        return self.viewport.passage(index) if index is not None else None

    def open_current(self) -> None:
        """Look more closely at where one is."""
        index = self.viewport.index_of(self._current) if self._current else None
        if index is not None:
            self.open_at(index)

    def copy_current(self) -> None:
        """The words of where one is."""
        passage = self.current()
        if passage is not None:
            self.post_message(self.Copied(passage_words(passage)))

    def search(self, text: str) -> bool:
        """To the nearest place upwards that holds these words; whether there is one."""
        self.finding.search(text)
        self.refresh()
        return self.find_on(-1)

    def find_on(self, step: int) -> bool:
        """To the next place in a direction, once around; whether there is one."""
        port = self.viewport
        last = port.passage_at(min(self.size.height, port.visible_rows) - 1) or (port.count, 0)
        hit = self.finding.step(step, last if step < 0 else port.passage_at(0) or (0, 0))
        index = port.index_of(hit.key) if hit is not None else None
        if hit is None or index is None:
            return False
        self._current = hit.key
        row = hit.pieces[0].row
        port.lines()
        if not any(port.passage_at(y) == (index, row) for y in range(self.size.height)):
            port.to(index, row=row, above=self.size.height // 3)
        if index < NEAR_TOP:
            self.post_message(self.OlderWanted())
        self.post_message(self.Moved())
        self.refresh()
        self.redraw()
        return True

    def unmark(self) -> None:
        """Nobody walks through it any more; marks go."""
        self.reading = False
        self._current = ""
        self.finding.end()
        self.refresh()

    def stop_reading(self) -> None:
        """Back to the end."""
        self.unmark()
        self.to_end()

    # The mouse.

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """A selection may begin."""
        self.pointing.press(event)
        self.refresh()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """It grows; above and below the rows the screen moves along for as long as the button is held there."""
        beyond = self.pointing.move(event)
        if beyond and self._edge is None:
            self._at_edge()
        elif self.pointing.selection.dragging:
            self.refresh()

    def _at_edge(self) -> None:
        """One row further, and again in a moment while the button is held."""
        beyond = self.pointing.beyond
        self._edge = self.set_timer(EDGE_S, self._at_edge) if beyond else None
        if beyond:
            self.scroll_rows(beyond)
            self.pointing.extend(0 if beyond < 0 else self.size.width - 1, beyond * self.size.height)
            self.refresh()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """What was selected is copied."""
        self._follow(self.pointing.release())

    def on_click(self, event: events.Click) -> None:
        """A click opens what is there, or selects a word, a line, a passage."""
        self._follow(self.pointing.click(event))

    def _follow(self, asked: Pointed) -> None:
        if asked.copy:
            self.post_message(self.Copied(asked.copy))
        if asked.open is not None:
            self.open_at(asked.open)
        else:
            self.redraw()
        self.refresh()
