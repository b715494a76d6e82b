"""Who may run now: calls that are safe to overlap pass together, any other passes alone, in order of arrival."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class Turnstile:
    """A fair reader/writer lock: one FIFO, so that an exclusive call holds back everything after it."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[asyncio.Future[None], bool]] = deque()
        self._shared = 0
        self._exclusive = False

    @asynccontextmanager
    async def passage(self, *, shared: bool) -> AsyncGenerator[None]:
        """Wait for the turn of this call and hold it. Queue order is the order in which calls enter here."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((turn, shared))
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            self._leave_queue(turn, shared=shared)
            raise
        try:
            yield
        finally:
            self._release(shared=shared)

    def _admit(self) -> None:
        while self._waiting:
            turn, shared = self._waiting[0]
            if turn.cancelled():
                self._waiting.popleft()
                continue
            if self._exclusive or (self._shared and not shared):
                return
            self._waiting.popleft()
            self._shared += shared
            self._exclusive = not shared
            turn.set_result(None)

    def _release(self, *, shared: bool) -> None:
        if shared:
            self._shared -= 1
        else:
            self._exclusive = False
        self._admit()

    def _leave_queue(self, turn: "asyncio.Future[None]", *, shared: bool) -> None:
        if turn.done() and not turn.cancelled():
            self._release(shared=shared)
        else:
            self._admit()
