"""Whether a session works, waits for somebody, or rests, in the words of stream-json: what tells a host when it may
hang up."""

from clew.protocol.events import Envelope, SnapshotTaken
from clew.protocol.standing import WIRE_WORDS, SessionActivity
from clew.protocol.state import SessionState, after


class ActivityFold:
    """Follows the state of the session and tells each change of its word once."""

    def __init__(self) -> None:
        self._state = SessionState()
        self._now: SessionActivity = "idle"

    def after(self, envelope: Envelope) -> SessionActivity | None:
        """The new word, if this event changed it."""
        if isinstance(envelope.event, SnapshotTaken):
            return None
        self._state = after(envelope, self._state)
        word = activity_of(self._state)
        if word == self._now:
            return None
        self._now = word
        return word


def activity_of(state: SessionState) -> SessionActivity:
    """It rests only when no agent works or asks and nothing waits to be taken up. A view that is made smaller between
    turns has lines of its own (`status`)."""
    return WIRE_WORDS[state.standing_in_turns].stream
