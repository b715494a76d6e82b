"""Who may run now: calls that are safe to overlap pass together, any other passes alone, in order of arrival."""

import asyncio
from collections import deque


class Ticket:
    """A place in the queue, taken before it is known whether its call may overlap with others."""

    def __init__(self, turnstile: "Turnstile") -> None:
        self._turnstile = turnstile
        self.shared: bool | None = None
        """None: not known yet, so nothing behind it passes."""
        self.turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.inside = False

    async def admitted(self, *, shared: bool) -> None:
        """Wait for the turn of this call."""
        self.shared = shared
        self._turnstile.admit()
        await self.turn

    async def alone(self) -> None:
        """It turned out that this call, which is inside, overlaps with nothing: wait until the others left."""
        if not self.shared:
            return
        self._turnstile.leave(self)
        self.turn = asyncio.get_running_loop().create_future()
        self._turnstile.first(self)
        await self.admitted(shared=False)

    def leave(self) -> None:
        """Make room, whether it had its turn or not."""
        self._turnstile.leave(self)


class Turnstile:
    """A fair reader/writer lock: one FIFO, so that an exclusive call holds back everything after it."""

    def __init__(self) -> None:
        self._waiting: deque[Ticket] = deque()
        self._shared = 0
        self._exclusive = False

    def ticket(self) -> Ticket:
        """The next place in the queue."""
        ticket = Ticket(self)
        self._waiting.append(ticket)
        return ticket

    def first(self, ticket: Ticket) -> None:
        """Back to the head of the queue."""
        ticket.shared = None
        self._waiting.appendleft(ticket)

    def admit(self) -> None:
        """Let in whoever may pass now."""
        while self._waiting:
            first = self._waiting[0]
            if first.shared is None or self._exclusive or (self._shared and not first.shared):
                return
            self._waiting.popleft()
            self._shared += first.shared
            self._exclusive = not first.shared
            first.inside = True
            if not first.turn.done():
                first.turn.set_result(None)

    def leave(self, ticket: Ticket) -> None:
        """A call is done, or gave up its place."""
        if ticket.inside:
            self._shared -= bool(ticket.shared)
            self._exclusive = self._exclusive and bool(ticket.shared)
            ticket.inside = False
        elif ticket in self._waiting:
            self._waiting.remove(ticket)
        self.admit()
