"""Sessions as a list for people: clew's own and other agents', newest first."""

import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path, PurePath
from typing import NamedTuple

from msgspec.structs import replace

from clew.catalog.agent_places import agent_places
from clew.catalog.find_session import fitting_sessions
from clew.catalog.found_session import FoundSession
from clew.catalog.listing import Catalog
from clew.catalog.recent import recent
from clew.host.workspace import Workspace
from clew.orient.recap_query import WrittenRecaps
from clew.orient.report import RecapCache, Report
from clew.orient.side_query import QueryStamp
from clew.protocol.events import SessionRow
from clew.protocol.lookups.place import SearchHit, SessionsSearched
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
    recently = islice((placed for placed in rows if all(word in _text(placed) for word in words)), limit)
    return _told_apart(recently) or candidate_rows(workspace, _long_ago(workspace, query)[:limit])


def searched_sessions(workspace: Workspace, query: str, limit: int) -> SessionsSearched:
    """The sessions that hold all the words anywhere, with the place."""
    places = agent_places(workspace.settings.foreign)
    with Catalog(SessionStore(workspace.home), homes=places.homes) as catalog:
        unread = catalog.refresh(agents=places.agents, budget_s=FIND_BUDGET_S)
        found = catalog.search(query, agents=places.agents or (), limit=limit)
    now_s = time.time()
    placed = [
        Placed(
            SessionRow(
                session_id=hit.row.session_id,
                agent=hit.row.agent,
                title=hit.row.title or hit.row.first_prompt,
                path=hit.row.path,
                age_s=max(0.0, now_s - hit.row.activity),
                state=hit.row.state,
                recap=hit.row.recap,
            ),
            hit.row.project or hit.row.cwd,
        )
        for hit in found
    ]
    hits = tuple(
        SearchHit(session=row, role=hit.role, excerpt=hit.text)
        for row, hit in zip(_told_apart(placed), found, strict=True)
    )
    return SessionsSearched(query=query, hits=hits, unread=unread)


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
    return _told_apart(_rows(workspace.home, candidates))


class Placed(NamedTuple):
    """A row, and the directory that its session worked in."""

    row: SessionRow
    place: str


def _told_apart(placed: Iterable[Placed]) -> tuple[SessionRow, ...]:
    """The rows with the names of their projects, with as much of the way to each as tells two of one name apart."""
    found = tuple(placed)
    names = project_names({one.place for one in found if one.place})
    return tuple(replace(one.row, project=names.get(one.place, "")) for one in found)


def project_names(places: Iterable[str]) -> dict[str, str]:
    """Each directory's own name, with parents before it where another directory has the same one."""
    parts = {place: PurePath(place).parts for place in places}
    names: dict[str, str] = {}
    for place, own in parts.items():
        others = [other for other in parts.values() if other != own]
        size = 1
        while size < len(own) and any(other[-size:] == own[-size:] for other in others):
            size += 1
        names[place] = "/".join(own[-size:]).replace("//", "/")
    return names


def _rows(home: Path, sessions: Iterable[FoundSession]) -> Iterator[Placed]:
    cache, written, now_s = RecapCache(home), WrittenRecaps(home), time.time()
    for found in sessions:
        try:
            report = cache.report(found.path, agent=found.agent, session_id=found.session_id)
        except OSError:
            continue  # it went away meanwhile, or is not ours to read
        row = SessionRow(
            session_id=found.session_id,
            agent=found.agent,
            title=report.title or report.goal,
            path=str(found.path),
            age_s=max(0.0, now_s - found.changed_s),
            state=report.form.state.value,
            recap=words_of(report, written),
        )
        yield Placed(row, str(report.project or ""))


def _text(placed: Placed) -> str:
    row = placed.row
    return f"{row.session_id} {row.title} {PurePath(placed.place).name} {row.recap}".lower()


def words_of(report: Report, written: WrittenRecaps) -> str:
    """Where a session stands: as a model wrote it when it was left, if it was not touched since; else from facts."""
    kept = written.get(QueryStamp(report.form.session_id, report.form.last_entry_id))
    return (kept.text if kept is not None else "") or report.text
