"""The clock of the running event loop in a test's hand: limits run out, or never do, without anybody waiting."""

import asyncio
from collections.abc import Callable
from typing import Any


class LoopClock:
    """From here on the loop's time is the test's. Lasts as long as the loop, which is one test."""

    def __init__(self) -> None:
        loop: Any = asyncio.get_running_loop()
        self._real: Callable[[], float] = loop.time
        self._ahead_s = 0.0
        self._stopped_at: float | None = None
        self._set_timer: Callable[..., asyncio.TimerHandle] = loop.call_at
        self._longest_s = 0.0
        loop.time = self.time  # every timer of the loop asks this method
        loop.call_at = self.call_at

    def time(self) -> float:
        """What the loop takes for now."""
        return (self._real() if self._stopped_at is None else self._stopped_at) + self._ahead_s

    def call_at(self, when: float, *more: Any, **named: Any) -> asyncio.TimerHandle:
        """What the loop calls to set a timer; its length is noted."""
        self._longest_s = max(self._longest_s, when - self.time())
        return self._set_timer(when, *more, **named)

    def runs(self, seconds: float) -> bool:
        """Whether a limit of about this length has begun to run. One that has not is not shortened by `forward`."""
        return self._longest_s > seconds * 0.99

    def forward(self, seconds: float) -> None:
        """So much later at once: what was to happen by then happens in the loop's next round."""
        self._ahead_s += seconds

    def stop(self) -> None:
        """No time passes any more: whoever waits for some, waits for ever."""
        self._stopped_at = self._real()
