"""The sessions that a person at a place may want to go on with."""

import asyncio

from clew.host.workspace import Workspace
from clew.parts.sessions.rows import session_rows
from clew.protocol.lookups.place import ListSessions, SessionsListed


async def answer(lookup: ListSessions, workspace: Workspace) -> SessionsListed:
    """Clew's own and other agents', newest first. Reads files, in a thread."""
    return SessionsListed(sessions=await asyncio.to_thread(session_rows, workspace, lookup.query, lookup.limit))
