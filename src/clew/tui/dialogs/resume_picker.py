"""The sessions to go on with, of all agents: where each stood, its last exchange, and the project it belongs to."""

import asyncio
from collections.abc import Sequence

from msgspec.structs import replace

from clew.presentation.rows.spans import Row, Span, clipped, spread, wrapped
from clew.protocol.events import Event, SessionRow, SessionsFit
from clew.protocol.lookups.base import Answer
from clew.protocol.lookups.place import ListSessions, PreviewSession, SessionsListed
from clew.protocol.ops import SwitchSession
from clew.text.figures import ago
from clew.text.terminal_text import sanitize
from clew.tui.dialogs.base import Dialog
from clew.tui.dialogs.options import Option
from clew.tui.dialogs.picker import Picker
from clew.tui.dialogs.registry import DialogContext

SETTLE_S = 0.12
"""How long typing or the cursor rests before the machine is asked."""
LOOK_S = 1.0
"""How long the list is looked at before a model is asked to tell what is in sight."""
LIMIT = 50
LINE = Span("│ ", "dim")


def open_dialog(event: Event | Answer, context: DialogContext) -> Dialog:
    """For the registry."""
    assert isinstance(event, SessionsListed | SessionsFit)
    return ResumePicker(event, context)


class ResumePicker(Picker):
    """Rows of SessionsListed; what is typed asks for the list again, and the marked row for its last exchange."""

    asks_for = "words of a title, project or recap"

    def __init__(self, listed: SessionsListed | SessionsFit, context: DialogContext) -> None:
        super().__init__()
        self._facts = context.facts
        self._sessions = listed.sessions
        self._project = sanitize(self._facts.cwd.rstrip("/").rpartition("/")[2], one_line=True)
        self._previewing = ""
        """The session whose last exchange was asked for last."""
        self._previews: dict[str, tuple[str, ...]] = {}
        self._timer: asyncio.TimerHandle | None = None
        """Until typing rests."""
        self._glance: asyncio.TimerHandle | None = None
        """Until the cursor rests."""
        self._look_timer: asyncio.TimerHandle | None = None
        """Until the list was looked at for a while."""
        self._wording = False
        """A recap in a model's words is being written."""
        self._worded: set[str] = set()
        """The sessions whose recap in a model's words was asked for."""

    def title(self) -> str:
        return "Resume a session"

    def note(self) -> str:
        return f"{len(self._sessions)} found"

    def begin(self) -> None:
        self.aside.display = True
        super().begin()

    def on_unmount(self) -> None:
        for timer in (self._timer, self._glance, self._look_timer):
            if timer is not None:
                timer.cancel()

    def rows_for(self, words: list[str]) -> Sequence[Option]:
        return [
            Option(value=row.session_id, rows=lambda columns, row=row: _session_rows(row, columns))
            for row in self._sessions
        ]

    def typed(self, text: str) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(SETTLE_S, self._ask)

    def _ask(self) -> None:
        self._timer = None
        wanted = ListSessions(query=self.field.value.strip(), limit=LIMIT)
        self.inquire(wanted, self._relist, lambda reason: self.say(sanitize(reason, one_line=True), "error"))

    def _relist(self, listed: SessionsListed) -> None:
        self._sessions = listed.sessions
        self.refill(anew=True)

    def _show_preview(self, session: str, lines: tuple[str, ...]) -> None:
        self._previews[session] = lines
        self.redraw()

    def pointed(self) -> None:
        """Ask for the last exchange of the marked session, once."""
        marked = self.options.value
        self.aside.show(self._preview_rows)
        if self._glance is not None:
            self._glance.cancel()
        if self._look_timer is not None:
            self._look_timer.cancel()
        self._look_timer = asyncio.get_running_loop().call_later(LOOK_S, self._ask_words)
        if marked and marked not in (*self._previews, self._previewing) and (self.aside_below or self._wide):
            self._glance = asyncio.get_running_loop().call_later(SETTLE_S, self._look, marked)
        self.redraw()

    def _look(self, session: str) -> None:
        self._previewing = session
        self.inquire(
            PreviewSession(session=session),
            lambda found: self._show_preview(session, found.lines),
            lambda reason: self._show_preview(session, (f"({reason})",)),
            about="preview",
        )

    def _ask_words(self) -> None:
        """One of our own sessions in sight after the other; what may not be written is answered at once."""
        waiting = [value for value in self.options.seen if value not in self._worded]
        ours = {row.session_id for row in self._sessions if row.agent == "clew"}
        chosen = next((value for value in waiting if value in ours), "")
        if chosen and not self._wording:
            self._worded.add(chosen)
            self._wording = True
            self.inquire(
                PreviewSession(session=chosen, words=True),
                lambda found: self._take_words(chosen, found.recap),
                lambda _: self._no_words(),
                about="words",
            )

    def _no_words(self) -> None:
        self._wording = False

    def _take_words(self, session: str, recap: str) -> None:
        self._wording = False
        if recap:
            told = (replace(row, recap=recap) if row.session_id == session else row for row in self._sessions)
            self._sessions = tuple(told)
            self.options.set(tuple(self.rows_for([])))
            self.redraw()
        self._ask_words()

    def hint(self) -> str:
        marked = self._marked
        if marked is None:
            return "Nothing fits · Esc closes"
        project = sanitize(marked.project, one_line=True)
        where = f" in {project}" if project and project != self._project else ""
        look = "" if self._wide else " · Tab last exchange"
        return f"Enter goes on{where}{look} · Esc closes"

    @property
    def _wide(self) -> bool:
        return self.beside(self.screen.size.width - self.styles.gutter.width) is not None

    @property
    def _marked(self) -> SessionRow | None:
        return next((row for row in self._sessions if row.session_id == self.options.value), None)

    def chosen(self, place: int) -> None:
        row = self._sessions[place]
        alone = sum(other.session_id == row.session_id for other in self._sessions) == 1
        self.finish(SwitchSession(resume=row.session_id if alone else f"{row.path}#{row.session_id}"))

    def _preview_rows(self, columns: int) -> list[Row]:
        """Behind a line of its own, so that nobody takes it for the list."""
        marked = self._marked
        if marked is None:
            return []
        room = columns - len(LINE.text)
        rows = wrapped((Span(sanitize(marked.recap), "recap"),), room) if marked.recap else []
        rows += [()] if rows and marked.session_id in self._previews else []
        for at, line in enumerate(self._previews.get(marked.session_id, ())):
            asked = at == 0 and line.startswith("> ")  # no line of the answer gets the user's bar
            text = Span(sanitize(line.removeprefix("> ")), "bold" if asked else "")
            rows += wrapped((text,), room, first=(Span("▌ ", "user"),) if asked else ())
        return [(LINE, *row) for row in rows]


def _session_rows(row: SessionRow, columns: int) -> list[Row]:
    title = Span(sanitize(row.title, one_line=True) or "(no title)")
    age = Span(ago(row.age_s), "dim")
    facts = [sanitize(part, one_line=True) for part in (row.agent, row.project, row.state, row.recap) if part]
    return [spread((title,), (age,), columns), clipped((Span(" · ".join(facts), "dim"),), columns)]
