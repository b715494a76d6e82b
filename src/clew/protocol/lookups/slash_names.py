"""Which slash names users brought."""

from clew.protocol.invocables import InvocableKind, InvocableRow
from clew.protocol.lookups.base import Answer, Lookup


class InvocablesListed(Answer, frozen=True, kw_only=True, tag="invocables.listed"):
    """All of one kind, hidden ones too."""

    kinds: tuple[InvocableKind, ...]
    invocables: tuple[InvocableRow, ...]
    problems: tuple[str, ...] = ()
    """Files that could not be understood, a line each."""


class ListInvocables(Lookup[InvocablesListed], frozen=True, kw_only=True, tag="invocables.list"):
    """Ask what there is."""

    kinds: tuple[InvocableKind, ...] = ("command", "skill", "prompt")
    name: str = ""
    """Somebody looks for this name: answered once whoever may still bring it was waited for."""
