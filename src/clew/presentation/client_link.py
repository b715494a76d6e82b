"""The two directions of a Client as tasks: events into the session's queue, ops out in order."""

import asyncio
from collections.abc import Callable

from clew.protocol.client import Client
from clew.protocol.events import Envelope
from clew.protocol.ops import Close, Leave, Op


class ClientLink:
    """Submitting may take its time (Close waits for the turn to settle), so it never blocks the one who sends."""

    def __init__(self, client: Client, *, on_event: Callable[[Envelope], None], on_end: Callable[[], None]) -> None:
        self._client = client
        self._on_event = on_event
        self._on_end = on_end
        """Called when the events are over, and when a direction failed: `check` then tells."""
        self._outbox: asyncio.Queue[Op] = asyncio.Queue()
        self._tasks: tuple[asyncio.Task[None], ...] = ()

    def start(self) -> None:
        """Listen and be ready to send."""
        self._tasks = (asyncio.create_task(self._events()), asyncio.create_task(self._ops()))

    def send(self, op: Op) -> None:
        """Hand over an op; those sent before go first."""
        self._outbox.put_nowait(op)

    def check(self) -> None:
        """Raise what went wrong in either direction."""
        fault = self.failure()
        if fault is not None:
            raise fault

    def failure(self) -> BaseException | None:
        """What went wrong in either direction."""
        ended = (task for task in self._tasks if task.done() and not task.cancelled())
        return next((fault for task in ended if (fault := task.exception()) is not None), None)

    async def finish(self, timeout_s: float) -> None:
        """Let the session complete its closing, which may go on after it said good-bye."""
        if self._tasks:  # none: it ended before anything was listened to
            await asyncio.wait(self._tasks[1:], timeout=timeout_s)

    async def stop(self) -> None:
        """End both directions."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _events(self) -> None:
        try:
            async for envelope in self._client.events():
                self._on_event(envelope)
        finally:
            self._on_end()

    async def _ops(self) -> None:
        done = False
        try:
            while not done:
                op = await self._outbox.get()
                await self._client.submit(op)
                done = isinstance(op, Close | Leave)
        finally:
            if not done:
                self._on_end()
