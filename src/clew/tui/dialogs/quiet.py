"""The moment in which no key answers: it ends when nothing was typed for a while."""

import asyncio
from collections.abc import Callable


class QuietTime:
    """Runs from `begin` until it was left alone for its length. Of no length, it never runs."""

    def __init__(self, length_s: float, *, over: Callable[[], None]) -> None:
        self._length_s = length_s
        self._over = over
        self._timer: asyncio.TimerHandle | None = None

    @property
    def runs(self) -> bool:
        """Nothing counts yet."""
        return self._timer is not None

    def begin(self) -> None:
        """From now on, or from now on again."""
        self.end()
        if self._length_s > 0:
            self._timer = asyncio.get_running_loop().call_later(self._length_s, self._ended)

    def end(self) -> None:
        """At once, and without a word."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ended(self) -> None:
        self._timer = None
        self._over()
