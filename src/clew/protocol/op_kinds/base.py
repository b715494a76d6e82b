"""What all ops have in common."""

from typing import ClassVar

from msgspec import Struct

from clew.protocol.event_kinds.base import EventBase
from clew.protocol.ids import MAIN_AGENT, AgentId, OpId
from clew.protocol.rights import Rights


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
