"""What all ops have in common."""

from msgspec import Struct

from clew.protocol.ids import OpId


class OpBase(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="op"):
    """Every op is answered by events, never by a return value."""

    op_id: OpId = OpId("")
    """Chosen by the sender. OpAccepted or OpRejected with this id is the first answer; empty: only what follows."""
