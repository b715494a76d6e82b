"""The hub: the sessions of this process, and connections to them."""

import asyncio
from collections.abc import Callable

from clew.host.connection import Connection
from clew.host.door import Door
from clew.host.request import SessionRequest
from clew.protocol.events import GuestsChanged
from clew.protocol.ids import SessionId
from clew.protocol.ops import Close
from clew.protocol.rights import Rights


class NoSuchSession(LookupError):
    """This process has no such session."""


class Hub:
    """One per process. `opener` puts a session together; the hub knows none of its parts."""

    def __init__(self, opener: Callable[[SessionRequest], Door]) -> None:
        self._opener = opener
        self._doors: list[Door] = []

    def open(self, request: SessionRequest) -> SessionId:
        """Open the session that is asked for; it lives until somebody closes it. Raises SettingsError, TranscriptError,
        LLMError or NoModel, and then nothing was written."""
        door = self._opener(request)
        self._doors = [*(known for known in self._doors if not known.ended), door]
        return door.session.started.session_id

    def connect(self, session: SessionId, rights: Rights = Rights.DRIVE) -> Connection:
        """One more front end at a session of this process. Raises NoSuchSession."""
        return self._door(session).connect(rights)

    def guests(self, session: SessionId) -> tuple[str, ...]:
        """Who of other processes is attached to a session; nobody once it has ended. Raises NoSuchSession."""
        door = self._door(session)
        return () if door.ended else door.guests

    async def linger(self, session: SessionId) -> None:
        """Keep a session that its own front end left for those who are attached; close it when the last one leaves."""
        door = self._door(session)
        client = door.connect(Rights.DRIVE)
        events = client.events()
        try:
            while not door.ended and door.guests:
                async for envelope in events:
                    if isinstance(envelope.event, GuestsChanged) and not envelope.event.guests:
                        break
        finally:
            await asyncio.shield(client.submit(Close()))

    def _door(self, session: SessionId) -> Door:
        for door in self._doors:
            if door.session.started.session_id == session:
                return door
        raise NoSuchSession(session)
