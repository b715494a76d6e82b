"""The one door for front ends."""

from collections.abc import AsyncIterator
from typing import Protocol

from clew.protocol.events import Envelope
from clew.protocol.ops import Op


class Client(Protocol):
    """What a front end holds: ops in, events out. It knows nothing else of the engine."""

    async def submit(self, op: Op) -> None:
        """Hand over an op. Returns when it was taken, not when it is done; an op with an id is answered by OpAccepted
        or OpRejected."""
        ...

    def events(self) -> AsyncIterator[Envelope]:
        """All events from this call on, SessionStarted first. Ends after SessionEnded, at once if that is past."""
        ...
