"""Before leaving: what quitting would end, and what stays."""

from collections.abc import Sequence

from clew.presentation.rows.spans import Row, Span, wrapped
from clew.protocol.ops import Close, Leave
from clew.text.terminal_text import sanitize
from clew.tui.dialogs.base import QUIET_S
from clew.tui.dialogs.choice import ChoiceDialog, ChoiceWay

MAX_ENDED = 8


def made_of(ends: Sequence[str], attended: bool = False, *, kept: bool = True) -> "QuitDialog":
    """For the registry. `attended`: front ends of other processes are at the session."""
    return QuitDialog(ends, attended=attended, kept=kept)


class QuitDialog(ChoiceDialog):
    """Shown only where quitting ends something."""

    heading = "Quit?"
    escape = "Esc stays"

    def __init__(
        self, ends: Sequence[str], *, attended: bool = False, kept: bool = True, quiet_s: float = QUIET_S
    ) -> None:
        ways = (
            *((ChoiceWay(key="l", label="Leave it running for the others", ops=(Leave(),)),) if attended else ()),
            ChoiceWay(key="q", label="Close it for all" if attended else "Quit", ops=(Close(),)),
            ChoiceWay(key="s", label="Stay"),
        )
        super().__init__(ways, quiet_s=quiet_s)
        self._ends = tuple(ends)
        self._kept = kept

    def body_rows(self, columns: int) -> Sequence[Row]:
        rows = wrapped((Span("Quitting ends:"),), columns)
        for text in self._ends[:MAX_ENDED]:
            rows += wrapped((Span(sanitize(text, one_line=True), "bold"),), columns, first=_POINT, hang=_UNDER)
        if len(self._ends) > MAX_ENDED:
            rows.append((Span(f"  and {len(self._ends) - MAX_ENDED} more", "warning"),))
        stays = "The conversation is kept: clew -c goes on with it." if self._kept else "Nothing of it is kept on disk."
        rows += [(), *wrapped((Span(stays, "dim" if self._kept else "warning"),), columns)]
        return rows

    def taken(self, way: ChoiceWay) -> None:
        if way.ops:
            self.finish(*way.ops)
        else:
            self.dismiss()


_POINT: Row = (Span("  · ", "dim"),)
_UNDER: Row = (Span("    "),)
