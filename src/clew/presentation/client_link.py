"""The two directions of a Client as tasks: events into the session's queue, ops and lookups out in order."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from clew.protocol.client import Client
from clew.protocol.events import Envelope
from clew.protocol.lookups.base import Answer, Lookup, LookupRefused
from clew.protocol.ops import Close, Leave, Op, OpBase

A = TypeVar("A", bound=Answer)


class ClientLink:
    """Submitting may take its time (Close waits for the turn to settle), so it never blocks the one who sends."""

    def __init__(self, client: Client, *, on_event: Callable[[Envelope], None], on_end: Callable[[], None]) -> None:
        self._client = client
        self._on_event = on_event
        self._on_end = on_end
        """Called when the events are over, and when a direction failed: `check` then tells."""
        self._outbox: asyncio.Queue[Op | Callable[[], Coroutine[Any, Any, None]]] = asyncio.Queue()
        self._tasks: tuple[asyncio.Task[None], ...] = ()
        self._looking: set[asyncio.Task[None]] = set()
        self._fault: BaseException | None = None

    def start(self) -> None:
        """Listen and be ready to send."""
        self._tasks = (asyncio.create_task(self._events()), asyncio.create_task(self._sent()))

    def send(self, op: Op) -> None:
        """Hand over an op; what was sent before goes first."""
        self._outbox.put_nowait(op)

    def look_up(self, lookup: Lookup[A], then: Callable[[A], None], refused: Callable[[str], None]) -> None:
        """Ask, when what was sent before has been handed over. Nobody waits: one of the two is called with what comes
        back, unless the front end stopped meanwhile."""
        self._outbox.put_nowait(partial(self._asked, lookup, then, refused))

    def check(self) -> None:
        """Raise what went wrong in either direction."""
        fault = self.failure()
        if fault is not None:
            raise fault

    def failure(self) -> BaseException | None:
        """What went wrong in either direction."""
        ended = (task for task in self._tasks if task.done() and not task.cancelled())
        return self._fault or next((fault for task in ended if (fault := task.exception()) is not None), None)

    async def finish(self, timeout_s: float) -> None:
        """Let the session complete its closing, which may go on after it said good-bye."""
        if self._tasks:  # none: it ended before anything was listened to
            await asyncio.wait(self._tasks[1:], timeout=timeout_s)

    async def stop(self) -> None:
        """End both directions."""
        tasks = (*self._tasks, *self._looking)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _events(self) -> None:
        try:
            async for envelope in self._client.events():
                self._on_event(envelope)
        finally:
            self._on_end()

    async def _sent(self) -> None:
        done = False
        try:
            while not done:
                item = await self._outbox.get()
                if isinstance(item, OpBase):
                    await self._client.submit(item)
                    done = isinstance(item, Close | Leave)
                else:
                    task = asyncio.create_task(item())
                    self._looking.add(task)
                    task.add_done_callback(self._answered)
                    await asyncio.sleep(0)  # it is under way before what was sent after it
        finally:
            if not done:
                self._on_end()

    async def _asked(self, lookup: Lookup[A], then: Callable[[A], None], refused: Callable[[str], None]) -> None:
        try:
            answer = await self._client.look_up(lookup)
        except LookupRefused as reason:
            refused(str(reason))
        else:
            then(answer)

    def _answered(self, task: "asyncio.Task[None]") -> None:
        self._looking.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            self._fault = self._fault or fault
            self._on_end()
