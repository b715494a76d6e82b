"""When a session can be reached by other processes: from the moment it is on disk until its end was told."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from clew.host.door import Door
from clew.host.session import Session
from clew.protocol.events import Ask, Envelope, ReplyAwaited, ReplyBegan, TurnEnded
from clew.system.home import socket_dir
from clew.transcript.writer import TranscriptWriter

if TYPE_CHECKING:
    from clew.host.socket_server import SocketServer

MAX_PATH_BYTES = 107
"""A longer name does not fit into the kernel's address."""
OPENS = (ReplyBegan, ReplyAwaited, Ask, TurnEnded)
"""By any of these the first request has left: nothing here delays it."""


class SocketLife:
    """Starts and stops the socket of one session. A socket that cannot be had never keeps the session from working."""

    def __init__(
        self,
        door: Door,
        session: Session,
        log: TranscriptWriter,
        env: Mapping[str, str],
        home: Path,
        *,
        headless: bool,
    ) -> None:
        self._door = door
        self._session = session
        self._log = log
        self._path = socket_path(session.started.session_id, env, home)
        self._starting: asyncio.Task[None] | None = None
        self._server: SocketServer | None = None
        session.subscribe_to_all(self._hear)
        session.at_end.append(self._close)
        if not headless:
            session.on_begin.append(self._begin)

    def _hear(self, envelope: Envelope) -> None:
        if self._starting is None and isinstance(envelope.event, OPENS):
            self._begin()

    def _begin(self) -> None:
        if self._starting is None and self._log.leased and not self._session.lost:
            self._starting = asyncio.get_running_loop().create_task(self._start())

    async def _start(self) -> None:
        from clew.host.socket_server import NoSocket, SocketServer  # loaded when the first request has left

        server = SocketServer(self._door, self._path)
        try:
            if len(os.fsencode(self._path)) > MAX_PATH_BYTES:
                raise NoSocket(f"{self._path} is longer than {MAX_PATH_BYTES} bytes")
            await server.start()
            self._server = server
            self._log.announce(socket=str(self._path))
        except OSError as error:
            self._log.announce(no_socket=str(error))

    async def _close(self) -> None:
        if self._starting is not None:
            await asyncio.wait({self._starting})
        if self._server is not None:
            await self._server.close()


def socket_path(session_id: str, env: Mapping[str, str], home: Path) -> Path:
    """A short name: the kernel's addresses are."""
    return socket_dir(env, home) / f"{session_id[:8]}-{os.getpid()}.sock"
