"""How many child agents work at once: others wait in order, and one that waits for its own child lends its place."""

import asyncio
from collections import deque


class Slots:
    """One per session. Whoever comes back from waiting for its own child goes before those that have not begun."""

    def __init__(self, limit: int) -> None:
        self._free = max(1, limit)
        self._back: deque[asyncio.Future[None]] = deque()
        self._new: deque[asyncio.Future[None]] = deque()

    @property
    def waiting(self) -> int:
        """How many have not begun."""
        return len(self._new)

    @property
    def full(self) -> bool:
        """Whoever comes now waits."""
        return not self._free

    async def take(self, *, back: bool = False) -> None:
        """Wait for a place. Cancelled: no place was taken."""
        if self._free:
            self._free -= 1
            return
        line = self._back if back else self._new
        turn = asyncio.get_running_loop().create_future()
        line.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give()  # it was ours already
            elif turn in line:
                line.remove(turn)
            raise

    def give(self) -> None:
        """A place is free: the next in line has it."""
        for line in (self._back, self._new):
            while line:
                turn = line.popleft()
                if not turn.done():
                    turn.set_result(None)
                    return
        self._free += 1
