"""The session as this screen holds it: events into the story, ops out, older history when it is wanted."""

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from clew.commands.base import CommandHelp
from clew.commands.registry import catalogue
from clew.presentation.client_link import ClientLink
from clew.presentation.story import Story
from clew.presentation.telling import remarked, told, trimmed
from clew.protocol.client import Client
from clew.protocol.events import (
    Envelope,
    FilesFound,
    HistoryLoaded,
    OpAccepted,
    OpRejected,
    Rewound,
    SessionPreviewed,
    SessionStarted,
)
from clew.protocol.ids import OpId
from clew.protocol.ops import LoadHistory, Op

FIRST_PAGE = 60
"""Events asked for at once on resume: the last exchange and some before it."""
PAGE = 300
KEPT = 1_500
"""Passages kept in memory; what is older is read from the log again when somebody scrolls up to it."""
DIALOG = "dialog-"
"""Begins the ids of what an open dialog asks."""
QUIET = (FilesFound, SessionPreviewed)
"""Answers that are for a widget, not for the story."""

OnChange = Callable[[Envelope, bool], None]


class Conversation:
    """Holds the Client. `on_change` hears of every event after the story took it in, and whether it was asked for by a
    picker."""

    def __init__(self, client: Client, *, on_change: OnChange, on_end: Callable[[], None]) -> None:
        self.story = Story()
        self._on_change = on_change
        self.link = ClientLink(client, on_event=self._take, on_end=on_end)
        self._for_pickers: set[str] = set()
        self._loading = ""
        self._asked = 0

    def commands(self) -> tuple[CommandHelp, ...]:
        """What can be typed after a slash now."""
        return catalogue(self.story.facts)

    def send(self, op: Op) -> None:
        """Hand over an op."""
        self.link.send(op)

    def send_for_picker(self, op: Op) -> None:
        """Ask something whose answer opens a picker instead of being told."""
        op_id = self._next_id("pick")
        self._for_pickers.add(op_id)
        self.link.send(replace(op, op_id=op_id))

    def remark(self, lines: tuple[str, ...], *, is_error: bool = False, command: str = "") -> None:
        """Lines of our own under what is there."""
        self.story = remarked(self.story, lines, level="error" if is_error else "info", command=command)

    def load_older(self) -> None:
        """One page more, unless one is on its way or there is none."""
        if self._loading or self.story.whole:
            return
        self._loading = self._next_id("history")
        limit = PAGE if self.story.past else FIRST_PAGE
        self.link.send(LoadHistory(op_id=OpId(self._loading), before=self.story.oldest, limit=limit))

    def trim(self) -> None:
        """Forget what is far above; only while the end is followed."""
        if len(self.story.past) > KEPT * 2 and not self._loading:
            self.story = trimmed(self.story, KEPT)

    def _take(self, envelope: Envelope) -> None:
        event = envelope.event
        op_id = getattr(event, "op_id", "")
        if isinstance(event, HistoryLoaded):
            if event.op_id != self._loading:
                return  # somebody else asked
            self._loading = ""
        asked = op_id in self._for_pickers
        if asked and not isinstance(event, OpAccepted):
            self._for_pickers.discard(op_id)
        opened = asked and not isinstance(event, OpRejected)
        if not (opened or isinstance(event, QUIET) or op_id.startswith(DIALOG)):
            self.story = told(envelope, self.story)
        if isinstance(event, SessionStarted | Rewound):
            self._loading = ""
            # After what is told together with it: the first live entry is where history ends.
            asyncio.get_running_loop().call_soon(self.load_older)
        self._on_change(envelope, asked)

    def _next_id(self, kind: str) -> OpId:
        self._asked += 1
        return OpId(f"screen-{kind}-{self._asked}")
