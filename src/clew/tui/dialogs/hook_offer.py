"""Hooks that were found and are not approved: each command exactly, and the choice which of them may run."""

from collections.abc import Sequence

from clew.commands.hooks import moment_words
from clew.presentation.approval_text import one_line
from clew.presentation.rows import Row, Span, preformatted, wrapped
from clew.protocol.events import Event, HookRow, HooksListed, HooksOffered
from clew.protocol.ops import ApproveHooks
from clew.system.terminal_text import reveal, warnings
from clew.tui.dialogs.base import QUIET_S, Dialog
from clew.tui.dialogs.options import NOWHERE, Option
from clew.tui.dialogs.registry import DialogContext

BAR = (Span("│ ", "dim"),)
MEANING = (
    "Hooks run commands at set moments, outside the sandbox, with your rights.",
    "Approved is exactly what stands here: a change asks again.",
)


def open_dialog(event: Event, context: DialogContext) -> Dialog:
    """For the registry."""
    assert isinstance(event, HooksOffered)
    return HookOfferDialog(event)


class HookOfferDialog(Dialog):
    """One HooksOffered. Nothing is chosen in advance; Esc is "not now"."""

    def __init__(self, event: HooksOffered, *, quiet_s: float = QUIET_S) -> None:
        super().__init__(quiet_s=quiet_s)
        self.rows = event.hooks
        self._choosing = False
        self._ticked: set[str] = set()

    def title(self) -> str:
        return "Let this hook run?" if len(self.rows) == 1 else f"Let these {len(self.rows)} hooks run?"

    def begin(self) -> None:
        self._offer_answers()

    def _offer_answers(self) -> None:
        self._choosing = False
        found = [Option(value="all", key="a", label=(Span("Approve" if len(self.rows) == 1 else "Approve all"),))]
        if len(self.rows) > 1:
            found.append(Option(value="choose", key="c", label=(Span("Choose which"),)))
        found.append(Option(value="later", key="n", label=(Span("Not now"), Span("  Esc", "dim"))))
        self.options.set(found, cursor=NOWHERE)
        self.redraw()

    def _offer_rows(self, *, cursor: int) -> None:
        self._choosing = True
        rows = [self._row(number, row) for number, row in enumerate(self.rows, start=1)]
        self.options.set(rows, cursor=cursor)
        self.redraw()

    def _row(self, number: int, row: HookRow) -> Option:
        label = (Span(one_line(moment_words(row))), Span(f"  {one_line(row.command)}", "code"))
        key = str(number) if number < 10 else " "
        return Option(value=row.digest, key=key, label=label, checked=row.digest in self._ticked)

    def hint(self) -> str:
        if self._choosing:
            return "Space or numbers tick · Enter approves what is ticked · Esc back"
        scroll = " · PgUp PgDn scroll" if self.body.max_scroll_y else ""
        return f"letters, or ↑ ↓ and Enter{scroll} · Esc: not now"

    def chosen(self, place: int) -> None:
        if self._choosing:
            self._approve_ticked()
            return
        match self.options.items[place].value:
            case "all":
                self.finish(ApproveHooks(digests=tuple(row.digest for row in self.rows)))
            case "choose":
                self._offer_rows(cursor=0)
            case _:
                self.dismiss()

    def toggled(self, place: int) -> None:
        self._ticked ^= {self.options.items[place].value}
        self._offer_rows(cursor=place)

    def _approve_ticked(self) -> None:
        if self._ticked:
            self.finish(ApproveHooks(digests=tuple(row.digest for row in self.rows if row.digest in self._ticked)))
        else:
            self.say("Nothing is ticked. Esc goes back.")

    def back(self) -> None:
        if self._choosing:
            self._offer_answers()
        else:
            self.dismiss()

    def settled_by(self, event: Event) -> bool:
        """Another front end, or a command, decided about all of them."""
        if not isinstance(event, HooksListed):
            return False
        waiting = {row.digest for row in event.hooks if row.state == "unapproved"}
        return not any(row.digest in waiting for row in self.rows)

    def body_rows(self, columns: int) -> Sequence[Row]:
        rows = [row for text in MEANING for row in wrapped((Span(text, "dim"),), columns)]
        for number, hook in enumerate(self.rows, start=1):
            heading = f"{number}. {one_line(moment_words(hook))}, in {one_line(hook.source)}"
            rows += wrapped((Span(heading),), columns, hang=(Span("   "),))
            lines: list[Row] = [(Span(line, "code"),) for line in reveal(hook.command).split("\n")]
            rows += preformatted(lines, columns, indent=BAR)
            for text in warnings(hook.command):
                rows += wrapped((Span(f"Careful: the command {text}", "warning"),), columns, hang=(Span("  "),))
        return rows
