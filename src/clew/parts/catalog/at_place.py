"""All sessions on disk for sub-commands: which one is meant, the list with figures, moving and measuring our own."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from clew.catalog.find_session import find_session, short_ids
from clew.catalog.found_session import OWN, FoundSession
from clew.catalog.listing import Catalog, project_name
from clew.catalog.recent import recent
from clew.foreign.registry import READERS, agent_name
from clew.host.workspace import Workspace
from clew.protocol.lookups.base import Answer, Lookup, LookupMisused, LookupRefused, NothingFits
from clew.protocol.lookups.catalog import (
    AgentsChosen,
    CatalogHit,
    CatalogListed,
    CatalogRow,
    ChooseAgents,
    ListCatalog,
    ListRecent,
    MeasureSessions,
    MoveSession,
    NamedSession,
    NameSession,
    RecentListed,
    SessionMoved,
    SessionNamed,
    SessionsMeasured,
)
from clew.transcript.errors import SessionNotFound, TranscriptError
from clew.transcript.index.archive import archive_session, restore_session, session_size, sizes, trash_session
from clew.transcript.index.rows import Hit, IndexRow
from clew.transcript.log.store import SessionStore

MANY_HITS = 10_000
"""Hits where no limit was given."""


def agents_chosen(lookup: ChooseAgents, workspace: Workspace) -> AgentsChosen:
    """The settings, overridden by what was asked for. Raises LookupMisused."""
    foreign = workspace.settings.foreign
    homes = {known_agent(name): Path(folder).expanduser() for name, folder in foreign.homes.items()}
    for pair in lookup.homes:
        name, equals, folder = pair.partition("=")
        if not equals or not folder:
            raise LookupMisused(f"--home {pair!r} is not of the form AGENT=DIR")
        path = Path(folder).expanduser()
        if not path.exists():
            raise LookupMisused(f"--home {name}: {folder} does not exist")
        homes[known_agent(name)] = path
    agents = (OWN,) if not foreign.enabled else None
    if lookup.agent != "all":
        agents = (known_agent(lookup.agent),)
    return AgentsChosen(agents=agents, homes={name: str(path) for name, path in homes.items()})


def known_agent(name: str) -> str:
    """An agent by any of its names. Raises LookupMisused, which lists those there are."""
    found = agent_name(name)
    if found != OWN and found not in READERS:
        raise LookupMisused(f"no agent named {name!r}; there are {', '.join([OWN, *sorted(READERS)])} and all")
    return found


class _Several(Exception):
    """More than one fits, and a person is to choose."""

    def __init__(self, about: str, fitting: Sequence[FoundSession]) -> None:
        super().__init__(about)
        self.about = about
        self.fitting = fitting


def session_named(lookup: NameSession, workspace: Workspace) -> SessionNamed:
    """The one, or several to choose from. Raises LookupRefused, NothingFits where there is none."""
    try:
        found = find_session(
            SessionStore(workspace.home),
            lookup.query,
            workspace.cwd,
            homes=_paths(lookup.homes),
            env=_env(workspace),
            agents=lookup.agents,
            choose=_raise_several if lookup.choosing else None,
            paths=lookup.paths,
        )
    except _Several as several:
        return SessionNamed(candidates=tuple(map(named, several.fitting)), about=several.about)
    except SessionNotFound as error:
        raise NothingFits(str(error)) from error
    except TranscriptError as error:
        raise LookupRefused(str(error)) from error
    return SessionNamed(session=named(found))


def _raise_several(about: str, fitting: Sequence[FoundSession]) -> FoundSession | None:
    raise _Several(about, fitting)


def named(found: FoundSession) -> NamedSession:
    """A session of the catalog as the protocol names it."""
    return NamedSession(
        agent=found.agent,
        path=str(found.path),
        session_id=found.session_id,
        title=found.title,
        project=found.project,
        changed_s=found.changed_s,
        size=found.size,
        note=found.note,
    )


def catalog_listed(lookup: ListCatalog, workspace: Workspace) -> CatalogListed:
    """The list or the hits, and as much of each id as tells it from the others."""
    agents = lookup.agents
    project = Path(lookup.project) if lookup.project else None
    with Catalog(SessionStore(workspace.home), homes=_paths(lookup.homes), env=_env(workspace)) as catalog:
        unread = catalog.refresh(agents=agents, budget_s=lookup.budget_s)
        if lookup.search is None:
            rows = catalog.rows(agents=agents or (), project=project, limit=lookup.limit)
            return CatalogListed(
                rows=tuple(map(catalog_row, rows)), names=short_ids(catalog.ids()), unread=unread, note=catalog.note
            )
        limit = lookup.limit if lookup.limit > 0 else MANY_HITS
        deep = lookup.deep or None
        hits = catalog.search(lookup.search, agents=agents or (), project=project, limit=limit, deep=deep)
        return CatalogListed(
            hits=tuple(map(_hit, hits)), names=short_ids(catalog.ids()), unread=unread, note=catalog.note
        )


def catalog_row(row: IndexRow) -> CatalogRow:
    """A row of the index with the name of its directory."""
    return CatalogRow(**asdict(row), place_name=project_name(row))


def _hit(hit: Hit) -> CatalogHit:
    return CatalogHit(row=catalog_row(hit.row), role=hit.role, uuid=hit.uuid, text=hit.text, spans=hit.spans)


def session_moved(lookup: MoveSession, workspace: Workspace) -> SessionMoved:
    """Move it, then bring the index up to date. Raises LookupRefused."""
    store = SessionStore(workspace.home)
    try:
        if lookup.action == "restore":
            target = restore_session(store, lookup.session)
            session = target.stem
        else:
            path = Path(lookup.session)
            session = path.stem
            target = (archive_session if lookup.action == "archive" else trash_session)(store, path)
    except TranscriptError as error:
        raise LookupRefused(str(error)) from error
    with Catalog(store) as catalog:
        catalog.refresh(agents=[OWN])
    return SessionMoved(session=session, path=str(target))


def sessions_measured(lookup: MeasureSessions, workspace: Workspace) -> SessionsMeasured:
    """These, or all of them."""
    if lookup.paths:
        return SessionsMeasured(sizes=tuple(session_size(Path(path)) for path in lookup.paths))
    return SessionsMeasured(total=asdict(sizes(SessionStore(workspace.home))))


def recent_listed(lookup: ListRecent, workspace: Workspace) -> RecentListed:
    """From the files themselves; none is read."""
    board = recent(
        workspace.home,
        since_s=lookup.since_s,
        agents=lookup.agents,
        homes=_paths(lookup.homes),
        env=_env(workspace),
        limit=lookup.limit,
    )
    return RecentListed(sessions=tuple(map(named, board.found)), left_out=board.left_out)


def _env(workspace: Workspace) -> Mapping[str, str]:
    """With the place's directory as the current one: a variable that was inherited from elsewhere does not count."""
    named = workspace.env.get("PWD", "")
    try:
        same = os.path.samefile(named, workspace.cwd)
    except OSError:
        same = False
    return workspace.env if same else {**workspace.env, "PWD": str(workspace.cwd)}


def _paths(homes: dict[str, str]) -> dict[str, Path]:
    return {name: Path(folder) for name, folder in homes.items()}


ANSWERS: Mapping[type[Lookup[Any]], Callable[[Any, Workspace], Answer]] = {
    ChooseAgents: agents_chosen,
    NameSession: session_named,
    ListCatalog: catalog_listed,
    MoveSession: session_moved,
    MeasureSessions: sessions_measured,
    ListRecent: recent_listed,
}


async def answer(lookup: Lookup[Any], workspace: Workspace) -> Answer:
    """One of them. Reads files, in a thread. Raises LookupRefused or OSError."""
    return await asyncio.to_thread(ANSWERS[type(lookup)], lookup, workspace)
