"""How the parts of a dialog share its rows: what must be read keeps its room, what scrolls gives way."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct
from textual.geometry import NULL_OFFSET, Region, Size, Spacing
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.widget import Widget

MAX_SHARE = 0.7
"""Of the rows of the screen; the conversation stays in sight above."""
MIN_ROWS = 14
"""A low screen gives all but one of its rows, up to this many."""
WIDE = 98
"""From this many columns on, a screen of 100 that is, there is room for something beside the options."""
GAP = 3
LOW_SCREEN = 24
"""Up to so many rows a dialog with much to read takes nearly all of them."""


class LayoutPart(Struct, frozen=True, kw_only=True):
    """The rows one part wants, and how few it can do with."""

    wants: int
    least: int


def rows_allowed(screen_rows: int, *, tall: bool = False) -> int:
    """How tall a dialog may be on a screen; `tall`: on a low one all but header, one row of the
    conversation, sign of life and footer."""
    usual = max(int(screen_rows * MAX_SHARE), min(screen_rows - 1, MIN_ROWS))
    return max(usual, screen_rows - 4) if tall and screen_rows <= LOW_SCREEN else usual


def shared(parts: Sequence[LayoutPart], room: int) -> list[int]:
    """Rows for each part. When there are too few, empty rows go first, then the part that has most above its least
    gives, row by row; when even that is too much, the last parts go without."""
    tight = sum(part.wants for part in parts) > room
    given = [min(part.wants, room) if part.least or not tight else 0 for part in parts]
    while sum(given) > room:
        spare = [rows - min(part.least, rows) for rows, part in zip(given, parts, strict=True)]
        if max(spare, default=0) <= 0:
            break
        given[spare.index(max(spare))] -= 1
    for place in range(len(given) - 1, -1, -1):
        given[place] -= min(max(sum(given) - room, 0), given[place])
    return given


class Parted(Protocol):
    """What the layout asks a dialog."""

    def part(self, child: Widget, columns: int) -> LayoutPart:
        """The rows a child wants at this width."""
        ...

    def beside(self, columns: int) -> tuple[Widget, Widget] | None:
        """Two children that stand side by side at this width."""
        ...


class DialogLayout(Layout):
    """One under the other over the whole width, except for the two that stand side by side."""

    name = "dialog"

    def __init__(self, dialog: Parted) -> None:
        self._dialog = dialog

    def height(self, children: Sequence[Widget], columns: int) -> int:
        """Rows the children want together."""
        return sum(part.wants for _, part in self._stacked(children, columns))

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> ArrangeResult:
        parent.pre_layout(self)
        stacked = self._stacked(children, size.width)
        placed: list[WidgetPlacement] = []
        pair = self._dialog.beside(size.width)
        y = 0
        for (child, _), rows in zip(stacked, shared([part for _, part in stacked], size.height), strict=True):
            if pair is not None and child is pair[0]:
                left = left_columns(size.width)
                placed.append(_at(child, 0, y, left, rows))
                placed.append(_at(pair[1], left + GAP, y, size.width - left - GAP, rows))
            else:
                placed.append(_at(child, 0, y, size.width, rows))
            y += rows
        return placed

    def _stacked(self, children: Sequence[Widget], columns: int) -> list[tuple[Widget, LayoutPart]]:
        pair = self._dialog.beside(columns)
        found: list[tuple[Widget, LayoutPart]] = []
        for child in children:
            if pair is not None and child is pair[1]:
                continue
            if pair is not None and child is pair[0]:
                left = left_columns(columns)
                one, other = self._dialog.part(child, left), self._dialog.part(pair[1], columns - left - GAP)
                found.append((child, LayoutPart(wants=max(one.wants, other.wants), least=one.least)))
            else:
                found.append((child, self._dialog.part(child, columns)))
        return found


def left_columns(columns: int) -> int:
    """The wider part of two that stand side by side."""
    return columns * 11 // 20


def _at(child: Widget, x: int, y: int, columns: int, rows: int) -> WidgetPlacement:
    return WidgetPlacement(Region(x, y, columns, rows), NULL_OFFSET, Spacing(), child)
