"""One session followed as it happens: entries in; recap, news and title out whenever they are asked for."""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from clew.ledger.facts import Ledger
from clew.ledger.fold import LedgerFold
from clew.orient.dialog import DialogFold
from clew.orient.load import seconds_of
from clew.orient.news import news
from clew.orient.recap import FactualRecap, recap
from clew.orient.rephrase import rephrase
from clew.orient.report import STALE_S, recap_data
from clew.orient.side_query import SideQueries, Stamp
from clew.orient.titles import model_title, next_title
from clew.protocol.entries import Entry
from clew.system.clock import Clock, SystemClock


class Told(Struct, frozen=True, kw_only=True):
    """A recap ready to be shown and stored."""

    text: str
    away: str
    source: Literal["facts", "model"]
    key: Stamp
    data: dict[str, object]
    """For the `data` of its `away_summary` entry."""


class Narrator:
    """Holds the ledger of a running session. It reads entries and writes nothing."""

    def __init__(
        self,
        *,
        project: str = "",
        queries: SideQueries | None = None,
        log: Callable[[str], None],
        clock: Clock | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        self._fold = LedgerFold()
        self._dialog = DialogFold()
        self._project = project
        self._queries = queries
        self._log = log
        self._left: Ledger | None = None

    def feed(self, entry: Entry) -> None:
        """One more entry, as it is recorded or replayed."""
        self._fold.feed(entry)
        self._dialog.feed(entry)

    def ledger(self) -> Ledger:
        """The facts so far."""
        return self._fold.ledger()

    def key(self) -> Stamp:
        """What a recap made now would be about."""
        return Stamp(*self._fold.key())

    def leave(self) -> None:
        """The user went away: news are counted from here."""
        self._left = self._fold.ledger()

    def factual(self) -> FactualRecap:
        """The recap from facts alone."""
        return self._recap(self._fold.ledger())

    def _recap(self, ledger: Ledger) -> FactualRecap:
        """A session that wrote something just now is at work; one that was resumed in the middle was cut off."""
        fresh = self._clock.wall_s() - seconds_of(ledger.last_at) <= STALE_S
        return recap(ledger, project=self._project, live=fresh)

    async def tell(self, *, with_model: bool = False) -> Told | None:
        """The recap; in the fast model's words where that is wanted, possible and borne out. None: nothing to tell."""
        ledger = self._fold.ledger()
        made = self._recap(ledger)
        if not made.text:
            return None
        words = None
        if with_model and self._queries is not None:
            words = await rephrase(ledger, made, self._dialog.lines(), self._queries, self._log)
        away = news(self._left, ledger)[0] if self._left is not None else ""
        source: Literal["facts", "model"] = "model" if words else "facts"
        return Told(
            text=words or made.text,
            away=away,
            source=source,
            key=Stamp(ledger.session_id, ledger.last_entry_id),
            data=recap_data(made, ledger, source=source, away=away),
        )

    async def title(self, *, with_model: bool = False) -> tuple[str, Literal["facts", "model"]] | None:
        """The title to write now, and who made it; None when the one in force stays."""
        ledger = self._fold.ledger()
        made = next_title(ledger)
        if not made:
            return None
        better = (
            await model_title(ledger, self._dialog.lines(), self._queries) if with_model and self._queries else None
        )
        return better or (made, "facts")

    async def better_title(self) -> str | None:
        """The fast model's title for what the facts have already named; None when there is none to use."""
        if self._queries is None:
            return None
        made = await model_title(self._fold.ledger(), self._dialog.lines(), self._queries)
        return made[0] if made else None
