"""An event with its address: what every fold over a session takes."""

from msgspec import Struct

from clew.protocol.event_base import EventBase
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, SessionId


class Envelope(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One sequence per session, over all its agents. `protocol/wire.py` reads one back from JSON."""

    seq: int
    """Counts up within one process; a listener sees gaps only where live events were merged or dropped."""
    at: str
    """ISO 8601, UTC, milliseconds, with a final Z."""
    session_id: SessionId
    event: EventBase
    agent: AgentId = MAIN_AGENT
    parent_call: CallId | None = None
    """The call that started this agent; None for the main one."""
