"""Whether somebody is there: signs and events go to the tracker of `orient`, and a recap is asked for on return."""

from collections.abc import Callable

from clew.orient.away import Away, Sign, ended, noticed
from clew.protocol.events import Event, PromptAccepted, RecapReady, SnapshotTaken, TurnEnded, TurnStarted


class AwayWatch:
    """Asks for a recap when somebody is back after a while. It reads no clock of its own."""

    def __init__(self, *, away_s: float, unsent: Callable[[], bool], want_recap: Callable[[], None]) -> None:
        self._away_s = away_s
        """0: only who asks is told."""
        self._unsent = unsent
        self._want_recap = want_recap
        self._away = Away()

    def sign(self, sign: Sign, now_s: float) -> None:
        """The person left, came back or typed."""
        if self._away_s:
            self._reveal(*noticed(self._away, sign, now_s, unsent=self._unsent(), away_s=self._away_s))

    def follow(self, event: Event) -> None:
        """An event of the main agent."""
        match event:
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
            self._want_recap()
