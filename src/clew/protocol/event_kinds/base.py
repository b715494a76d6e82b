"""What all events have in common, and the envelope that gives each its address."""

from msgspec import Struct

from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, SessionId


class EventBase(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="event"):
    """Plain data, no classes, no futures. Who it is about stands in the envelope."""


class LiveEvent(EventBase, frozen=True, kw_only=True):
    """Seen as it happens; never replayed, and may be merged or dropped for a front end that is slow."""


class DurableEvent(EventBase, frozen=True, kw_only=True):
    """Written to the transcript before any front end sees it, and never dropped."""


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
