"""The clock of the running event loop in a test's hand: limits run out, or never do, without anybody waiting."""

import asyncio


class LoopClock:
    """From here on the loop's time is the test's. Lasts as long as the loop, which is one test."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._real = loop.time
        self._ahead_s = 0.0
        self._stopped_at: float | None = None
        loop.time = self.time  # every timer of the loop asks this method

    def time(self) -> float:
        """What the loop takes for now."""
        return (self._real() if self._stopped_at is None else self._stopped_at) + self._ahead_s

    def forward(self, seconds: float) -> None:
        """So much later at once: what was to happen by then happens in the loop's next round."""
        self._ahead_s += seconds

    def stop(self) -> None:
        """No time passes any more: whoever waits for some, waits for ever."""
        self._stopped_at = self._real()
