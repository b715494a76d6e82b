"""How long a server may be silent: each call has its limit, signs of life begin it anew, and a person's time is not
the server's."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager


class CallClocks:
    """The limits of all that is asked of one server."""

    def __init__(self) -> None:
        self._running: dict[asyncio.Timeout, float] = {}
        self._people = 0
        """Questions of the server's that somebody is about to answer."""

    @asynccontextmanager
    async def limit(self, limit_s: float) -> AsyncGenerator[Callable[[], None]]:
        """Raises TimeoutError when nothing was heard for so long; what is yielded is to be called when something is."""
        async with asyncio.timeout(None if self._people else limit_s) as clock:
            self._running[clock] = limit_s
            try:
                yield lambda: self._begin(clock, limit_s)
            finally:
                del self._running[clock]

    @contextmanager
    def person(self) -> Generator[None]:
        """Somebody answers the server meanwhile: no limit runs, and all begin anew afterwards. A server that never lets
        go of its question is stopped with the turn."""
        self._people += 1
        for clock in self._running:
            clock.reschedule(None)
        try:
            yield
        finally:
            self._people -= 1
            for clock, limit_s in self._running.items():
                self._begin(clock, limit_s)

    def _begin(self, clock: asyncio.Timeout, limit_s: float) -> None:
        if not self._people and not clock.expired():
            clock.reschedule(asyncio.get_running_loop().time() + limit_s)
