"""Whether the person is here, at a terminal that is written line by line: focus reports in, notices out."""

import asyncio
import re
from collections.abc import Callable

from clew.plain.line.screen import Screen
from clew.plain.line.terminal import Terminal
from clew.plain.options import PlainOptions
from clew.presentation.away_watch import AwayWatch
from clew.presentation.terminal_notice import notice_codes
from clew.protocol.events import Event, Notified
from clew.protocol.ops import Op

REPORT = re.compile(rb"(\x1b\[[IO])")
"""What a terminal sends when it gets and when it loses the focus."""


class LinePresence:
    """Takes the terminal's own words out of what is typed, and rings."""

    def __init__(
        self,
        terminal: Terminal,
        screen: Screen,
        options: PlainOptions,
        *,
        unsent: Callable[[], bool],
        send: Callable[[Op], None],
    ) -> None:
        self._terminal = terminal
        self._screen = screen
        self._options = options
        self._watch = AwayWatch(away_s=options.away_s, unsent=unsent, send=send)

    def typed(self, data: bytes) -> bytes:
        """The bytes that a person typed."""
        if not self._terminal.interactive or not data:
            return data
        now_s = asyncio.get_running_loop().time()
        pieces = REPORT.split(data) if self._terminal.editing else [data]
        for piece in pieces:
            if REPORT.fullmatch(piece):
                self._watch.sign("back" if piece.endswith(b"I") else "left", now_s)
            elif piece:
                self._watch.sign("typed", now_s)
        return b"".join(pieces[::2])

    def follow(self, event: Event) -> None:
        """An event of the main agent."""
        self._watch.follow(event)
        if isinstance(event, Notified) and self._terminal.interactive and self._terminal.columns():
            self._screen.send_codes(
                notice_codes(event, self._options.notifications, self._options.env, capable=self._terminal.editing)
            )
