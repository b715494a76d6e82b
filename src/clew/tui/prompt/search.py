"""The search through the history while it is on: its keys, what it shows in the prompt, the way back."""

from collections.abc import Callable

from clew.composing.search import HistorySearch, search
from clew.tui.prompt.edit_area import EditArea
from clew.tui.prompt.history_search import SearchLine


class PromptSearch:
    """One for each prompt. What was typed before is kept until the search ends, caret included."""

    def __init__(
        self, area: EditArea, line: SearchLine, items: Callable[[], list[str]], form: Callable[[str], str]
    ) -> None:
        self._area = area
        self._line = line
        self._items = items
        self._form = form
        self._search: HistorySearch | None = None

    @property
    def before(self) -> str | None:
        """What was typed before the search; None while there is no search."""
        return None if self._search is None else self._search.before

    def begin(self) -> None:
        """From now on keys are for the search."""
        self._selection = self._area.selection
        self._search = search(self._items(), self._area.text)
        self._line.follow(self._search)

    def press(self, action: str | None, character: str | None) -> bool:
        """The search takes every key while it is on; one that means nothing to it ends it and is done then."""
        found = self._search
        assert found is not None
        match action:
            case "older":
                self._show(found.older())
            case "newer":
                self._show(found.newer())
            case "erase":
                self._show(found.erased())
            case "accept":
                self.end()
            case "cancel":
                self.cancel()
            case _ if character is not None:
                self._show(found.typed(character))
            case _:
                self.end()
                return False
        return True

    def typed(self, text: str) -> None:
        """A longer query, in one piece."""
        if self._search is not None:
            self._show(self._search.typed(text))

    def cancel(self) -> None:
        """Back to what was typed before."""
        if self._search is None:
            return
        self._restore(self._search.before)
        self._search = None
        self._line.follow(None)

    def end(self) -> None:
        """Keep what is shown; undo goes back to what was typed before."""
        if self._search is None:
            return
        found = self._area.text
        self._restore(self._search.before)
        self._search = None
        self._line.follow(None)
        if found != self._area.text:
            self._area.set_text(found)

    def _restore(self, before: str) -> None:
        if before != self._area.text:
            self._area.preview(before)
        self._area.selection = self._selection

    def _show(self, after: HistorySearch) -> None:
        self._search = after
        text = after.before if after.found is None else self._form(after.text)
        if after.found is None:
            self._restore(text)
        elif text != self._area.text:
            self._area.preview(text)
        self._line.follow(after)
