"""Whether a directory is trusted, asked before anything of it is read."""

from collections.abc import Callable, Sequence

from clew.presentation.rows.spans import Row, Span, preformatted, wrapped
from clew.text.terminal_text import reveal
from clew.text.terminal_text import warnings as warnings_about
from clew.tui.dialogs.base import QUIET_S
from clew.tui.dialogs.choice import ChoiceDialog, ChoiceWay

MEANING = (
    "If you trust it, its memory files, settings, skills and commands are read and its git state is looked at.",
    "If not, clew works without them.",
)


class TrustDialog(ChoiceDialog):
    """There is no session yet, so the answer goes to whoever asked: once, true or false. Esc is a no."""

    heading = "Do you trust this directory?"
    escape = "Esc does not"

    def __init__(self, path: str, answer: Callable[[bool], None], *, quiet_s: float = QUIET_S) -> None:
        ways = (
            ChoiceWay(key="y", label="Trust it", detail="kept for this directory"),
            ChoiceWay(key="n", label="Go on without trusting it"),
        )
        super().__init__(ways, quiet_s=quiet_s)
        self._path = path
        self._answer = answer
        self._given = False

    def body_rows(self, columns: int) -> Sequence[Row]:
        rows = wrapped((Span("clew has not worked here before:"),), columns)
        lines: list[Row] = [(Span(line, "code"),) for line in reveal(self._path).split("\n")]
        rows += preformatted(lines, columns, indent=(Span("│ ", "dim"),))
        for text in warnings_about(self._path):
            rows += wrapped((Span(f"Careful: the path {text}", "warning"),), columns)
        rows.append(())
        for text in MEANING:
            rows += wrapped((Span(text),), columns)
        return rows

    def taken(self, way: ChoiceWay) -> None:
        self._give(trusted=way.key == "y")

    def back(self) -> None:
        self._give(trusted=False)

    def _give(self, *, trusted: bool) -> None:
        if not self._given:
            self._given = True
            self._answer(trusted)
            self.finish()
