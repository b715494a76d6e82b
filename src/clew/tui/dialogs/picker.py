"""A list to choose from: typing filters it, arrows walk it, Enter takes the marked row."""

from collections.abc import Iterable

from textual.widget import Widget

from clew.tui.dialogs.base import KEYS, Dialog
from clew.tui.dialogs.layout import LayoutPart
from clew.tui.dialogs.options import NOWHERE, Option


class Picker(Dialog):
    """A person opened it, so there is no quiet time: what is typed at once already filters."""

    clicks_choose = False
    context = "picker"
    asks_for = "type to filter"
    """What stands in the empty field."""

    def __init__(self) -> None:
        super().__init__(quiet_s=0)

    @classmethod
    def usual_keys(cls) -> dict[str, str]:
        return {**KEYS, "tab": "preview"}

    def begin(self) -> None:
        self.open_field(self.asks_for)
        self.refill()

    def rows_for(self, words: list[str]) -> Iterable[Option]:
        """What there is to choose that holds all these words, in lower case."""
        return ()

    def refill(self, *, anew: bool = False) -> None:
        """Show what fits; the cursor stays with its row, or goes to the first one."""
        self.options.set(tuple(self.rows_for(self.field.value.lower().split())))
        if self.options.cursor == NOWHERE or anew:
            self.options.cursor = NOWHERE
            self.options.walk(1)
        self.pointed()
        self.redraw()

    def typed(self, text: str) -> None:
        self.refill(anew=True)

    def part(self, child: Widget, columns: int) -> LayoutPart:
        """The list keeps the height it once had, so that nothing jumps while it is filtered."""
        found = super().part(child, columns)
        return (
            LayoutPart(wants=max(found.wants, self.options.tallest), least=found.least)
            if child is self.options
            else found
        )

    def hint(self) -> str:
        return "↑ ↓ Enter · Esc closes"


def holds(text: str, words: list[str]) -> bool:
    """Whether the text holds all the words."""
    low = text.lower()
    return all(word in low for word in words)
