"""The model's words on their way to the screen: rows once they are final, the rest when it keeps waiting."""

from collections.abc import Callable

from clew.plain.line.screen import Screen
from clew.plain.phrases import GUTTER, Look, behind_gutter
from clew.presentation.rows.markdown_feed import MarkdownFeed
from clew.presentation.rows.spans import Row, Span, plain
from clew.presentation.story.passages import WordsPassage

TAIL_ROWS = 4
"""Rows of unfinished words that are shown under the output."""


class WordsFlow:
    """One answer at a time. A line of ours that comes in between waits for no row, and tears none."""

    def __init__(self, screen: Screen, look: Callable[[], Look]) -> None:
        self._screen = screen
        self._look = look
        self._key = ""
        self._text = ""
        self._feed: MarkdownFeed | None = None
        self._shown = False
        self._begun = ""
        """A row that was begun because its rest kept waiting; it goes on where it ends."""
        self._broken = False
        """Something else was written since: it goes on in a row of its own."""

    @property
    def active(self) -> bool:
        """Words are being written."""
        return self._feed is not None

    def grow(self, passage: WordsPassage) -> None:
        """More of it, or all."""
        if self._feed is None or passage.key != self._key:
            self.finish()
            self._key, self._shown = passage.key, False
            self._feed = MarkdownFeed(self._look().text_columns)
        self._feed.resize(self._look().text_columns)
        self._text = passage.text
        if passage.growing:
            self._put(self._feed.more(passage.text))
        else:
            self.finish()

    def finish(self) -> None:
        """Show what is left: nothing more comes, or what comes next belongs under it."""
        if self._feed is None:
            return
        self._put(self._feed.end(self._text))
        if self._begun and not self._broken:
            self._screen.stream("\n")
        self._forget()

    def withdraw(self, reply_id: str) -> bool:
        """These words do not count. Whether somebody has seen any of them."""
        if not self._key.startswith(f"{reply_id}:"):
            return False
        if self._begun and not self._broken:
            self._screen.stream("\n")
        self._forget()
        return self._shown

    def broken(self) -> None:
        """Something else is written now."""
        self._broken = True

    def wait_over(self, *, live: bool) -> None:
        """Words keep waiting for the end of their row: show them as they are. `live`: on rows that are drawn anew."""
        if self._feed is None:
            return
        if live:
            self._screen.show_tail(behind_gutter(self._feed.pending())[-TAIL_ROWS:])
            self._shown = True
            return
        rows = self._feed.give_pending()
        if not rows:
            return
        *whole, last = behind_gutter(rows)
        self._screen.rows(self._continued(whole) if whole and self._begun else whole)
        self._begin(plain(last))

    def _begin(self, row: str) -> None:
        """Write the start of a row, or more of the one that was begun."""
        more = row[len(self._begun) :] if self._begun and row.startswith(self._begun) else ""
        if self._begun and not self._broken and not row.startswith(self._begun):
            self._screen.stream("\n")
        if more:
            self._screen.stream(GUTTER + more.lstrip() if self._broken else more)
        else:
            self._screen.stream(row)
        self._begun, self._broken, self._shown = row, False, True

    def _put(self, rows: list[Row]) -> None:
        rows = behind_gutter(rows)
        if rows:
            self._shown = True
            self._screen.show_tail(())
        if rows and self._begun:
            rows = self._continued(rows)
        self._screen.rows(rows)

    def _continued(self, rows: list[Row]) -> list[Row]:
        """The row that was begun goes on first."""
        begun, self._begun = self._begun, ""
        first = plain(rows[0])
        if not first.startswith(begun):
            if not self._broken:
                self._screen.stream("\n")
            return rows
        rest = first[len(begun) :]
        if not self._broken:
            self._screen.stream(f"{rest}\n")
            return rows[1:]
        return [*([(Span(GUTTER + rest.lstrip()),)] if rest.strip() else []), *rows[1:]]

    def _forget(self) -> None:
        self._screen.show_tail(())
        self._feed = None
        self._begun, self._broken = "", False
