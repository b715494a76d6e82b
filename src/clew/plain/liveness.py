"""The sign of life: one row under the output that says what goes on, for how long, and how to stop it."""

import time
from collections.abc import Callable

from clew.plain.line.screen import Screen
from clew.presentation.rows.spans import Row, Span, said
from clew.presentation.status import activity_row
from clew.presentation.story.story import Story


class Liveness:
    """Drawn at once when something else goes on, else once in a while."""

    def __init__(self, screen: Screen, *, enabled: bool, now_s: Callable[[], float] = time.time) -> None:
        self.enabled = enabled
        self._screen = screen
        self._now_s = now_s
        self._about: tuple[object, ...] = ()
        self._hint = ""

    def hint(self, words: str) -> None:
        """A word to what was just pressed, in place of the sign of life; empty: it has been seen."""
        if words != self._hint:
            self._hint = words
            self._about = ()

    def follow(self, story: Story, *, stopping: bool, asking: bool, due: bool = False) -> bool:
        """Whether something goes on. `due`: a while has passed."""
        state, activity = story.facts.state, story.activity
        alive = (activity.doing != "idle" or bool(state.typed)) and not asking
        about = (alive, activity.doing, activity.what, len(activity.running), stopping, len(state.queued), state.typed)
        if due or about != self._about:
            self._about = about
            self._screen.show_status(self._row(story, stopping=stopping) if alive and self.enabled else self._words())
        return alive and self.enabled

    def _words(self) -> Row:
        return said(self._hint)

    def _row(self, story: Story, *, stopping: bool) -> Row:
        if self._hint:
            return self._words()
        columns = max(self._screen.columns - 1, 8)
        state = story.facts.state
        queued = f" · {len(state.queued)} queued (Up)" if state.queued else ""
        row = activity_row(story.activity, columns - len(queued), now_s=self._now_s(), stopping=stopping)[1:]
        return (*row, Span(queued)) if queued else row
