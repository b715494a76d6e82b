"""The door of a live session for other processes: a Unix socket, one connection of the session per front end.

Let in is only the same user, only from outside every clew session, only with this wire. Whatever else comes is refused
with a reason and harms nothing. The path stands in the session's lease; a socket whose process is gone is removed by
whoever meets it.
"""

import asyncio
import contextlib
import os
import socket
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from clew import __version__
from clew.host.connection import Connection, Listener
from clew.host.door import Door
from clew.protocol.base import rights_of
from clew.protocol.lookups.base import LookupRefused
from clew.protocol.ops import Leave
from clew.protocol.wire import (
    MAX_FRAME_BYTES,
    WIRE_VERSION,
    BadFrame,
    EndFrame,
    Frame,
    Hello,
    Listen,
    LookupFrame,
    NotFound,
    RefusedFrame,
    SendOp,
    Welcome,
    answer_frame,
    event_frame,
    line_of,
    lookup_of,
    op_of,
    said_by_front_end,
)
from clew.system.peers import Peer, has_peer_credentials, peer_of, session_above
from clew.system.private_files import private_dir
from clew.text.terminal_text import sanitize
from clew.transcript.log.lease import process_start

HELLO_S = 10.0
STALLED_S = 5.0
FAREWELL_S = 1.0
"""For the last events to reach those who are attached."""
MAX_WAITING = 20_000
"""Events that may wait for a reader; one that lets more pile up is cut off."""
MAX_LOOKUPS = 64
MAX_NAME_CHARS = 60
MAX_CONNECTIONS = 64


class NoSocket(OSError):
    """No socket can be had here; the words say why."""


