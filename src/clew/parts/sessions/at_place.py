"""The sessions that a person at a place may want to go on with."""

import asyncio

from clew.host.part import OpRefused
from clew.host.workspace import Workspace
from clew.parts.sessions.preview import session_preview
from clew.parts.sessions.rows import searched_sessions, session_rows
from clew.protocol.lookups.base import LookupRefused
from clew.protocol.lookups.place import (
    ListSessions,
    PreviewSession,
    SearchSessions,
    SessionPreviewed,
    SessionsListed,
    SessionsSearched,
)


async def answer(
    lookup: ListSessions | SearchSessions | PreviewSession, workspace: Workspace
) -> SessionsListed | SessionsSearched | SessionPreviewed:
    """Clew's own and other agents', newest first. Reads files, in a thread."""
    match lookup:
        case PreviewSession():
            return SessionPreviewed(session=lookup.session, lines=await _previewed(lookup, workspace))
        case SearchSessions():
            return await asyncio.to_thread(searched_sessions, workspace, lookup.query, lookup.limit)
        case ListSessions():
            found = await asyncio.to_thread(session_rows, workspace, lookup.query, lookup.limit)
            return SessionsListed(sessions=found)


async def _previewed(lookup: PreviewSession, workspace: Workspace) -> tuple[str, ...]:
    """The last exchange. A recap in a model's words takes a session: here there is none."""
    if lookup.words:
        return ()
    try:
        return await asyncio.to_thread(session_preview, workspace, lookup.session)
    except OpRefused as error:
        raise LookupRefused(str(error)) from error
