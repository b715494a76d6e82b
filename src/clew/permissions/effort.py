"""How much one verdict may look at: a budget of directory entries and path steps, and listings that are read once.

The judge runs on the event loop, so a project must not be able to keep it busy (cases/nothing_freezes.txt).
"""

import os
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

MAX_LOOKS = 30_000
MAX_ENTRIES = 60_000


class TooMuchWork(Exception):
    """The budget is spent. The message says what a person may read."""


class Effort:
    """What one verdict has spent so far."""

    def __init__(self) -> None:
        self.looks = 0
        self.entries = 0
        self.listings: dict[str, tuple[os.DirEntry[str], ...]] = {}


_current: ContextVar[Effort | None] = ContextVar("effort", default=None)


@contextmanager
def limited_effort() -> Generator[None]:
    """One verdict's budget. Inside another one it is that one's."""
    if _current.get() is not None:
        yield
        return
    token = _current.set(Effort())
    try:
        yield
    finally:
        _current.reset(token)


def look(count: int = 1) -> None:
    """Account for questions to the file system. Raises TooMuchWork."""
    effort = _current.get()
    if effort is None:
        return
    effort.looks += count
    if effort.looks > MAX_LOOKS:
        raise TooMuchWork("it names too many files to be judged")


def entries_of(directory: str) -> tuple[os.DirEntry[str], ...]:
    """The entries of a directory; none where it cannot be read. Raises TooMuchWork."""
    effort = _current.get() or Effort()
    known = effort.listings.get(directory)
    if known is not None:
        look(1 + len(known) // 50)
        return known
    found: list[os.DirEntry[str]] = []
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                effort.entries += 1
                if effort.entries > MAX_ENTRIES:
                    raise TooMuchWork("there are too many files here to be judged")
                found.append(entry)
    except (OSError, ValueError):
        found = []
    look()
    effort.listings[directory] = tuple(found)
    return effort.listings[directory]
