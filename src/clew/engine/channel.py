"""Where the stream and the running tools meet: many writers, one generator that yields."""

import asyncio
from collections.abc import AsyncIterator

from clew.protocol.events import Event


class EventChannel:
    """Events of one attempt in order of arrival. A durable event is a barrier: `emit` returns once it was taken."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[tuple[Event, asyncio.Future[None] | None] | None] = asyncio.Queue()

    def post(self, event: Event) -> None:
        """Show a live event; do not wait."""
        self._queue.put_nowait((event, None))

    async def emit(self, event: Event) -> None:
        """Hand over an event and return when the consumer has recorded it."""
        taken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait((event, taken))
        await taken

    def close(self) -> None:
        """No more events; what is queued is still delivered."""
        self._queue.put_nowait(None)

    async def drain(self) -> AsyncIterator[Event]:
        """All events until `close`."""
        while (item := await self._queue.get()) is not None:
            event, taken = item
            yield event
            if taken is not None and not taken.done():
                taken.set_result(None)
