"""Programs that were found and are not approved: each exactly as it would run, and the choice which of them may."""

from collections.abc import Sequence

from clew.presentation.approval_text import one_line
from clew.presentation.program_offer import OfferedProgram, ProgramOffer, offer_of_hooks, offer_of_servers
from clew.presentation.rows.spans import Row, Span, preformatted, wrapped
from clew.protocol.events import Event, HooksChanged, HooksOffered, McpServersChanged, McpServersOffered
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.hooks import HooksListed
from clew.protocol.lookups.mcp import McpServersListed
from clew.text.terminal_text import reveal, warnings
from clew.tui.dialogs.base import QUIET_S, Dialog
from clew.tui.dialogs.options import NOWHERE, Option
from clew.tui.dialogs.registry import DialogContext

BAR = (Span("│ ", "dim"),)


def open_dialog(event: Event, context: DialogContext) -> Dialog:
    """For the registry."""
    assert isinstance(event, HooksOffered | McpServersOffered)
    return ProgramOfferDialog(event)


class ProgramOfferDialog(Dialog):
    """One offer. Nothing is chosen in advance; Esc is "not now"."""

    def __init__(self, event: HooksOffered | McpServersOffered, *, quiet_s: float = QUIET_S) -> None:
        super().__init__(quiet_s=quiet_s)
        self.offer: ProgramOffer = (
            offer_of_hooks(event.hooks) if isinstance(event, HooksOffered) else offer_of_servers(event.servers)
        )
        self._of_hooks = isinstance(event, HooksOffered)
        self._choosing = False
        self._ticked: set[str] = set()

    def title(self) -> str:
        count, kind = len(self.offer.programs), self.offer.kind
        return f"Let this {kind} run?" if count == 1 else f"Let these {count} {kind}s run?"

    def begin(self) -> None:
        self._offer_answers()

    def _offer_answers(self) -> None:
        self._choosing = False
        single = len(self.offer.programs) == 1
        found = [Option(value="all", key="a", label=(Span("Approve" if single else "Approve all"),))]
        if not single:
            found.append(Option(value="choose", key="c", label=(Span("Choose which"),)))
        found.append(Option(value="later", key="n", label=(Span("Not now"), Span("  Esc", "dim"))))
        self.options.set(found, cursor=NOWHERE)
        self.redraw()

    def _offer_rows(self, *, cursor: int) -> None:
        self._choosing = True
        rows = [self._row(number, one) for number, one in enumerate(self.offer.programs, start=1)]
        self.options.set(rows, cursor=cursor)
        self.redraw()

    def _row(self, number: int, one: OfferedProgram) -> Option:
        label = (Span(one.heading.partition(", in ")[0]), Span(f"  {one_line(one.text)}", "code"))
        key = str(number) if number < 10 else " "
        return Option(value=one.digest, key=key, label=label, checked=one.digest in self._ticked)

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
                self.finish(self.offer.approve(tuple(one.digest for one in self.offer.programs)))
            case "choose":
                self._offer_rows(cursor=0)
            case _:
                self.dismiss()

    def toggled(self, place: int) -> None:
        self._ticked ^= {self.options.items[place].value}
        self._offer_rows(cursor=place)

    def _approve_ticked(self) -> None:
        if self._ticked:
            ticked = tuple(one.digest for one in self.offer.programs if one.digest in self._ticked)
            self.finish(self.offer.approve(ticked))
        else:
            self.say("Nothing is ticked. Esc goes back.")

    def back(self) -> None:
        if self._choosing:
            self._offer_answers()
        else:
            self.dismiss()

    def settled_by(self, event: Event | Answer) -> bool:
        """Another front end, or a command, decided about all of them."""
        match event:
            case HooksListed() | HooksChanged() if self._of_hooks:
                rows = event.hooks
            case McpServersListed() | McpServersChanged() if not self._of_hooks:
                rows = event.servers
            case _:
                return False
        waiting = {row.digest for row in rows if row.state == "unapproved"}
        return not any(one.digest in waiting for one in self.offer.programs)

    def body_rows(self, columns: int) -> Sequence[Row]:
        rows = [row for text in self.offer.meaning for row in wrapped((Span(text, "dim"),), columns)]
        for number, one in enumerate(self.offer.programs, start=1):
            rows += wrapped((Span(f"{number}. {one.heading}"),), columns, hang=(Span("   "),))
            lines: list[Row] = [(Span(line, "code"),) for line in reveal(one.text).split("\n")]
            rows += preformatted(lines, columns, indent=BAR)
            for note in one.notes:
                rows += wrapped((Span(f"   {one_line(note)}", "dim"),), columns, hang=(Span("   "),))
            for text in warnings(one.text):
                rows += wrapped((Span(f"Careful: the command {text}", "warning"),), columns, hang=(Span("  "),))
        return rows
