"""The hub: the sessions of this process, connections to them, and answers about places that need no session."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from clew.host.request import SessionRequest
from clew.host.workspace import Workspace
from clew.protocol.base import Rights
from clew.protocol.events import GuestsChanged
from clew.protocol.ids import SessionId
from clew.protocol.lookups.base import Answer, Lookup
from clew.protocol.ops import Close

if TYPE_CHECKING:
    from clew.host.connection import Connection
    from clew.host.door import Door

A = TypeVar("A", bound=Answer)


class NoSuchSession(LookupError):
    """This process has no such session."""


class Hub:
    """One per process. `opener` puts a session together and `answerer` answers for a place; the hub knows none of their
    parts, and loads nothing of a session before there is one."""

    def __init__(
        self,
        opener: "Callable[[SessionRequest], Door]",
        answerer: Callable[[Workspace, Lookup[Any]], Coroutine[Any, Any, Any]],
    ) -> None:
        self._opener = opener
        self._answerer = answerer
        self._doors: list[Door] = []

    def open(self, request: SessionRequest) -> SessionId:
        """Open the session that is asked for; it lives until somebody closes it. Raises SettingsError, TranscriptError,
        LLMError or NoModel, and then nothing was written."""
        door = self._opener(request)
        self._doors = [*(known for known in self._doors if not known.ended), door]
        return door.session.started.session_id

    async def look_up(self, place: Workspace, lookup: Lookup[A]) -> A:
        """Answer a lookup that needs no session, for a place. Raises LookupRefused where only a session can, or for
        what cannot be done; SettingsError; OSError for a file that cannot be changed."""
        return await self._answerer(place, lookup)

    def connect(self, session: SessionId, rights: Rights = Rights.DRIVE) -> "Connection":
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

    def _door(self, session: SessionId) -> "Door":
        for door in self._doors:
            if door.session.started.session_id == session:
                return door
        raise NoSuchSession(session)
