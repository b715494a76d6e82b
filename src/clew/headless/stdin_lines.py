"""Lines of stdin as they come, from a pipe, a terminal, a file or nothing: numbered, bounded, and never waited for."""

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator

from msgspec import Struct

CHUNK_BYTES = 1 << 16
MAX_LINE_BYTES = 64 << 20
"""A prompt with pictures fits; what is longer is a mistake."""
MAX_WAITING_BYTES = MAX_LINE_BYTES
"""What may be read ahead of whoever takes the lines; beyond it the pipe fills up and the other side waits."""


class StdinLine(Struct, frozen=True):
    """One line without its end."""

    number: int
    data: bytes
    problem: str = ""
    """Why it could not be taken; then `data` is empty."""


class LineCutter:
    """Cuts chunks into lines. A line that is too long is dropped to its end, and said to be."""

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._max = max_line_bytes
        self._pieces: list[bytes] = []
        self._length = 0
        self._number = 1

    def feed(self, chunk: bytes) -> list[StdinLine]:
        """The lines that this chunk completes."""
        *whole, rest = chunk.split(b"\n")
        lines: list[StdinLine] = []
        for piece in whole:
            self._add(piece)
            lines.append(self._cut())
        self._add(rest)
        return lines

    def finish(self) -> list[StdinLine]:
        """What was begun and never ended; a line without a newline counts."""
        return [self._cut()] if self._length else []

    def _add(self, piece: bytes) -> None:
        self._length += len(piece)
        if self._length > self._max:
            self._pieces.clear()
        else:
            self._pieces.append(piece)

    def _cut(self) -> StdinLine:
        too_long = self._length > self._max
        problem = f"it is longer than {self._max:,} bytes" if too_long else ""
        line = StdinLine(self._number, b"" if too_long else b"".join(self._pieces), problem)
        self._pieces.clear()
        self._length = 0
        self._number += 1
        return line


class StdinLines(AsyncIterator[StdinLine]):
    """All lines of a descriptor, until it is closed. A descriptor that cannot be read is at its end."""

    def __init__(self, fd: int, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._fd = fd
        self._cutter = LineCutter(max_line_bytes)
        self._lines: deque[StdinLine] = deque()
        self._waiting_bytes = 0
        self._ended = fd < 0
        self._arrived = asyncio.Event()
        self._watched = False
        self._polled = False
        """A file: the system does not tell when it can be read, because it always can."""

    async def __anext__(self) -> StdinLine:
        while not self._lines:
            if self._ended:
                raise StopAsyncIteration
            await self._more()
        line = self._lines.popleft()
        self._waiting_bytes -= len(line.data)
        return line

    def close(self) -> None:
        """Stop listening: what was read and not taken is gone. The descriptor stays open."""
        self._ended = True
        self._lines.clear()
        self._arrived.set()
        self._unwatch()

    async def _more(self) -> None:
        self._arrived.clear()
        self._watch()
        if self._polled and not self._ended:
            self._read()
            await asyncio.sleep(0)  # a long file must not keep the session from its work
            return
        await self._arrived.wait()

    def _watch(self) -> None:
        if self._watched or self._polled or self._ended:
            return
        try:
            asyncio.get_running_loop().add_reader(self._fd, self._read)
        except PermissionError:
            self._polled = True
        except (OSError, ValueError):
            self._end()
        else:
            self._watched = True

    def _unwatch(self) -> None:
        if self._watched:
            self._watched = False
            asyncio.get_running_loop().remove_reader(self._fd)

    def _read(self) -> None:
        """There is something, so this does not block, whatever the mode of the descriptor."""
        try:
            chunk = os.read(self._fd, CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            self._take(self._cutter.finish())
            self._end()
            return
        self._take(self._cutter.feed(chunk))
        if self._waiting_bytes > MAX_WAITING_BYTES:
            self._unwatch()

    def _take(self, lines: list[StdinLine]) -> None:
        self._lines.extend(lines)
        self._waiting_bytes += sum(len(line.data) for line in lines)
        if lines:
            self._arrived.set()

    def _end(self) -> None:
        self._ended = True
        self._unwatch()
        self._arrived.set()
