"""Events in envelopes, for tests of folds."""

from clew.protocol.base import Envelope, EventBase
from clew.protocol.ids import MAIN_AGENT, AgentId, SessionId

AT = "2026-11-16T08:00:00.000Z"


def sent(event: EventBase, *, agent: AgentId = MAIN_AGENT, at: str = AT) -> Envelope:
    """The event as an agent of a session told it."""
    return Envelope(seq=1, at=at, session_id=SessionId("s-1"), event=event, agent=agent)
