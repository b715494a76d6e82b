"""A server's output as messages: one line each, bounded, and what of it may come in unasked.

A line that is too long is never held: when it was the answer to a request, that request fails, nothing else.
"""

import re
from collections import deque
from collections.abc import Callable

MAX_MESSAGE_BYTES = 16_000_000
"""One message; pictures come as base64 in it."""
MAX_WAITING_BYTES = 4_000_000
"""What waits to be read before the server is made to wait."""
MAX_BAD_LINES = 200
END_BYTES = 400
_ID_FIRST = re.compile(rb'^\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,15})\s*,')
_ID_LAST = re.compile(rb'"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')
_ID_BEFORE_VERSION = re.compile(rb'"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,15})\s*\}\s*$')
_ESCAPES = re.compile(
    rb"(?P<whole>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


def whole_characters(line: bytes) -> bytes:
    """A line that a program cut in the middle of a character, or wrote in another encoding, with a mark in its place:
    the rest of it counts."""
    text = line.decode(errors="replace").encode()
    return _ESCAPES.sub(lambda found: b"\\ufffd" if found["half"] else found[0], text)


def answered_by(line: bytes) -> int | None:
    """The request of ours that a line which cannot be read would answer, if that can be seen at its ends."""
    return None if b'"method"' in line else Oversized(line[:END_BYTES], line[-END_BYTES:]).answered


class Oversized:
    """A line that was too long: what it answered, if that can be seen at its ends."""

    def __init__(self, head: bytes, tail: bytes) -> None:
        found = _ID_FIRST.search(head) or _ID_BEFORE_VERSION.search(tail) or _ID_LAST.search(tail)
        self.answered = int(found[1]) if found else None


class LineBuffer:
    """Bytes in, lines out."""

    def __init__(self, max_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._pieces: list[bytes] = []
        self._size = 0
        self._too_long: tuple[bytes, bytes] | None = None
        self._whole: deque[bytes | Oversized] = deque()
        self.waiting_bytes = 0

    def add(self, data: bytes) -> None:
        """More output."""
        *ended, rest = data.split(b"\n")
        for piece in ended:
            self._take(piece)
            self._end()
        self._take(rest)

    def next(self) -> bytes | Oversized | None:
        """The oldest line that nobody took yet."""
        if not self._whole:
            return None
        line = self._whole.popleft()
        self.waiting_bytes -= len(line) if isinstance(line, bytes) else 0
        return line

    def _take(self, piece: bytes) -> None:
        if self._too_long is not None:
            head, tail = self._too_long
            self._too_long = (head, (tail + piece)[-END_BYTES:])
            return
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > self._max_bytes:
            head = b"".join(self._pieces[:2])[:END_BYTES]
            self._too_long = (head, piece[-END_BYTES:])
            self._pieces, self._size = [], 0

    def _end(self) -> None:
        if self._too_long is not None:
            self._whole.append(Oversized(*self._too_long))
            self._too_long = None
            return
        line = b"".join(self._pieces).strip()
        self._pieces, self._size = [], 0
        if line:
            self._whole.append(line)
            self.waiting_bytes += len(line)


class Inflow:
    """How much a server may send that nobody asked for: a burst, then so many a second of each kind; the rest is
    dropped and counted."""

    BURST = 200
    PER_S = 50.0

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}
        self.dropped = 0

    def admits(self, method: str) -> bool:
        """Whether one more of this kind comes in now."""
        kind = method if method in self._left or len(self._left) < 50 else "*"
        now = self._clock()
        left, at = self._left.get(kind, (float(self.BURST), now))
        left = min(self.BURST, left + (now - at) * self.PER_S)
        self._left[kind] = (left - 1 if left >= 1 else left, now)
        if left < 1:
            self.dropped += 1
        return left >= 1
