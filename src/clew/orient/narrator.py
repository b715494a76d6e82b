"""One session followed as it happens: entries in; recap, news and title out whenever they are asked for."""

import asyncio
from collections.abc import Callable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from clew.ledger.facts import Ledger
from clew.ledger.fold import LedgerFold
from clew.orient.dialog import DialogFold
from clew.orient.form import Form, form_of, news
from clew.orient.recap_query import WrittenRecap, WrittenRecaps, write_recap
from clew.orient.side_query import QueryStamp, SideQueries
from clew.orient.titles import model_title
from clew.protocol.entries import Entry


class FinishedRecap(Struct, frozen=True, kw_only=True):
    """A recap ready to be shown and stored. The form stands beside the model's words."""

    text: str
    away: str
    source: Literal["facts", "model"]
    key: QueryStamp
    form: Form
    why: str = ""
    """What of the model's words was left out."""


class Narrator:
    """Holds the ledger of a running session. It reads entries and writes nothing."""

    def __init__(
        self,
        *,
        project: str = "",
        queries: SideQueries | None = None,
        log: Callable[[str], None],
        goal_only: bool = False,
        memory: Callable[[], str] = str,
        kept: WrittenRecaps | None = None,
        restore_cut_off: Callable[[], bool] = bool,
    ) -> None:
        """`goal_only`: the model of `queries` is a small local one. `memory`: what the model may know of the project.
        `kept`: recaps that earlier processes paid for. `restore_cut_off`: the process before this one died while it
        brought files back, and nobody has completed that yet."""
        self._fold = LedgerFold()
        self._dialog = DialogFold()
        self._project = project
        self._queries = queries
        self._log = log
        self._goal_only = goal_only
        self._memory = memory
        self._kept = kept
        self._restore_cut_off = restore_cut_off
        self._left: Form | None = None
        self._written: WrittenRecap | None = None
        self._asking: tuple[QueryStamp, asyncio.Task[None]] | None = None
        """Whoever wants the same words waits for the same question."""

    def feed(self, entry: Entry) -> None:
        """Take one more entry, old or new."""
        self._fold.feed(entry)
        self._dialog.feed(entry)

    def reopened(self) -> None:
        """What was fed so far was written by a process that is gone: nothing of it is under way."""
        self._fold.reopened()

    def ledger(self) -> Ledger:
        """The facts so far. Whoever follows a session holds its lease."""
        return replace(self._fold.ledger(held=True), restore_cut_off=self._restore_cut_off())

    def key(self) -> QueryStamp:
        """What a recap made now would be about."""
        return QueryStamp(*self._fold.key())

    def leave(self) -> None:
        """The user went away: news are counted from here."""
        self._left = self.factual()

    def back(self) -> None:
        """The user is here and sees what happens."""
        self._left = None

    def factual(self) -> Form:
        """The recap from facts alone."""
        return form_of(self.ledger(), project=self._project)

    async def tell(self, *, with_model: bool = False) -> FinishedRecap | None:
        """The recap; in a model's words where that is wanted, possible and borne out. None: nothing to tell."""
        ledger = self.ledger()
        form = form_of(ledger, project=self._project)
        if not form.items:
            return None
        with_model = with_model and not ledger.restore_cut_off  # words that were paid for before do not know of it
        written = await self._words(ledger, form) if with_model else None
        source: Literal["facts", "model"] = "model" if written and written.text else "facts"
        away = news(self._left, form) if self._left is not None else ""
        return FinishedRecap(
            text=written.text if written and written.text else form.text,
            away=away,
            source=source,
            key=QueryStamp(form.session_id, form.last_entry_id),
            form=form,
            why=written.why() if written else self._why_none(form) if with_model else "",
        )

    def _why_none(self, form: Form) -> str:
        reason = self._queries.why_none if self._queries is not None else "no model is connected"
        if self.key() != (form.session_id, form.last_entry_id):
            reason = "the session went on meanwhile"
        return f"No model wrote it: {reason}."

    async def _words(self, ledger: Ledger, form: Form) -> WrittenRecap | None:
        """Asked once per session and last entry."""
        key = QueryStamp(form.session_id, form.last_entry_id)
        if self._written is None or self._written.key != key:
            self._written = self._kept.get(key) if self._kept is not None else None
        if self._written is None and self._queries is not None:
            if self._asking is None or self._asking[0] != key or self._asking[1].done():
                self._asking = (key, asyncio.ensure_future(self._ask(ledger, form, self._queries)))
            await asyncio.shield(self._asking[1])
        return self._written if self.key() == key else None

    async def _ask(self, ledger: Ledger, form: Form, queries: SideQueries) -> None:
        lines = self._dialog.lines()
        self._written = await write_recap(
            ledger, form, lines, queries, memory=self._memory(), goal_only=self._goal_only
        )
        if self._written is not None:
            self._log(f"recap: {self._written.why()}")
            if self._kept is not None:
                self._kept.put(self._written)

    async def close(self) -> None:
        """What is being written is not needed any more."""
        if self._asking is not None:
            self._asking[1].cancel()
            await asyncio.gather(self._asking[1], return_exceptions=True)

    async def better_title(self) -> str | None:
        """The fast model's title for what the facts have already named; None when there is none to use."""
        if self._queries is None:
            return None
        return await model_title(self.ledger(), self._dialog.lines(), self._queries)
