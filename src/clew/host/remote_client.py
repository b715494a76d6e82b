"""A Client of a session that lives in another process of this machine."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from clew import __version__
from clew.protocol.base import Rights
from clew.protocol.events import Envelope, SessionStarted
from clew.protocol.lookups.base import Answer, Lookup, LookupRefused
from clew.protocol.ops import Close, Leave, Op
from clew.protocol.wire import (
    MAX_FRAME_BYTES,
    WIRE_VERSION,
    AnswerFrame,
    BadFrame,
    EndFrame,
    EventFrame,
    Frame,
    Hello,
    Listen,
    NotFound,
    RefusedFrame,
    Welcome,
    answer_of,
    envelope_of,
    line_of,
    lookup_frame,
    op_frame,
    said_by_session,
)
from clew.transcript.log.lease import Owner, holder_of, lock_path, read_owner

A = TypeVar("A", bound=Answer)
CONNECT_S = 10.0
GONE = "the session's process is gone"


class NotReached(Exception):
    """The session cannot be reached, or does not let us in; the words are for a person."""


async def reach_session(transcript: Path, session_id: str, rights: Rights, name: str) -> "RemoteClient":
    """Connect to the process that runs a session. Raises NotReached, which names the way on where nobody runs it; the
    socket of a dead process is removed."""
    owner = holder_of(transcript)
    if owner is None:
        _forget_dead_socket(transcript)
        raise NotReached(f"no process runs it now; clew -r {session_id} goes on with it")
    return await reach(owner, rights, name)


def _forget_dead_socket(transcript: Path) -> None:
    with contextlib.suppress(OSError):
        owner = read_owner(lock_path(transcript).read_bytes())
        if owner is not None:
            remove_dead(owner)


async def reach(owner: Owner, rights: Rights, name: str) -> "RemoteClient":
    """Connect to the session that this process holds. Raises NotReached."""
    if not owner.socket:
        raise NotReached(f"{owner} serves no socket{f': {owner.no_socket}' if owner.no_socket else ' yet'}")
    try:
        async with asyncio.timeout(CONNECT_S):
            reader, writer = await asyncio.open_unix_connection(owner.socket, limit=MAX_FRAME_BYTES)
            writer.write(line_of(Hello(wire=WIRE_VERSION, version=__version__, rights=rights.word, name=name)))
            said = said_by_session(await reader.readuntil(b"\n"))
    except (FileNotFoundError, ConnectionRefusedError) as error:
        remove_dead(owner)
        raise NotReached(f"{owner} does not listen at {owner.socket}") from error
    except (OSError, TimeoutError, asyncio.IncompleteReadError, BadFrame) as error:
        raise NotReached(f"{owner} does not answer: {error or type(error).__name__}") from error
    if isinstance(said, Welcome):
        return RemoteClient(reader, writer)
    writer.close()
    raise NotReached(said.reason if isinstance(said, RefusedFrame) else f"{owner} said something else than welcome")


def remove_dead(owner: Owner) -> None:
    """Remove the socket of a process that is gone; one that lives keeps its own."""
    if owner.socket and not owner.alive():
        with contextlib.suppress(OSError):
            os.unlink(Path(owner.socket))


class RemoteClient:
    """Ops, lookups and events over a socket. Closing it leaves the session running: that is its owner's to end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._events: asyncio.Queue[Envelope | None] = asyncio.Queue()
        self._asked: dict[int, asyncio.Future[Answer]] = {}
        self._number = 0
        self._listening = False
        self.ended = False
        """The session said that it is over."""
        self.lost = ""
        """Why the connection broke off; empty: it did not, or was left."""
        self._left = False
        self._reading = asyncio.create_task(self._read())

    async def submit(self, op: Op) -> None:
        """Hand over an op. A front end that closes its session only leaves it here."""
        if isinstance(op, Close | Leave):
            await self.leave()
        else:
            await self._send(op_frame(op))

    async def close_session(self) -> None:
        """End the session for everybody."""
        await self._send(op_frame(Close()))

    async def look_up(self, lookup: Lookup[A]) -> A:
        """Ask, and wait for the one answer. Raises LookupRefused."""
        if self.lost or self._left or self.ended:
            raise LookupRefused(self.lost or "this connection has ended")
        self._number += 1
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked[self._number] = answer
        await self._send(lookup_frame(self._number, lookup))
        return await answer

    async def events(self) -> AsyncIterator[Envelope]:
        """Everything from the first call on; ends with the session, with this connection, or when it breaks off."""
        if not self._listening:
            self._listening = True
            await self._send(Listen())
        while (envelope := await self._events.get()) is not None:
            yield envelope
        self._events.put_nowait(None)

    async def leave(self) -> None:
        """End this connection; the session goes on."""
        if not self._left:
            self._left = True
            await self._send(op_frame(Leave()))
            self._writer.close()
            self._reading.cancel()
            self._end("")

    async def _send(self, frame: Frame) -> None:
        if self.lost:
            return
        try:
            self._writer.write(line_of(frame))
            await self._writer.drain()
        except OSError:
            self._end(GONE)

    async def _read(self) -> None:
        try:
            while True:
                self._take(said_by_session(await self._reader.readuntil(b"\n")))
        except (asyncio.IncompleteReadError, OSError):
            self._end("" if self.ended else GONE)
        except (BadFrame, asyncio.LimitOverrunError) as error:
            self._end(f"the session said something that is not understood: {error}")
            self._writer.close()

    def _take(self, frame: object) -> None:
        match frame:
            case EventFrame():
                envelope = envelope_of(frame)
                if isinstance(envelope.event, SessionStarted):
                    envelope = replace(envelope, event=replace(envelope.event, attached=True))
                self._events.put_nowait(envelope)
            case AnswerFrame() if (waiting := self._asked.pop(frame.id, None)) is not None:
                if not waiting.done():
                    waiting.set_result(answer_of(frame))
            case NotFound() if (waiting := self._asked.pop(frame.id, None)) is not None:
                if not waiting.done():
                    waiting.set_exception(LookupRefused(frame.reason))
            case EndFrame():
                self.ended = True
                self._events.put_nowait(None)
            case RefusedFrame():
                self._end(frame.reason)
            case _:
                pass

    def _end(self, why: str) -> None:
        self.lost = self.lost or why
        self._events.put_nowait(None)
        for waiting in self._asked.values():
            if not waiting.done():
                waiting.set_exception(LookupRefused(why or "this connection has ended"))
        self._asked.clear()
