"""The one door for front ends."""

from collections.abc import AsyncIterator
from typing import Protocol

from clew.protocol.events import Event
from clew.protocol.ops import Op


class Client(Protocol):
    """What a front end holds: ops in, events out. It knows nothing else of the engine."""

    async def submit(self, op: Op) -> None:
        """Hand over an op. Returns when it is accepted, not when it is done."""
        ...

    def events(self) -> AsyncIterator[Event]:
        """All events from now on, SessionStarted first. Ends after SessionEnded."""
        ...
