"""The sessions that hold some words: each with the newest place in it, and Enter goes on with one."""

from collections.abc import Iterator

from clew.presentation.rows.spans import Row, Span, clipped, spread
from clew.protocol.events import Event
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.place import SearchHit, SearchSessions, SessionsSearched
from clew.protocol.ops import SwitchSession
from clew.text.figures import ago
from clew.text.terminal_text import sanitize
from clew.tui.dialogs.base import Dialog
from clew.tui.dialogs.options import Option
from clew.tui.dialogs.picker import Picker
from clew.tui.dialogs.registry import DialogContext

LIMIT = 50


def open_dialog(event: Event | Answer, context: DialogContext) -> Dialog:
    """For the registry."""
    assert isinstance(event, SessionsSearched)
    return SearchPicker(event)


class SearchPicker(Picker):
    """Rows of SessionsSearched. Enter in a changed field searches again, else it goes on with the marked session."""

    asks_for = "words that a session holds"

    def __init__(self, found: SessionsSearched) -> None:
        super().__init__()
        self._found = found

    def title(self) -> str:
        return "Sessions that hold these words"

    def note(self) -> str:
        unread = f", {self._found.unread:,} not read yet" if self._found.unread else ""
        return f"{len(self._found.hits):,} found{unread}"

    def begin(self) -> None:
        self.open_field(self.asks_for, self._found.query)
        self.refill()

    def rows_for(self, words: list[str]) -> Iterator[Option]:
        for number, hit in enumerate(self._found.hits):
            yield Option(value=str(number), rows=lambda columns, hit=hit: _hit_rows(hit, columns))

    def typed(self, text: str) -> None:
        self.redraw()

    def hint(self) -> str:
        if self.field.value.strip() != self._found.query:
            return "Enter searches · Esc closes"
        return (
            "↑ ↓ Enter goes on with it · Esc closes" if self._found.hits else "Nothing holds these words · Esc closes"
        )

    def entered(self, text: str) -> None:
        wanted = text.strip()
        if wanted and wanted != self._found.query:
            self._search(wanted)

    def chosen(self, place: int) -> None:
        wanted = self.field.value.strip()
        if wanted and wanted != self._found.query:
            self._search(wanted)
            return
        row = self._found.hits[place].session
        alone = sum(hit.session.session_id == row.session_id for hit in self._found.hits) == 1
        self.finish(SwitchSession(resume=row.session_id if alone else f"{row.path}#{row.session_id}"))

    def _search(self, words: str) -> None:
        self.inquire(
            SearchSessions(query=words, limit=LIMIT),
            self._relist,
            lambda reason: self.say(sanitize(reason, one_line=True), "error"),
        )

    def _relist(self, found: SessionsSearched) -> None:
        self._found = found
        self.refill(anew=True)


def _hit_rows(hit: SearchHit, columns: int) -> list[Row]:
    row = hit.session
    facts = " · ".join(sanitize(part, one_line=True) for part in (row.agent, row.project) if part)
    title = Span(sanitize(row.title, one_line=True) or "(no title)")
    head = spread((title, Span(f"  {facts}", "dim")), (Span(ago(row.age_s), "dim"),), columns)
    return [head, clipped((Span(f"{hit.role}: {sanitize(hit.excerpt, one_line=True)}", "dim"),), columns)]
