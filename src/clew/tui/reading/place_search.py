"""Finding words in the transcript: every place that holds them, in order, and the one that is looked at.

Places are counted in passages as they look when they are open, so that what is folded is found too; it is opened when a
person comes to it, and folded again when the search ends.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from clew.presentation.rows.spans import Row, goes_on
from clew.presentation.story.passages import (
    BatchPassage,
    DiffPassage,
    Passage,
    PlanPassage,
    ReasoningPassage,
    ShellPassage,
    WordsPassage,
)
from clew.presentation.story.words import searched_words
from clew.text.terminal_text import clusters
from clew.tui.reading.viewport import Place, Viewport

OPEN = 2
"""How far a passage is opened for a hit: all of it."""
FOLDING = (BatchPassage, ShellPassage, DiffPassage, ReasoningPassage, PlanPassage, WordsPassage)
_TOKENS = re.compile(r"\w+")


class FoundColumns(Struct, frozen=True):
    """The columns of one row that a hit takes."""

    row: int
    start: int
    end: int


class FoundPlace(Struct, frozen=True):
    """One place: a passage and the pieces of its rows, as they are when it is open."""

    key: str
    pieces: tuple[FoundColumns, ...]


class PlaceSearch:
    """One search over a viewport; empty words: none."""

    def __init__(self, viewport: Viewport) -> None:
        self._viewport = viewport
        self.words = ""
        self._pattern: re.Pattern[str] | None = None
        self._hits: list[FoundPlace] = []
        self.at: int | None = None
        """Which of the hits is looked at."""
        self._known: dict[str, tuple[Passage, int, bool, list[FoundPlace]]] = {}
        self._marked: dict[str, tuple[Sequence[Row], dict[int, list[FoundColumns]]]] = {}
        self._folded: dict[str, int | None] = {}
        """What was opened for a hit, and how far it was open before."""

    @property
    def count(self) -> int:
        """How many places there are."""
        return len(self._hits)

    @property
    def current(self) -> FoundPlace | None:
        """The place that is looked at."""
        return self._hits[self.at] if self.at is not None and self.at < len(self._hits) else None

    def search(self, words: str) -> int:
        """Look for words, in capitals or not; blanks stand for any blanks. How many places hold them."""
        self.end()
        self.words = words.strip()
        parts = [re.escape(part) for part in words.split()]
        self._pattern = re.compile(r"\s+".join(parts), re.IGNORECASE) if parts else None
        return self.look_again()

    def look_again(self) -> int:
        """Count anew, where passages came, changed or are set at another width; the place stays the same one."""
        if self._pattern is None:
            return 0
        kept = self.current
        tokens = [token.lower() for token in _TOKENS.findall(self.words)]
        self._hits = []
        for index in range(self._viewport.count):
            self._hits += self._in_passage(index, tokens)
        self.at = self._hits.index(kept) if kept in self._hits else None
        return self.count

    def step(self, direction: int, around: tuple[int, int]) -> FoundPlace | None:
        """The next place in a direction, once around; the first time the nearest to a passage and row. What is folded
        is opened."""
        if not self._hits:
            return None
        if self.at is None:
            places = {self._viewport.passage(index).key: index for index in range(self._viewport.count)}
            order = [(places[hit.key], hit.pieces[0].row) for hit in self._hits]
            before = [at for at, place in enumerate(order) if place <= around]
            self.at = before[-1] if before else len(order) - 1
            if direction > 0:
                after = [at for at, place in enumerate(order) if place >= around]
                self.at = after[0] if after else 0
        else:
            self.at = (self.at + direction) % len(self._hits)
        hit = self._hits[self.at]
        self._open(hit.key)
        return hit

    def end(self) -> None:
        """No search any more; what it opened is folded again."""
        for key, level in self._folded.items():
            if level is None:
                self._viewport.opened.pop(key, None)
            else:
                self._viewport.opened[key] = level
        self._folded.clear()
        self._known.clear()
        self._marked.clear()
        self._hits = []
        self.at, self.words, self._pattern = None, "", None

    def marks(self, place: Place) -> Iterator[tuple[int, int, bool]]:
        """The columns of a row on the screen that hold the words, and whether it is the place that is looked at."""
        index = self._viewport.index_of(place.key) if self._pattern is not None else None
        if index is None or self._pattern is None:
            return
        rows = self._viewport.rows_of(index)
        known = self._marked.get(place.key)
        if known is None or known[0] is not rows:
            found: dict[int, list[FoundColumns]] = {}
            for pieces in _places(rows, self._pattern):
                for piece in pieces:
                    found.setdefault(piece.row, []).append(piece)
            known = self._marked[place.key] = (rows, found)
        current = self.current
        looked_at = current.pieces if current is not None and current.key == place.key else ()
        for piece in known[1].get(place.row, ()):
            yield piece.start, piece.end, piece in looked_at

    def _in_passage(self, index: int, tokens: list[str]) -> list[FoundPlace]:
        passage = self._viewport.passage(index)
        columns, apart = self._viewport.columns, self._viewport.is_apart(index)
        known = self._known.get(passage.key)
        if known is not None and known[0] is passage and known[1:3] == (columns, apart):
            return known[3]
        hits: list[FoundPlace] = []
        text = searched_words(passage).lower()
        if self._pattern is not None and all(token in text for token in tokens):
            rows = self._viewport.opened_rows(index, OPEN)
            hits = [FoundPlace(passage.key, pieces) for pieces in _places(rows, self._pattern)]
        self._known[passage.key] = (passage, columns, apart, hits)
        return hits

    def _open(self, key: str) -> None:
        index = self._viewport.index_of(key)
        if index is None or not isinstance(self._viewport.passage(index), FOLDING):
            return
        before = self._viewport.opened.get(key)
        if before != OPEN:
            self._folded.setdefault(key, before)
            self._viewport.opened[key] = OPEN


def _places(rows: Sequence[Row], pattern: re.Pattern[str]) -> Iterator[tuple[FoundColumns, ...]]:
    """Every place in the lines of some rows; one that was broken for want of room is one place in several pieces."""
    first = 0
    for last, row in enumerate(rows):
        if goes_on(row) is not None and last < len(rows) - 1:
            continue
        lines = range(first, last + 1)
        first = last + 1
        text = "".join(_text(rows[at]) for at in lines)
        if pattern.search(text):
            cells = [cell for at in lines for cell in _cells(at, rows[at])]
            yield from (_pieces(cells, found.start(), found.end()) for found in pattern.finditer(text))


def _text(row: Row) -> str:
    """What is somebody's in a row, with what stands between it and the next one of its line."""
    return "".join(span.text for span in row if span.source != "") + (goes_on(row) or "")


def _cells(at: int, row: Row) -> Iterator[tuple[int, int, int]]:
    """For each character of `_text` its row and columns."""
    column = 0
    for span in row:
        for cluster, width in clusters(span.text):
            if span.source != "":
                yield from [(at, column, column + width)] * len(cluster)
            column += width
    yield from [(at, column, column)] * len(goes_on(row) or "")


def _pieces(cells: list[tuple[int, int, int]], start: int, end: int) -> tuple[FoundColumns, ...]:
    spans: dict[int, tuple[int, int]] = {}
    for row, first, last in cells[start:end]:
        known = spans.get(row, (first, last))
        spans[row] = (min(known[0], first), max(known[1], last))
    return tuple(FoundColumns(row, first, last) for row, (first, last) in spans.items() if first < last)
