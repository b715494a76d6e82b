"""Ctrl-R: the history searched backwards on the line itself. What was typed before is never lost."""

from collections.abc import Callable

from clew.composing.search import HistorySearch, search
from clew.plain.line.editor import Editor
from clew.plain.line.keys import Key
from clew.text.terminal_text import clip, sanitize

MAX_SHOWN = 30


class LineSearch:
    """Active between Ctrl-R and the key that takes or leaves what was found."""

    def __init__(self, editor: Editor, history: Callable[[], list[str]]) -> None:
        self._editor = editor
        self._history = history
        self._now: HistorySearch | None = None

    @property
    def active(self) -> bool:
        """Keys go to the search."""
        return self._now is not None

    @property
    def prompt(self) -> str:
        """Stands before what was found."""
        if self._now is None:
            return ""
        query = clip(sanitize(self._now.query, one_line=True), MAX_SHOWN)
        return f"search {query!r}{', nothing older' if self._now.failed else ''}: "

    def begin(self) -> None:
        """Ctrl-R."""
        self._now = search(self._history(), self._editor.text)

    def press(self, key: Key) -> None:
        """One key while it is active: letters narrow, Ctrl-R and Up go on, Enter and Tab take, Esc goes back."""
        now = self._now
        assert now is not None
        match key.name:
            case "char" | "paste":
                self._show(now.typed(key.text.partition("\n")[0]))
            case "backspace":
                self._show(now.erased())
            case "search" | "up":
                self._show(now.older())
            case "down":
                self._show(now.newer())
            case "escape":
                self.cancel()
            case "enter" | "tab" | "right" | "end" | "left" | "home":
                self._now = None
            case _:
                pass

    def cancel(self) -> None:
        """Back to what was typed before."""
        if self._now is not None:
            self._editor.set(self._now.before)
            self._now = None

    def _show(self, now: HistorySearch) -> None:
        self._now = now
        self._editor.set(now.text)
