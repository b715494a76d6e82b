"""The line above the prompt while the history is searched."""

from textual.content import Content
from textual.widgets import Static

from clew.composing.search import HistorySearch
from clew.text.terminal_text import sanitize


class SearchLine(Static):
    """Says what is looked for and whether it was found; the match itself stands in the prompt."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", id=id, markup=False)
        self.display = False

    def follow(self, search: HistorySearch | None) -> None:
        """Show where the search stands; None hides the line."""
        self.display = search is not None
        if search is None:
            return
        if not search.items:
            state = "the history is empty"
        elif search.failed:
            state = "no older match" if search.found is not None else "nothing found"
        else:
            state = "Enter takes it, Esc goes back" if search.found is not None else "type what to look for"
        query = sanitize(search.query, one_line=True)
        self.update(Content.assemble("search: ", (query, "bold"), ("_  ", ""), (state, "dim")))
