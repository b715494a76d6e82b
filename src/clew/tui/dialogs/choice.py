"""A dialog that says a few sentences and offers a few answers: what most small questions need."""

from collections.abc import Sequence

from msgspec import Struct

from clew.presentation.rows.spans import Row, Span, wrapped
from clew.protocol.ops import Op
from clew.tui.dialogs.base import QUIET_S, Dialog
from clew.tui.dialogs.options import NOWHERE, Option


class ChoiceWay(Struct, frozen=True, kw_only=True):
    """One answer and what it sends."""

    key: str
    label: str
    detail: str = ""
    ops: tuple[Op, ...] = ()


class ChoiceDialog(Dialog):
    """Sentences and ways on. Esc closes it without any of them."""

    heading = ""
    escape = "Esc closes"

    def __init__(self, ways: Sequence[ChoiceWay], *, quiet_s: float = QUIET_S) -> None:
        super().__init__(quiet_s=quiet_s)
        self.ways = tuple(ways)

    def title(self) -> str:
        return self.heading

    def sentences(self) -> Sequence[Span]:
        """What it says, one paragraph each."""
        return ()

    def body_rows(self, columns: int) -> Sequence[Row]:
        return [row for span in self.sentences() for row in wrapped((span,), columns)]

    def begin(self) -> None:
        self.options.set([_option(way) for way in self.ways], cursor=NOWHERE)
        self.redraw()

    def hint(self) -> str:
        return f"letters, numbers, or ↑ ↓ and Enter · {self.escape}"

    def chosen(self, place: int) -> None:
        self.taken(self.ways[place])

    def taken(self, way: ChoiceWay) -> None:
        """One of the ways was chosen."""
        self.finish(*way.ops)


def _option(way: ChoiceWay) -> Option:
    detail = (Span(f"  {way.detail}", "dim"),) if way.detail else ()
    return Option(value=way.key, key=way.key, label=(Span(way.label), *detail))
