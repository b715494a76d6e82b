"""Where the motions of vi go: pure functions of lines and a caret."""

from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

Place = tuple[int, int]
"""Row and column."""

Kind = Literal["exclusive", "inclusive", "lines"]


class TextLines(Protocol):
    """Text by lines."""

    @property
    def count(self) -> int:
        """How many lines there are; at least one."""
        ...

    def line(self, row: int) -> str:
        """One of them."""
        ...


class Motion(NamedTuple):
    """Where it goes, and what an operator takes with it."""

    to: Place
    kind: Kind


def _class(char: str) -> int:
    if char.isspace():
        return 0
    return 1 if char.isalnum() or char == "_" else 2


def _next(lines: TextLines, place: Place) -> Place | None:
    """One character on; the end of a line counts as a blank. None at the end of the text."""
    row, column = place
    if column < len(lines.line(row)):
        return row, column + 1
    return (row + 1, 0) if row + 1 < lines.count else None


def _before(lines: TextLines, place: Place) -> Place | None:
    row, column = place
    if column > 0:
        return row, column - 1
    return (row - 1, len(lines.line(row - 1))) if row else None


def _class_at(lines: TextLines, place: Place) -> int:
    row, column = place
    line = lines.line(row)
    return _class(line[column]) if column < len(line) else 0


def word_on(lines: TextLines, caret: Place) -> Place:
    """`w`: the start of the next word; an empty line is one."""
    start = _class_at(lines, caret)
    place: Place = caret
    if start:
        while _class_at(lines, place) == start:
            place = _next(lines, place) or place
    while _class_at(lines, place) == 0:
        after = _next(lines, place)
        if after is None:
            return place
        place = after
        if place[1] == 0 and not lines.line(place[0]):
            return place
    return place


def word_back(lines: TextLines, caret: Place) -> Place:
    """`b`: the start of the word before."""
    place = _before(lines, caret)
    while place is not None and _class_at(lines, place) == 0:
        if place[1] == 0 and not lines.line(place[0]):
            return place
        place = _before(lines, place)
    if place is None:
        return 0, 0
    kind = _class_at(lines, place)
    while place[1] > 0 and _class_at(lines, (place[0], place[1] - 1)) == kind:
        place = (place[0], place[1] - 1)
    return place


def word_end(lines: TextLines, caret: Place) -> Place:
    """`e`: the last character of the word at or after the caret."""
    place = _next(lines, caret)
    while place is not None and _class_at(lines, place) == 0:
        place = _next(lines, place)
    if place is None:
        last = lines.count - 1
        return last, max(0, len(lines.line(last)) - 1)
    kind = _class_at(lines, place)
    while _class_at(lines, (place[0], place[1] + 1)) == kind:
        place = (place[0], place[1] + 1)
    return place


def first_written(lines: TextLines, row: int) -> Place:
    """`^`: the first character of a line that is no blank."""
    line = lines.line(row)
    return row, len(line) - len(line.lstrip()) if line.strip() else max(0, len(line) - 1)


def _line_end(lines: TextLines, row: int) -> Place:
    return row, max(0, len(lines.line(row)) - 1)


def _up(lines: TextLines, caret: Place) -> Place:
    row = max(0, caret[0] - 1)
    return row, min(caret[1], max(0, len(lines.line(row)) - 1))


def _down(lines: TextLines, caret: Place) -> Place:
    row = min(lines.count - 1, caret[0] + 1)
    return row, min(caret[1], max(0, len(lines.line(row)) - 1))


MOTIONS: dict[str, tuple[Kind, Callable[[TextLines, Place], Place]]] = {
    "h": ("exclusive", lambda lines, caret: (caret[0], max(0, caret[1] - 1))),
    "l": ("exclusive", lambda lines, caret: (caret[0], min(len(lines.line(caret[0])), caret[1] + 1))),
    " ": ("exclusive", lambda lines, caret: (caret[0], min(len(lines.line(caret[0])), caret[1] + 1))),
    "j": ("lines", _down),
    "k": ("lines", _up),
    "w": ("exclusive", word_on),
    "b": ("exclusive", word_back),
    "e": ("inclusive", word_end),
    "0": ("exclusive", lambda lines, caret: (caret[0], 0)),
    "^": ("exclusive", lambda lines, caret: first_written(lines, caret[0])),
    "$": ("inclusive", lambda lines, caret: _line_end(lines, caret[0])),
    "G": ("lines", lambda lines, caret: first_written(lines, lines.count - 1)),
    "gg": ("lines", lambda lines, caret: first_written(lines, 0)),
}


def motion(lines: TextLines, caret: Place, key: str, count: int | None) -> Motion:
    """Where a motion goes. A count repeats it; before `G` and `gg` it is the number of a line."""
    kind, step = MOTIONS[key]
    if key in ("G", "gg") and count is not None:
        return Motion(first_written(lines, min(max(count, 1), lines.count) - 1), kind)
    place = caret
    if key == "$" and count is not None:
        place = (min(lines.count - 1, caret[0] + count - 1), caret[1])
        count = 1
    for _ in range(min(count or 1, 10_000)):
        after = step(lines, place)
        if after == place:
            break
        place = after
    return Motion(place, kind)
