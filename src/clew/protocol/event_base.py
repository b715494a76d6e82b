"""What all events have in common."""

from msgspec import Struct


class EventBase(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="event"):
    """Plain data, no classes, no futures. Who it is about stands in the envelope."""


class LiveEvent(EventBase, frozen=True, kw_only=True):
    """Seen as it happens; never replayed, and may be merged or dropped for a front end that is slow."""


class DurableEvent(EventBase, frozen=True, kw_only=True):
    """Written to the transcript before any front end sees it, and never dropped."""
