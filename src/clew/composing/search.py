"""Searching the history backwards while typing: a value that changes with each key and never loses what was typed."""

from msgspec import Struct
from msgspec.structs import replace


class HistorySearch(Struct, frozen=True, kw_only=True):
    """The search as it stands. `before` is the text from before it began: cancelling gives it back, untouched."""

    items: tuple[str, ...]
    """Oldest first."""
    folded: tuple[str, ...]
    """The items in lower case, made once."""
    before: str
    query: str = ""
    found: int | None = None
    """Which item is shown; None while nothing fits or nothing was asked."""
    failed: bool = False
    """The last step found nothing (more); what was shown stays."""

    @property
    def text(self) -> str:
        """What the prompt shows now: the item found, else what was typed before."""
        return self.before if self.found is None else self.items[self.found]

    @property
    def place(self) -> tuple[int, int] | None:
        """Where the query stands in the shown text, for marking it."""
        if self.found is None or not self.query:
            return None
        start = self._haystack(self.found).find(self.query)
        return (start, start + len(self.query)) if start >= 0 else None

    def typed(self, text: str) -> "HistorySearch":
        """A longer query: the item shown stays when it still fits, else the next older one that does."""
        longer = replace(self, query=self.query + text)
        start = len(self.items) - 1 if self.found is None else self.found
        return longer._look(start, -1, keep=False)

    def erased(self) -> "HistorySearch":
        """A shorter query, looked for again from the newest item."""
        shorter = replace(self, query=self.query[:-1], found=None, failed=False)
        return shorter._look(len(self.items) - 1, -1, keep=False) if shorter.query else shorter

    def older(self) -> "HistorySearch":
        """The next older item that fits."""
        start = len(self.items) - 1 if self.found is None else self.found - 1
        return self._look(start, -1, keep=True)

    def newer(self) -> "HistorySearch":
        """The next newer item that fits."""
        return self if self.found is None else self._look(self.found + 1, 1, keep=True)

    def _look(self, start: int, step: int, *, keep: bool) -> "HistorySearch":
        shown = self.text if keep and self.found is not None else None
        at = start
        while 0 <= at < len(self.items):
            if self.query in self._haystack(at) and self.items[at] != shown:
                return replace(self, found=at, failed=False)
            at += step
        return replace(self, found=self.found if keep else None, failed=True)

    def _haystack(self, at: int) -> str:
        """Capitals in the query count; without any, case does not matter."""
        return self.folded[at] if self.query == self.query.lower() else self.items[at]


def search(items: list[str], before: str) -> HistorySearch:
    """A search that begins now."""
    return HistorySearch(items=tuple(items), folded=tuple(item.lower() for item in items), before=before)
