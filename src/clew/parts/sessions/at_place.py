"""The sessions of this machine at a place: those that a person may want to go on with."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from clew.host.workspace import Workspace
from clew.parts.sessions.preview import session_preview
from clew.parts.sessions.rows import searched_sessions, session_rows
from clew.protocol.lookups.base import Answer, Lookup
from clew.protocol.lookups.place import (
    ListSessions,
    PreviewSession,
    SearchSessions,
    SessionPreviewed,
    SessionsListed,
    SessionsSearched,
)


def listed(lookup: ListSessions, workspace: Workspace) -> SessionsListed:
    """Clew's own and other agents', newest first."""
    return SessionsListed(sessions=session_rows(workspace, lookup.query, lookup.limit))


def searched(lookup: SearchSessions, workspace: Workspace) -> SessionsSearched:
    """Those that hold all the words."""
    return searched_sessions(workspace, lookup.query, lookup.limit)


def previewed(lookup: PreviewSession, workspace: Workspace) -> SessionPreviewed:
    """The last exchange. A recap in a model's words takes a session: here there is none."""
    if lookup.words:
        return SessionPreviewed(session=lookup.session, lines=())
    return SessionPreviewed(session=lookup.session, lines=session_preview(workspace, lookup.session))


ANSWERS: Mapping[type[Lookup[Any]], Callable[[Any, Workspace], Answer]] = {
    ListSessions: listed,
    SearchSessions: searched,
    PreviewSession: previewed,
}


async def answer(lookup: Lookup[Any], workspace: Workspace) -> Answer:
    """One of them. Reads files, in a thread. Raises LookupRefused or OSError."""
    return await asyncio.to_thread(ANSWERS[type(lookup)], lookup, workspace)
