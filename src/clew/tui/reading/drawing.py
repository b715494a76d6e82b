"""When the screen is drawn: soon after something happened, never more often than eyes need, and not at all at rest.

One or a few rows of the screen that are told by a function: header, activity, footer.
"""

import time
from collections.abc import Callable
from typing import Any

from textual.app import App
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from clew.presentation.rows.spans import Row
from clew.presentation.status import activity_row, footer_row, header_row
from clew.tui.background_line import BackgroundLine
from clew.tui.conversation import ScreenConversation
from clew.tui.reading.strips import StripMaker
from clew.tui.reading.transcript import Transcript
from clew.tui.themes import styles_for


class RowLine(Widget):
    """Draws what its function says at the width there is; drawn again only when that changed."""

    ALLOW_SELECT = False

    def __init__(self, rows: Callable[[int], Row], *, id: str, ascii_only: bool = False) -> None:
        super().__init__(id=id)
        self._tell = rows
        self._ascii_only = ascii_only
        self._shown: Row = ()
        self._maker: StripMaker | None = None

    def changed(self) -> None:
        """Look again."""
        row = self._tell(self.size.width) if self.size.width else ()
        if row != self._shown:
            self._shown = row
            self.refresh()

    def recolour(self) -> None:
        """The theme changed."""
        self._maker = None
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Its only line."""
        if self._maker is None:
            self._maker = StripMaker(styles_for(self), ascii_only=self._ascii_only)
        self._shown = self._tell(self.size.width)
        strip = self._maker.strip(self._shown) if y == 0 else Strip.blank(self.size.width)
        return strip.adjust_cell_length(self.size.width, None).apply_style(self.rich_style)


FLUSH_S, SLOW_FLUSH_S = 1 / 120, 1 / 5
"""The least and the most time between two drawings of words that stream in."""
SHARE, SLOW_SHARE, SLOW_S = 5, 12, 0.005
"""Drawing may take one part in so many of the time; less where one takes long enough for a key to wait for it."""
UNSEEN_FLUSH_S = 1.0
"""The same while nobody looks."""
PULSE_S, SLOW_PULSE_S = 0.25, 1.0
HINT_S = 4.0
LAG_S = 0.2


class Drawing:
    """Header, activity and footer, and the times at which they and the transcript are drawn."""

    def __init__(
        self,
        app: App[Any],
        conversation: ScreenConversation,
        transcript: Transcript,
        *,
        stopping: Callable[[], bool],
        lagging: Callable[[], bool],
        vim_mode: Callable[[], str | None] = lambda: None,
        ascii_only: bool = False,
    ) -> None:
        self._app = app
        self.ascii_only = ascii_only
        self._stopping = stopping
        self._lagging = lagging
        self._vim_mode = vim_mode
        """The terminal has not taken what was drawn before: more would only come later."""
        self._conversation = conversation
        self._transcript = transcript
        self.header = RowLine(self._header_row, id="header", ascii_only=ascii_only)
        self.activity = RowLine(self._activity_row, id="activity", ascii_only=ascii_only)
        self.footer = RowLine(self._footer_row, id="footer", ascii_only=ascii_only)
        self.background = BackgroundLine(conversation, changed=self.footer.changed, seen=lambda: self.seen)
        self.seen = True
        """The terminal has the focus."""
        self._frame = 0
        self._hint = ""
        self._drawn_at = 0.0
        self._took = 0.0
        self._next: Timer | None = None
        self._pulse: Timer | None = None
        self._hint_timer: Timer | None = None

    def soon(self) -> None:
        """Something changed: at once after a pause, then at most so often."""
        self._beat()
        if self._next is not None:
            return
        share = SHARE if self._took < SLOW_S else SLOW_SHARE
        pause = min(max(FLUSH_S, self._took * share), SLOW_FLUSH_S) if self.seen else UNSEEN_FLUSH_S
        wait = self._drawn_at + pause - time.monotonic()
        if wait <= 0:
            self.now()
        else:
            self._next = self._app.set_timer(wait, self.now)

    def now(self) -> None:
        """Bring everything up to date."""
        if self._next is not None:
            self._next.stop()
            self._next = None
        self._drawn_at = time.monotonic()
        if self._lagging():
            self._next = self._app.set_timer(LAG_S, self.now)
            return
        if self._transcript.viewport.following:
            self._conversation.trim()
        self._transcript.show(*self._conversation.passages())
        for line in (self.header, self.activity, self.footer):
            line.changed()
        self._took = time.monotonic() - self._drawn_at

    def look(self, *, seen: bool) -> None:
        """Somebody looks, or no longer does."""
        self.seen = seen
        if seen:
            self.now()
            if self._pulse is not None:
                self._pulse.stop()
                self._pulse = None
            self._beat()

    def hint(self, words: str) -> None:
        """A word in the footer to what was just done; it goes by itself."""
        self._hint = words
        if self._hint_timer is not None:
            self._hint_timer.stop()
        self._hint_timer = self._app.set_timer(HINT_S, lambda: self.hint("")) if words else None
        self.footer.changed()

    def recolour(self) -> None:
        """The theme changed."""
        self._transcript.recolour()
        for line in (self.header, self.activity, self.footer):
            line.recolour()

    def _header_row(self, columns: int) -> Row:
        return header_row(self._conversation.story.facts, columns)

    def _activity_row(self, columns: int) -> Row:
        return activity_row(
            self._conversation.pane.activity,
            columns,
            now_s=time.time(),
            frame=self._frame,
            stopping=self._stopping(),
            way_out=False,  # the footer says it, with what comes before it where one scrolled up
        )

    def _footer_row(self, columns: int) -> Row:
        below = not self._transcript.viewport.following
        facts = self._conversation.story.facts
        return footer_row(
            facts,
            columns,
            hint=self._hint,
            below=below,
            stopping=self._stopping(),
            viewing=self._conversation.view is not None,
            vim=self._vim_mode() or "",
            newest=self.background.newest,
        )

    def _beat(self) -> None:
        """A pulse while something goes on, slower when nobody looks; none at rest."""
        alive = any(one.activity.doing != "idle" for one in (self._conversation.story, self._conversation.pane))
        if alive and self._pulse is None:
            moving = self.seen and self._app.animation_level != "none"
            self._pulse = self._app.set_timer(PULSE_S if moving else SLOW_PULSE_S, self._pulsed)
        elif not alive and self._pulse is not None:
            self._pulse.stop()
            self._pulse = None

    def _pulsed(self) -> None:
        self._pulse = None
        self._frame += self._app.animation_level != "none"
        self.activity.changed()
        if self._conversation.age(time.time()):
            self.soon()
        self._beat()
