"""How the rows of a dialog are shared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.tui.dialogs.layout import LayoutPart, rows_allowed, shared

HEADING = LayoutPart(wants=1, least=1)
GAP = LayoutPart(wants=1, least=0)
HINT = LayoutPart(wants=1, least=1)


def text(rows: int) -> LayoutPart:
    return LayoutPart(wants=rows, least=min(rows, 3))


@pytest.mark.parametrize(
    ("parts", "room", "rows"),
    [
        ([HEADING, text(2), text(4), GAP, HINT], 20, [1, 2, 4, 1, 1]),
        ([HEADING, text(2), text(4), GAP, HINT], 8, [1, 2, 4, 0, 1]),
        ([HEADING, text(90), text(5), GAP, HINT], 14, [1, 7, 5, 0, 1]),
        ([HEADING, text(90), text(90), GAP, HINT], 14, [1, 6, 6, 0, 1]),
        ([HEADING, text(150_000), text(5), GAP, HINT], 10, [1, 4, 4, 0, 1]),
        ([HEADING, text(9), text(9), GAP, HINT], 6, [1, 3, 2, 0, 0]),
        ([HEADING, text(9)], 0, [0, 0]),
        ([], 5, []),
    ],
)
def test_what_scrolls_gives_way(parts: list[LayoutPart], room: int, rows: list[int]) -> None:
    assert shared(parts, room) == rows


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 4))), st.integers(0, 80))
def test_never_more_than_there_is_nor_than_is_wanted(sizes: list[tuple[int, int]], room: int) -> None:
    parts = [LayoutPart(wants=wants, least=min(wants, least)) for wants, least in sizes]
    rows = shared(parts, room)
    assert sum(rows) <= room
    assert all(0 <= given <= part.wants for given, part in zip(rows, parts, strict=True))
    if sum(part.wants for part in parts) <= room:
        assert rows == [part.wants for part in parts]


@pytest.mark.parametrize(("screen", "rows"), [(40, 28), (24, 16), (20, 14), (12, 11), (5, 4), (1, 0)])
def test_the_conversation_stays_in_sight(screen: int, rows: int) -> None:
    assert rows_allowed(screen) == rows
