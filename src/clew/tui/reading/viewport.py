"""What of the transcript is on the screen. It stands by a passage, not a row number: what is above does not move it."""

from collections.abc import Callable, Sequence

from msgspec import Struct
from rich.style import Style
from textual.strip import Strip

from clew.config.schema import Density
from clew.presentation.rows import late
from clew.presentation.rows.passage_rows import MARGIN, View, passage_rows
from clew.presentation.rows.spans import Row
from clew.presentation.story.passages import BatchPassage, NotePassage, Passage, RecapPassage, TurnPassage, WordsPassage
from clew.tui.reading.strips import StripMaker

MAX_CACHED = 300
"""Passages whose strips are kept; a screen shows far fewer."""
TIGHT = (BatchPassage, NotePassage)
"""Kinds that stand close together when several follow each other."""


class Place(Struct, frozen=True):
    """A row of a passage."""

    key: str
    row: int


class Drawn(Struct):
    """A passage as it was drawn."""

    passage: Passage
    view: View
    apart: bool
    """A blank row stands before it."""
    rows: list[Row]
    strips: list[Strip]


class Viewport:
    """Follows the end, or stands where a person scrolled to."""

    def __init__(self, maker: StripMaker) -> None:
        self._maker = maker
        self._told: tuple[Passage, ...] = ()
        self._past: tuple[Passage, ...] = ()
        """What of the told is shown at all."""
        self._now: tuple[Passage, ...] = ()
        self._columns = 80
        self._height = 24
        self.density: Density = "labels"
        self.tools: dict[str, Density] = {}
        self.reasoning = False
        self.cwd = ""
        self.opened: dict[str, int] = {}
        """How far a person opened which passage."""
        self._drawn: dict[str, Drawn] = {}
        self._growing: dict[str, late.GrowingMarkdown] = {}
        self._top: Place | None = None
        """The first row on the screen; None: the end is followed."""
        self._at = 0
        """Where the passage of `_top` was found last."""
        self._behind = 0
        """How many passages there were from there to the end."""
        self._visible: list[tuple[int, int]] = []

    @property
    def following(self) -> bool:
        """The newest row is at the bottom."""
        return self._top is None

    @property
    def count(self) -> int:
        """How many passages there are."""
        return len(self._past) + len(self._now)

    def passage(self, index: int) -> Passage:
        """The passage at this place of the story."""
        return self._past[index] if index < len(self._past) else self._now[index - len(self._past)]

    def use(self, maker: StripMaker) -> None:
        """Other colours from now on."""
        self._maker = maker
        self._drawn.clear()

    def show(self, past: tuple[Passage, ...], now: tuple[Passage, ...]) -> None:
        """The story so far. What stands on the screen stays, unless the end is followed."""
        if past is not self._told:
            self._told, self._past = past, tuple(filter(_shown, past))
        self._now = tuple(filter(_shown, now))
        if not now:
            self._growing.clear()

    def resize(self, columns: int, height: int) -> None:
        """Another size; what stands at the top stays there."""
        if columns != self._columns:
            self._growing.clear()
        self._columns, self._height = max(columns, 1), max(height, 1)

    def lines(self) -> list[Strip]:
        """The strips on the screen, from the top; fewer when there are fewer."""
        self._visible = self._from_top() if self._top is not None else self._from_end()
        strips = [self._block(index)[row] for index, row in self._visible]
        if len(self._drawn) > MAX_CACHED:
            self._forget()
        return strips

    @property
    def visible_rows(self) -> int:
        """How many rows are on the screen."""
        return len(self._visible)

    def passage_at(self, y: int) -> tuple[int, int] | None:
        """Which passage, and which of its rows, stands at this line of the screen."""
        return self._visible[y] if 0 <= y < len(self._visible) else None

    def place_at(self, y: int) -> Place | None:
        """The same, by the passage's key: it holds when the screen moves."""
        found = self.passage_at(y)
        return Place(self.passage(found[0]).key, found[1]) if found else None

    def scroll(self, rows: int) -> bool:
        """Move by rows, down when positive; whether anything moved."""
        before = self._visible[:1]
        if not self._visible:
            self.lines()
        if not self._visible:
            return False
        index, row = self._visible[0]
        if rows < 0:
            self._stand(*self._back(index, row, -rows))
        elif self._top is not None:
            self._stand(*self._forward(index, row, rows))
            if self._ends_on_screen():
                self._top = None
        self.lines()
        return self._visible[:1] != before

    def to_end(self) -> None:
        """Follow the end."""
        self._top = None

    def to_start(self) -> None:
        """The first row there is."""
        if self.count:
            self._stand(0, 0)

    def to(self, index: int, *, row: int = 0, above: int = 0) -> None:
        """Put a row of a passage at the top, with some rows above it."""
        if 0 <= index < self.count:
            self._stand(*self._back(index, row, above))
            if self._ends_on_screen():
                self._top = None

    def index_of(self, key: str) -> int | None:
        """Where the passage of this key stands; looked for around where it stood."""
        if self._at < self.count and self.passage(self._at).key == key:
            return self._at
        for index in range(self.count - 1, -1, -1):
            if self.passage(index).key == key:
                return index
        return None

    def first_visible(self) -> int:
        """The passage at the top of the screen."""
        return self._visible[0][0] if self._visible else 0

    def rows_of(self, index: int) -> Sequence[Row]:
        """The rows of a passage as they are drawn, a blank one before it included where there is one."""
        self._block(index)
        return self._drawn[self.passage(index).key].rows

    @property
    def columns(self) -> int:
        """How wide it is."""
        return self._columns

    def is_apart(self, index: int) -> bool:
        """Whether a blank row stands before a passage."""
        return bool(index) and self._apart(self.passage(index - 1), self.passage(index))

    def opened_rows(self, index: int, level: int) -> Sequence[Row]:
        """The rows that a passage would have if it were open so far."""
        passage = self.passage(index)
        if self.opened.get(passage.key) == level:
            return self.rows_of(index)
        rows = self._rows(passage, self._view(passage, level))
        return [(), *rows] if rows and self.is_apart(index) else rows

    def _view(self, passage: Passage, opened: int | None) -> View:
        return View(
            columns=self._columns,
            density=self.density,
            tools=self.tools,
            opened=opened,
            reasoning=self.reasoning,
            cwd=self.cwd,
        )

    def near(self, wanted: Callable[[Passage], bool], start: int, step: int) -> int | None:
        """The next passage of a kind in a direction."""
        index = start
        while 0 <= index < self.count:
            if wanted(self.passage(index)):
                return index
            index += step
        return None

    def _stand(self, index: int, row: int) -> None:
        self._at = index
        self._top = Place(self.passage(index).key, row)

    def _from_end(self) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for index in range(self.count - 1, -1, -1):
            size = len(self._block(index))
            found[:0] = [(index, row) for row in range(size)]
            if len(found) >= self._height:
                break
        return found[-self._height :]

    def _from_top(self) -> list[tuple[int, int]]:
        assert self._top is not None
        start = self.index_of(self._top.key)
        if start is None:  # told anew with what came before it: as far from the end as it was
            start = max(self.count - self._behind, 0)
        self._at, self._behind = start, self.count - start
        found: list[tuple[int, int]] = []
        for index in range(start, self.count):
            size = len(self._block(index))
            first = min(self._top.row, max(size - 1, 0)) if index == start else 0
            found += [(index, row) for row in range(first, size)]
            if len(found) >= self._height:
                break
        if len(found) < self._height:
            return self._from_end()
        return found[: self._height]

    def _ends_on_screen(self) -> bool:
        visible = self._from_top() if self._top is not None else []
        last = self.count - 1
        return bool(visible) and visible[-1] == (last, len(self._block(last)) - 1)

    def _back(self, index: int, row: int, rows: int) -> tuple[int, int]:
        while rows > row and index > 0:
            rows -= row + 1
            index -= 1
            row = len(self._block(index)) - 1
        return index, max(row - rows, 0)

    def _forward(self, index: int, row: int, rows: int) -> tuple[int, int]:
        while index < self.count - 1 and row + rows >= len(self._block(index)):
            rows -= len(self._block(index)) - row
            index, row = index + 1, 0
        return index, min(row + rows, max(len(self._block(index)) - 1, 0))

    def _block(self, index: int) -> list[Strip]:
        """The strips of a passage, made when they are first needed."""
        passage = self.passage(index)
        view = self._view(passage, self.opened.get(passage.key))
        apart = self.is_apart(index)
        drawn = self._drawn.get(passage.key)
        if drawn is not None and drawn.passage is passage and drawn.view == view and drawn.apart is apart:
            return drawn.strips
        rows = self._rows(passage, view)
        if rows and apart:
            rows = [(), *rows]
        if drawn is not None and drawn.apart is not apart and self._top is not None and self._top.key == passage.key:
            # Something came before what was the first of all: the row a person stands on is one further down in it.
            self._top = Place(passage.key, max(self._top.row + (1 if apart else -1), 0))
        old = drawn if drawn is not None and drawn.view == view else None
        known = dict(zip(map(id, old.rows), old.strips, strict=True)) if old is not None else {}
        strips = [known.get(id(row)) or self._maker.strip(row) for row in rows]
        self._drawn[passage.key] = Drawn(passage, view, apart, rows, strips)
        return strips

    def _rows(self, passage: Passage, view: View) -> list[Row]:
        if not (isinstance(passage, WordsPassage) and passage.growing):
            return passage_rows(passage, view)
        if passage.key not in self._growing:
            self._growing[passage.key] = late.GrowingMarkdown(view.text_columns, margin=MARGIN)
        return self._growing[passage.key].rows(passage.text)

    @staticmethod
    def _apart(before: Passage, passage: Passage) -> bool:
        """Whether a blank row stands between two passages."""
        if isinstance(before, RecapPassage) and isinstance(passage, TurnPassage):
            return False
        return not (isinstance(before, TIGHT) and type(before) is type(passage))

    def _forget(self) -> None:
        """Keep the strips of what is on the screen and near it."""
        first = max(self.first_visible() - MAX_CACHED // 4, 0)
        last = (self._visible[-1][0] if self._visible else 0) + MAX_CACHED // 4
        keys = {self.passage(index).key for index in range(first, min(last + 1, self.count))}
        self._drawn = {key: drawn for key, drawn in self._drawn.items() if key in keys}


def _shown(passage: Passage) -> bool:
    """Small changes are told by header and footer."""
    return not (isinstance(passage, NotePassage) and passage.minor)


def highlight(strip: Strip, start: int, end: int, style: Style) -> Strip:
    """The strip with some of its columns in another style."""
    if start >= end:
        return strip
    parts = list(strip.divide([start, end, max(strip.cell_length, end)]))
    if len(parts) > 1:
        parts[1] = parts[1].apply_style(style)
    return Strip.join(parts)
