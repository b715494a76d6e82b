"""The sessions of this machine, as a session lists them for whoever wants to go on with another."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from clew.host.part import Answerers, Part, PartSetup
from clew.parts.sessions.at_place import listed, searched
from clew.parts.sessions.preview import session_preview
from clew.protocol.events import SessionRow
from clew.protocol.lookups.place import (
    ListSessions,
    PreviewSession,
    SearchSessions,
    SessionPreviewed,
    SessionsListed,
    SessionsSearched,
)

WordsFor = Callable[[Path], Awaitable[str]]
"""A model's recap of another session of ours; empty where none may be written."""


class SessionListPart(Part):
    """A list, and a look into one of its sessions."""

    def __init__(self, setup: PartSetup, words_for: WordsFor) -> None:
        self._workspace = setup.workspace
        self._words_for = words_for
        self._listed: dict[str, SessionRow] = {}

    def lookups(self) -> Answerers:
        """All three questions."""
        return {ListSessions: self._list, SearchSessions: self._search, PreviewSession: self._preview}

    async def _list(self, lookup: ListSessions) -> SessionsListed:
        found = await asyncio.to_thread(listed, lookup, self._workspace)
        self._listed.update({row.session_id: row for row in found.sessions})
        return found

    async def _search(self, lookup: SearchSessions) -> SessionsSearched:
        found = await asyncio.to_thread(searched, lookup, self._workspace)
        self._listed.update({hit.session.session_id: hit.session for hit in found.hits})
        return found

    async def _preview(self, lookup: PreviewSession) -> SessionPreviewed:
        row = self._listed.get(lookup.session)
        if lookup.words:
            ours = row is not None and row.agent == "clew" and row.path
            recap = await self._words_for(Path(row.path)) if row is not None and ours else ""
            return SessionPreviewed(session=lookup.session, lines=(), recap=recap)
        lines = await asyncio.to_thread(session_preview, self._workspace, lookup.session, row)
        return SessionPreviewed(session=lookup.session, lines=lines)
