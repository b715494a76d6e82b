"""Whether somebody is there: the session is told where a person looks, and a recap is asked for on return."""

from collections.abc import Callable

from clew.orient.away import Away, Sign, ended, noticed
from clew.protocol.events import (
    Event,
    PromptAccepted,
    RecapReady,
    SessionStarted,
    SnapshotTaken,
    TurnEnded,
    TurnStarted,
)
from clew.protocol.ops import Op, ReportFocus, ReportTyping, RequestRecap

TYPING_TOLD_S = 5.0
"""Keys within so long after one that was told are not told again."""


class AwayWatch:
    """Signs and events go to the tracker of `orient`. It reads no clock of its own."""

    def __init__(self, *, away_s: float, unsent: Callable[[], bool], send: Callable[[Op], None]) -> None:
        self._away_s = away_s
        """0: only who asks is told."""
        self._unsent = unsent
        self._send = send
        self._away = Away()
        self._focused: bool | None = None
        """What was reported last; None: this terminal never told."""
        self._typed_s: float | None = None
        """When it was last told that somebody types."""

    def sign(self, sign: Sign, now_s: float) -> None:
        """The person left, came back or typed."""
        focused = sign != "left"
        if focused is not self._focused and (sign != "typed" or self._focused is not None):
            self._focused = focused
            self._send(ReportFocus(focused=focused))
        if sign == "typed" and self._focused is None:
            self._tell_typing(now_s)
        if self._away_s:
            self._reveal(*noticed(self._away, sign, now_s, unsent=self._unsent(), away_s=self._away_s))

    def _tell_typing(self, now_s: float) -> None:
        """A key press counts as looking, where the terminal does not say who looks."""
        if self._typed_s is None or now_s - self._typed_s >= TYPING_TOLD_S:
            self._typed_s = now_s
            self._send(ReportTyping())

    def follow(self, event: Event) -> None:
        """An event of the main agent."""
        match event:
            case SessionStarted() if self._focused is not None:  # another session, which does not know yet
                self._send(ReportFocus(focused=self._focused))
            case SnapshotTaken():
                self._away = self._away.opened(event.state.turns)
            case PromptAccepted(hidden=False, queued=False):
                self._away = self._away.prompted()
            case TurnStarted():
                self._away = self._away.began()
            case RecapReady():
                self._away = self._away.shown()
            case TurnEnded():
                self._reveal(*ended(self._away, unsent=self._unsent()))
            case _:
                pass

    def _reveal(self, away: Away, show: bool) -> None:
        self._away = away
        if show:
            self._send(RequestRecap(returned=True))
