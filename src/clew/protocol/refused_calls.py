"""Whether a turn was kept from doing anything: a fold over its events, for whoever tells how a run without a person
ended."""

from clew.protocol.events import ApprovalResolved, Event, ToolEnded, TurnEnded, TurnStarted

ALL_REFUSED = "all_calls_refused"
ALL_REFUSED_WORDS = "no call of this run was allowed, so nothing was done"


class RefusedCalls:
    """Fed with every event of one agent; a new turn starts it anew."""

    def __init__(self) -> None:
        self._calls = 0
        self._refused = 0
        self._decided = False
        """Whoever drives the session said no: the model's words about that are the answer."""

    def feed(self, event: Event) -> None:
        """Take one event."""
        match event:
            case TurnStarted():
                self._calls = self._refused = 0
                self._decided = False
            case ApprovalResolved(decision="deny", by="user" | "hook"):
                self._decided = True
            case ToolEnded():
                self._calls += 1
                self._refused += event.refused
            case _:
                pass

    def undid(self, ended: TurnEnded) -> bool:
        """Whether the turn completed with words alone, for nothing it wanted to do was allowed: no answer."""
        return ended.reason == "completed" and 0 < self._calls == self._refused and not self._decided
