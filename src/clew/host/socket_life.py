"""When a session can be reached by other processes: from the moment it is on disk until its end was told."""

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from clew.host.part import Part, PartSession, PartSetup
from clew.protocol.events import Ask, Event, ReplyAwaited, ReplyBegan, TurnEnded
from clew.protocol.ids import AgentId
from clew.system.home import socket_dir
from clew.system.peers import SessionMark
from clew.transcript.log.writer import TranscriptWriter

if TYPE_CHECKING:
    from clew.host.socket_server import SocketServer

MAX_PATH_BYTES = 107
"""A longer name does not fit into the kernel's address."""
OPENS = (ReplyBegan, ReplyAwaited, Ask, TurnEnded)
"""By any of these the first request has left: nothing here delays it."""


class SocketPart(Part):
    """Starts and stops the socket of one session, and marks its process as one that holds a session. A socket that
    cannot be had never keeps the session from working."""

    def __init__(self, setup: PartSetup, make_server: "Callable[[Path], SocketServer]") -> None:
        """`make_server`: loads what serves, for a path."""
        self._make_server = make_server
        sink, workspace = setup.past.sink, setup.workspace
        self._log = sink if isinstance(sink, TranscriptWriter) else None
        self._path = socket_path(setup.past.session_id, workspace.env, workspace.home)
        self._headless = setup.request.headless
        self._starting: asyncio.Task[None] | None = None
        self._server: SocketServer | None = None

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._session = own.session
        SessionMark.put()

    def on(self, event: Event, agent: AgentId) -> None:
        """The first request has left."""
        if isinstance(event, OPENS):
            self._open()

    def begin(self) -> None:
        """Where a person is about to type there is no request to wait for."""
        if not self._headless:
            self._open()

    def _open(self) -> None:
        log = self._log
        if self._starting is None and log is not None and log.leased and not self._session.lost:
            self._starting = asyncio.get_running_loop().create_task(self._serve(log))

    async def _serve(self, log: TranscriptWriter) -> None:
        server = self._make_server(self._path)
        try:
            if len(os.fsencode(self._path)) > MAX_PATH_BYTES:
                raise OSError(f"{self._path} is longer than {MAX_PATH_BYTES} bytes")
            await server.start()
            self._server = server
            log.announce(socket=str(self._path))
        except OSError as error:
            log.announce(no_socket=str(error))

    async def end(self) -> None:
        """The socket goes when the end was told."""
        await SessionMark.take_away()
        if self._starting is not None:
            await asyncio.wait({self._starting})
        if self._server is not None:
            await self._server.close()


def socket_path(session_id: str, env: Mapping[str, str], home: Path) -> Path:
    """A short name: the kernel's addresses are."""
    return socket_dir(env, home) / f"{session_id[:8]}-{os.getpid()}.sock"
