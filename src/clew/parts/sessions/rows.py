"""Sessions as a list for people: clew's own and other agents', newest first."""

import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from clew.catalog.agent_places import agent_places
from clew.catalog.find_session import fitting_sessions
from clew.catalog.found_session import FoundSession
from clew.catalog.recent import recent
from clew.host.workspace import Workspace
from clew.orient.recap_query import WrittenRecaps
from clew.orient.report import RecapCache, Report
from clew.orient.side_query import QueryStamp
from clew.protocol.events import SessionRow
from clew.transcript.log.store import SessionStore

LOOK_BACK_S = 90 * 86_400.0
LOOKED_AT = 200
"""Sessions that a query is compared with; the index is asked when none of them fits."""
FIND_BUDGET_S = 2.0


def session_rows(workspace: Workspace, query: str, limit: int) -> tuple[SessionRow, ...]:
    """The newest that fit the query, by title, project and recap."""
    words = query.lower().split()
    places = agent_places(workspace.settings.foreign)
    found = recent(
        workspace.home,
        since_s=time.time() - LOOK_BACK_S,
        agents=places.agents,
        homes=places.homes,
        env=workspace.env,
        limit=LOOKED_AT if words else limit,
    ).found
    rows = _rows(workspace.home, found)
    recently = tuple(islice((row for row in rows if all(word in _text(row) for word in words)), limit))
    return recently or candidate_rows(workspace, _long_ago(workspace, query)[:limit])


def _long_ago(workspace: Workspace, query: str) -> list[FoundSession]:
    """What nobody touched lately is in the index."""
    places = agent_places(workspace.settings.foreign)
    return fitting_sessions(
        SessionStore(workspace.home),
        query,
        workspace.cwd,
        homes=places.homes,
        env=workspace.env,
        agents=places.agents,
        budget_s=FIND_BUDGET_S,
    )


def candidate_rows(workspace: Workspace, candidates: Iterable[FoundSession]) -> tuple[SessionRow, ...]:
    """Several that a person may have meant, in the same form."""
    return tuple(_rows(workspace.home, candidates))


def _rows(home: Path, sessions: Iterable[FoundSession]) -> Iterator[SessionRow]:
    cache, written, now_s = RecapCache(home), WrittenRecaps(home), time.time()
    for found in sessions:
        try:
            report = cache.report(found.path, agent=found.agent, session_id=found.session_id)
        except OSError:
            continue  # it went away meanwhile, or is not ours to read
        yield SessionRow(
            session_id=found.session_id,
            agent=found.agent,
            title=report.title or report.goal,
            project=Path(report.project).name if report.project else "",
            path=str(found.path),
            age_s=max(0.0, now_s - found.changed_s),
            state=report.form.state.value,
            recap=words_of(report, written),
        )


def _text(row: SessionRow) -> str:
    return f"{row.session_id} {row.title} {row.project} {row.recap}".lower()


def words_of(report: Report, written: WrittenRecaps) -> str:
    """Where a session stands: as a model wrote it when it was left, if it was not touched since; else from facts."""
    kept = written.get(QueryStamp(report.form.session_id, report.form.last_entry_id))
    return (kept.text if kept is not None else "") or report.text
