"""Time as a thing one can hand over: the real clock, and one that tests move by hand."""

import time
from typing import Protocol


class Clock(Protocol):
    """Wall time for records, monotonic time for durations."""

    def wall_s(self) -> float:
        """Seconds since 1970, UTC."""
        ...

    def monotonic_s(self) -> float:
        """Seconds since some moment; never goes back."""
        ...


class SystemClock:
    """The machine's own clock."""

    def wall_s(self) -> float:
        return time.time()

    def monotonic_s(self) -> float:
        return time.monotonic()


class ManualClock:
    """A clock that stands still until it is moved."""

    def __init__(self, wall_s: float = 0.0) -> None:
        self._wall_s = wall_s
        self._monotonic_s = 0.0

    def wall_s(self) -> float:
        return self._wall_s

    def monotonic_s(self) -> float:
        return self._monotonic_s

    def advance(self, seconds: float) -> None:
        """Let time pass for both readings."""
        self._wall_s += seconds
        self._monotonic_s += seconds

    def set_wall(self, wall_s: float) -> None:
        """Move wall time alone, as a clock correction does; monotonic time does not notice."""
        self._wall_s = wall_s


def iso_utc(wall_s: float) -> str:
    """`2026-01-31T09:05:00.123Z`: UTC, milliseconds, the form of every timestamp on disk."""
    millis = round(wall_s * 1000)
    whole = time.gmtime(millis // 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', whole)}.{millis % 1000:03d}Z"


def local_date(wall_s: float) -> str:
    """`2026-01-31 (Saturday)` in the user's time zone. English whatever the locale: the model reads it."""
    moment = time.localtime(wall_s)
    weekdays = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    return f"{moment.tm_year:04d}-{moment.tm_mon:02d}-{moment.tm_mday:02d} ({weekdays[moment.tm_wday]})"
