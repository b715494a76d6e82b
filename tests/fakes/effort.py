"""What work costs, counted in steps instead of seconds, and an end for what would never end."""

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from types import FrameType

HANG_S = float(os.environ.get("CLEW_TESTS_HANG_S", "300"))
"""How long a test waits for what must come; only something that hangs takes that long, on any machine."""


def calls_in(action: Callable[[], object]) -> int:
    """How many function calls an action makes, those into C included: the same on a slow and on a busy machine."""
    count = 0

    def note(_frame: FrameType, _event: str, _value: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count


@contextlib.contextmanager
def not_hanging(within_s: float = HANG_S) -> Iterator[None]:
    """Fails what has not returned after a time in which everything returns. Also stops a regular expression."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"it did not end within {within_s:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, within_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
