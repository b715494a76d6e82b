"""What all events and all ops have in common, rights, the envelope that gives each event its address, and unions.

Unions are made from the classes themselves: a new event, op or ask is one class, and no list names it.
"""

from enum import IntEnum
from typing import Any, ClassVar, Union

from msgspec import Struct

from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, OpId, SessionId


class Rights(IntEnum):
    """What a connection may do at a session, checked in `host/connection.py`. Each includes those before it."""

    WATCH = 1
    """Hear what happens and look things up."""
    ANSWER = 2
    """Also answer what waits for a person."""
    DRIVE = 3
    """Also prompt, interrupt, change what is in force, and end the session."""

    @property
    def word(self) -> str:
        """For people and for the wire."""
        return self.name.lower()


def rights_of(word: str) -> Rights | None:
    """The rights of this name; None for a word that is none."""
    return next((rights for rights in Rights if rights.word == word), None)


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


class OpBase(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="op"):
    """Every op is answered by events, never by a return value."""

    needs: ClassVar[Rights] = Rights.DRIVE
    """What a connection must be allowed for it."""

    ends_with: ClassVar[tuple[type[EventBase], ...]] = ()
    """Events of which the first says what came of it; none: what follows goes on, as a turn does."""

    op_id: OpId = OpId("")
    """Chosen by the sender. OpAccepted or OpRejected with this id is the first answer; empty: only what follows."""
    agent: AgentId = MAIN_AGENT
    """Which agent of the session it is for. An agent that there is not rejects it; so does one that cannot do it."""


def leaves(base: type[Struct]) -> tuple[type[Struct], ...]:
    """Every class below this one that has no subclass of its own and is known by now, in order of definition."""
    found: list[type[Struct]] = []
    for kind in base.__subclasses__():
        found += leaves(kind) or (kind,)
    return tuple(found)


def union_of(base: type[Struct]) -> Any:
    """The union of these, by whose tags msgspec tells them apart. Classes that are defined later are not in it."""
    return Union[leaves(base)]  # noqa: UP007  (`|` cannot join a tuple that is only known at run time)
