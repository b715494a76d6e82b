"""Our ends of the pipes of a command: what it writes comes piece by piece and can be held back; what it reads."""

import asyncio
import contextlib
import os
from collections.abc import Callable

PIPE_BYTES = 1 << 20
READ_BYTES = 1 << 18


class Outlet:
    """A pipe that a command writes to."""

    def __init__(self, descriptor: int, take: Callable[[bytes], None]) -> None:
        self._descriptor = descriptor
        self._take = take
        self._loop = asyncio.get_running_loop()
        self._held = False
        self.drained: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_reader(descriptor, self._on_pipe)

    def hold(self) -> None:
        """Take nothing for now: the pipe fills, and the command waits."""
        if not self._held and self._descriptor >= 0 and not self.drained.done():
            self._held = True
            self._loop.remove_reader(self._descriptor)

    def release(self) -> None:
        """Go on taking."""
        if self._held and self._descriptor >= 0:
            self._held = False
            self._loop.add_reader(self._descriptor, self._on_pipe)

    def close(self) -> None:
        """Take what already lies in the pipe, which the kernel bounds, and let go of it."""
        if self._descriptor < 0:
            return
        self._loop.remove_reader(self._descriptor)
        self._settle()
        with contextlib.suppress(OSError):
            for _ in range(PIPE_BYTES // READ_BYTES + 1):
                data = os.read(self._descriptor, READ_BYTES)
                if not data:
                    break
                self._take(data)
        os.close(self._descriptor)
        self._descriptor = -1

    def _on_pipe(self) -> None:
        try:
            data = os.read(self._descriptor, READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._take(data)
            return
        self._loop.remove_reader(self._descriptor)
        self._settle()

    def _settle(self) -> None:
        if not self.drained.done():
            self.drained.set_result(None)


class Inlet:
    """A pipe that a command reads from. One writer at a time."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[None] | None = None

    async def write(self, data: bytes) -> None:
        """Returns when the pipe has taken all of it. Raises OSError when nobody reads any more."""
        view = memoryview(data)
        while view:
            if self._descriptor < 0:
                raise BrokenPipeError("the input of the command is closed")
            try:
                view = view[os.write(self._descriptor, view) :]
            except BlockingIOError:
                await self._room()

    async def _room(self) -> None:
        ready = self._ready = self._loop.create_future()
        self._loop.add_writer(self._descriptor, self._wake)
        try:
            await ready
        finally:
            self._ready = None
            if self._descriptor >= 0:
                self._loop.remove_writer(self._descriptor)

    def _wake(self) -> None:
        if self._ready is not None and not self._ready.done():
            self._ready.set_result(None)

    def close(self) -> None:
        """The command reads the end of its input; whoever waits for room gets an error."""
        if self._descriptor >= 0:
            self._loop.remove_writer(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1
            self._wake()
