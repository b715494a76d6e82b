"""What a front end holds."""

from collections.abc import AsyncIterator
from typing import Protocol, TypeVar

from clew.protocol.events import Envelope
from clew.protocol.lookups.base import Answer, Lookup
from clew.protocol.ops import Op

A = TypeVar("A", bound=Answer)


class Client(Protocol):
    """One front end at one session: ops in, events out, lookups answered. It knows nothing else of the engine."""

    async def submit(self, op: Op) -> None:
        """Hand over an op. Returns when it was taken, not when it is done; an op with an id is answered by OpAccepted
        or OpRejected, which nobody else hears."""
        ...

    async def look_up(self, lookup: Lookup[A]) -> A:
        """Ask, and wait for the one answer. Raises LookupRefused."""
        ...

    def events(self) -> AsyncIterator[Envelope]:
        """All events from this call on, SessionStarted first. Ends after SessionEnded, at once if that is past."""
        ...
