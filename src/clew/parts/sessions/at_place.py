"""The sessions that a person at a place may want to go on with."""

import asyncio

from clew.host.workspace import Workspace
from clew.parts.sessions.rows import searched_sessions, session_rows
from clew.protocol.lookups.place import ListSessions, SearchSessions, SessionsListed, SessionsSearched


async def answer(lookup: ListSessions | SearchSessions, workspace: Workspace) -> SessionsListed | SessionsSearched:
    """Clew's own and other agents', newest first. Reads files, in a thread."""
    if isinstance(lookup, SearchSessions):
        return await asyncio.to_thread(searched_sessions, workspace, lookup.query, lookup.limit)
    return SessionsListed(sessions=await asyncio.to_thread(session_rows, workspace, lookup.query, lookup.limit))
