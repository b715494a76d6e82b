"""A Client of a test that knows no lookups."""

from typing import TypeVar

from clew.protocol.lookups.base import Answer, Lookup, LookupRefused

A = TypeVar("A", bound=Answer)


class NoLookups:
    """Refuses every lookup, as a session that has ended does."""

    async def look_up(self, lookup: Lookup[A]) -> A:
        raise LookupRefused("nothing is looked up in this test")
