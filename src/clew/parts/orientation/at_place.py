"""Recaps of sessions on disk, for sub-commands: from facts, and in a model's words where these were asked for."""

import asyncio
from pathlib import Path
from typing import Any

from clew.catalog.found_session import OWN, FoundSession
from clew.host.workspace import Workspace
from clew.orient.board import rows
from clew.orient.recap_query import WrittenRecaps
from clew.orient.report import RecapCache, Report
from clew.orient.side_query import QueryStamp
from clew.parts.orientation.asked_recap import model_words
from clew.protocol.lookups.base import Answer, Lookup
from clew.protocol.lookups.catalog import (
    NamedSession,
    RecapFact,
    RecapSession,
    RecapWritten,
    SessionRecap,
    SessionRecapped,
    WriteRecap,
)


async def answer(lookup: Lookup[Any], workspace: Workspace) -> Answer:
    """Raises OSError for a file that was named and cannot be read."""
    assert isinstance(lookup, RecapSession | WriteRecap)
    report = await asyncio.to_thread(report_of, lookup.session, workspace.home, listed=lookup.listed)
    if isinstance(lookup, WriteRecap):
        return await model_words(report, workspace) if report is not None else RecapWritten()
    return SessionRecapped(recap=recap_of(report, WrittenRecaps(workspace.home)) if report is not None else None)


def report_of(session: NamedSession, home: Path, *, listed: bool) -> Report | None:
    """From the cache where neither the file nor its writer changed. `listed`: as the board shows it, or None."""
    path = Path(session.path)
    if listed:
        found = FoundSession(
            agent=session.agent,
            path=path,
            session_id=session.session_id,
            changed_s=session.changed_s,
            size=session.size,
        )
        return next(rows([found], RecapCache(home)), None)
    session_id = "" if session.agent == OWN else session.session_id
    return RecapCache(home).report(path, agent=session.agent, session_id=session_id)


def recap_of(report: Report, written: WrittenRecaps) -> SessionRecap:
    """A report as the protocol tells it."""
    form = report.form
    kept = written.get(QueryStamp(form.session_id, form.last_entry_id))
    return SessionRecap(
        file=report.file,
        agent=report.agent,
        session=report.session,
        project=report.project,
        title=report.title,
        updated_s=report.updated_s,
        entries=report.entries,
        problem=report.problem,
        state=form.state,
        goal=report.goal,
        next_step=report.next_step,
        last_request=form.told("request"),
        language=form.language,
        text=report.text,
        standing=form.standing,
        facts=tuple(RecapFact(field=item.field, text=item.text, source=item.source) for item in form.items),
        lines=tuple(form.lines()),
        written=kept.text if kept is not None else "",
    )