class SocketServer:
    """One per session."""

    def __init__(self, door: Door, path: Path) -> None:
        self._door = door
        self.path = path
        self._server: asyncio.Server | None = None
        self._served: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Begin to listen. Raises NoSocket."""
        if not has_peer_credentials():
            raise NoSocket("this system does not tell who connects to a socket")
        try:
            private_dir(self.path.parent)
            remove_dead(self.path.parent)
            listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(self.path)  # the name holds our process number, so it is of a process that is gone
                listening.bind(str(self.path))
                os.chmod(self.path, 0o600)
            except BaseException:
                listening.close()
                raise
            self._server = await asyncio.start_unix_server(self._accept, sock=listening, limit=MAX_FRAME_BYTES)
        except OSError as error:
            raise NoSocket(f"{self.path}: {error.strerror or error}") from error

    async def close(self) -> None:
        """Stop listening, end every connection, remove the socket."""
        if self._server is None:
            return
        self._server.close()
        with contextlib.suppress(OSError):
            os.unlink(self.path)
        if self._served:
            await asyncio.wait(self._served, timeout=FAREWELL_S)
        for task in list(self._served):
            task.cancel()
        await asyncio.gather(*self._served, return_exceptions=True)
        self._server = None

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._served.add(task)
        try:
            await self._serve(reader, writer)
        except (BadFrame, OSError, asyncio.IncompleteReadError, ValueError) as error:
            with contextlib.suppress(OSError):
                writer.write(line_of(RefusedFrame(reason=f"not understood: {error}"[:500])))
        finally:
            self._served.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = peer_of(writer.get_extra_info("socket"))
        refused = refusal_of(peer)
        if refused or len(self._served) > MAX_CONNECTIONS:
            writer.write(line_of(RefusedFrame(reason=refused or "too many front ends are attached")))
            await writer.drain()
            return
        assert peer is not None
        async with asyncio.timeout(HELLO_S):
            hello = said_by_front_end(await reader.readuntil(b"\n"))
        welcome = self._greeting(hello)
        writer.write(line_of(welcome))
        await writer.drain()
        if isinstance(welcome, RefusedFrame):
            return
        assert isinstance(hello, Hello)
        rights = rights_of(hello.rights)
        assert rights is not None
        name = f"{sanitize(hello.name, one_line=True)[:MAX_NAME_CHARS]} (process {peer.pid})"
        guest = Guest(self._door.connect(rights, name=name, guest=True), reader, writer)
        await guest.run()

    def _greeting(self, hello: object) -> Welcome | RefusedFrame:
        if not isinstance(hello, Hello):
            return RefusedFrame(reason="the first line must be a hello")
        if hello.wire != WIRE_VERSION:
            words = f"this session speaks version {WIRE_VERSION} (clew {__version__}), you speak {hello.wire}"
            return RefusedFrame(reason=f"{words} (clew {hello.version[:40]}); use the same clew on both sides")
        if rights_of(hello.rights) is None:
            return RefusedFrame(reason=f"there are no rights {hello.rights[:40]!r}; there are watch, answer and drive")
        if self._door.ended:
            return RefusedFrame(reason="the session has ended")
        session_id = self._door.session.started.session_id
        return Welcome(wire=WIRE_VERSION, version=__version__, session_id=session_id)


def remove_dead(folder: Path) -> None:
    """Remove the sockets of processes that are gone; their names end with the process number."""
    for path in folder.glob("*-*.sock"):
        number = path.stem.rpartition("-")[2]
        if number.isdecimal() and not process_start(int(number)):
            with contextlib.suppress(OSError):
                os.unlink(path)


def refusal_of(peer: Peer | None) -> str:
    """Why this process is not let in; empty: it is."""
    if peer is None:
        return "this system does not tell who connects"
    if peer.uid != os.getuid():
        return "this session belongs to another user"
    try:
        above = session_above(peer.pid)
    except ProcessLookupError as error:
        return f"it is not known where you come from: {error}"
    return f"you run below a clew session (process {above}): only a person answers or drives" if above else ""


class Guest:
    """One front end of another process, from its welcome to its end."""

    def __init__(self, connection: Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connection = connection
        self._reader = reader
        self._writer = writer
        self._writing = asyncio.Lock()
        self._listener: Listener | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._looking: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Until either side ends it. Who says no more still gets the answers that are under way."""
        try:
            while line := await self._next():
                await self._take(line)
            if self._looking:
                await asyncio.wait(self._looking, timeout=FAREWELL_S)
        finally:
            self._connection.leave()
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _next(self) -> bytes:
        try:
            return await self._reader.readuntil(b"\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return b""
        except asyncio.LimitOverrunError as error:
            raise BadFrame(f"a line is longer than {MAX_FRAME_BYTES} bytes") from error

    async def _take(self, line: bytes) -> None:
        match frame := said_by_front_end(line):
            case SendOp():
                op = op_of(frame)
                if isinstance(op, Leave):
                    self._connection.leave()
                else:
                    self._start(self._connection.submit(op))
            case LookupFrame():
                if len(self._looking) >= MAX_LOOKUPS:
                    await self._send(NotFound(id=frame.id, reason="too many lookups at once"))
                else:
                    task = self._start(self._look_up(frame))
                    self._looking.add(task)
                    task.add_done_callback(self._looking.discard)
            case Listen() if self._listener is None:
                self._listener = self._connection.events()
                self._start(self._tell(self._listener))
            case _:
                raise BadFrame("a second hello, or a second listen")

    def _start(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _look_up(self, frame: LookupFrame) -> None:
        try:
            lookup = lookup_of(frame)
            await self._send(answer_frame(frame.id, await self._connection.look_up(lookup)))
        except (LookupRefused, BadFrame) as refused:
            await self._send(NotFound(id=frame.id, reason=str(refused)))

    async def _tell(self, listener: Listener) -> None:
        try:
            async for envelope in listener:
                await self._send(event_frame(envelope))
            await self._send(EndFrame())
        except OSError:
            pass  # the reader is gone; reading ends too
        finally:
            self._writer.close()

    async def _send(self, frame: Frame) -> None:
        """Waits for a slow reader as long as not too much piles up behind it."""
        async with self._writing:
            self._writer.write(line_of(frame))
            while True:
                try:
                    async with asyncio.timeout(STALLED_S):
                        await self._writer.drain()
                    return
                except TimeoutError:
                    if self._listener is not None and self._listener.waiting > MAX_WAITING:
                        self._writer.transport.abort()
                        raise ConnectionAbortedError("the reader does not read") from None
