"""What was sent before, back in the prompt: the history file, the walk through it, and pastes folded as they were."""

from pathlib import Path

from clew.composing.browsing import HistoryBrowser
from clew.composing.history import MAX_ITEM_CHARS, History
from clew.tui.prompt.edit_area import EditArea

MAX_FORMS = 200


class Recalling:
    """One for each prompt."""

    def __init__(self, area: EditArea, home: Path | None) -> None:
        self._area = area
        self._history = History(home)
        self._browser = HistoryBrowser(self.items)
        self._forms: dict[tuple[int, int], str] = {}

    def items(self) -> list[str]:
        """Everything that was sent, oldest first."""
        return self._history.items

    @property
    def problem(self) -> str:
        """Why the last line could not be kept on disk; empty when all is well."""
        return self._history.problem

    def remember(self, text: str) -> None:
        """Into the history, with its pastes as far as they fit."""
        pastes = self._area.pastes
        whole = pastes.expand(text)
        kept = whole if len(whole) <= MAX_ITEM_CHARS else pastes.told(text)
        if whole != text:
            for known in {whole, kept}:
                # By hash: the text may be megabytes, and the pastes keep it already.
                self._forms[len(known), hash(known)] = text
            while len(self._forms) > MAX_FORMS:
                del self._forms[next(iter(self._forms))]
        self._history.add(kept)
        self._browser.reset()

    def form(self, text: str) -> str:
        """How a text that was sent stood in the prompt: with its pastes folded."""
        return self._forms.get((len(text), hash(text)), text)

    def step(self, *, older: bool) -> None:
        """Show the next item in this direction, if there is one."""
        text = self._area.text
        item = self._browser.older(text) if older else self._browser.newer(text)
        if item is None:
            return
        form = self._area.set_text(self.form(item))
        self._browser.shown_as(form)
        if older:
            # So that the next step up goes on, also from an item of several lines.
            self._area.move_cursor((0, len(self._area.document.get_line(0))))
