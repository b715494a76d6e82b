"""Everything that leaves on stdout in one order, one JSON document per line; a reader that is slow is waited for."""

import asyncio
import os
import select
from collections import deque

import msgspec

from clew.system.terminal_text import sanitize

PIECE_BYTES = 4096
"""What a pipe that can be written to takes without blocking, whatever the mode of the descriptor."""
MAX_WAITING_BYTES = 1 << 20
"""Beyond this, whoever makes lines waits until they are read."""


class LineWriter:
    """`put` never blocks and loses no line; `room` is awaited between lines, and raises when nobody reads any more."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._encoder = msgspec.json.Encoder()
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._drained = asyncio.Event()
        self._drained.set()
        self._task: asyncio.Task[None] | None = None
        self._safe = os.isatty(fd)
        self.broken: OSError | None = None
        self._written_bytes = 0

    def put(self, line: msgspec.Struct) -> None:
        """One line, behind all that were put before."""
        if self.broken is not None:
            return
        data = self._encoder.encode(line)
        if self._safe:
            data = sanitize(data.decode(), one_line=True).encode()
        self._waiting.append(data + b"\n")
        self._waiting_bytes += len(data) + 1
        self._drained.clear()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._drain())

    async def room(self) -> None:
        """Wait while too much is unread. Raises OSError when it can never be read."""
        if self._waiting_bytes > MAX_WAITING_BYTES:
            await self._drained.wait()
        if self.broken is not None:
            raise self.broken

    async def flush(self) -> None:
        """Wait until all of it left. Raises OSError when it cannot."""
        await self._drained.wait()
        if self.broken is not None:
            raise self.broken

    async def give_up_unread(self, after_s: float) -> None:
        """When nothing at all is read for so long, nobody reads: what waits is lost, and whoever waits learns it."""
        while self.broken is None:
            before = self._written_bytes
            await asyncio.sleep(after_s)
            if self._waiting and self._task is not None and before == self._written_bytes:
                self._task.cancel()
                self._lose(BrokenPipeError("nobody reads stdout"))

    def _lose(self, error: OSError) -> None:
        self.broken = error
        self._waiting.clear()
        self._waiting_bytes = 0
        self._drained.set()

    async def _drain(self) -> None:
        try:
            while self._waiting:
                data = self._waiting[0]
                await self._write(data)
                self._waiting.popleft()
                self._waiting_bytes -= len(data)
        except OSError as error:
            self._lose(error)
        self._drained.set()

    async def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            if not select.select([], [self._fd], [], 0)[1]:
                await self._writable()
            try:
                count = os.write(self._fd, rest[:PIECE_BYTES])
            except BlockingIOError:
                await self._writable()
                continue
            self._written_bytes += count
            rest = rest[count:]

    async def _writable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = loop.create_future()
        loop.add_writer(self._fd, lambda: ready.done() or ready.set_result(None))
        try:
            await ready
        finally:
            loop.remove_writer(self._fd)
