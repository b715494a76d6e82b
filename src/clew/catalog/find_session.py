"""Which session a person means: by path, id, title, part of a title, or words, ours or another agent's."""

import os
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, pairwise, takewhile
from pathlib import Path

import msgspec

from clew.catalog.found_session import OWN, FoundSession
from clew.catalog.listing import Catalog, is_inside, project_name
from clew.foreign import registry
from clew.protocol.entries import SessionSourceEntry
from clew.text.terminal_text import sanitize
from clew.transcript.errors import AmbiguousSession, SessionNotFound
from clew.transcript.index.rows import IndexRow
from clew.transcript.log.store import SessionStore
from clew.transcript.past.reader import iterate
from clew.transcript.past.resume import MIN_PREFIX, SURE_PREFIX, own_session

_LISTED = 20
_SEARCHED = 200
_FIRST_LINES = 4
_CUT = ("…", "...")


Choose = Callable[[str, Sequence[FoundSession]], FoundSession | None]
"""Lets a person choose among several that fit; None when they chose none."""


def find_session(
    store: SessionStore,
    query: str,
    cwd: Path,
    *,
    homes: Mapping[str, Path] | None = None,
    env: Mapping[str, str] | None = None,
    agents: Sequence[str] | None = None,
    choose: Choose | None = None,
    budget_s: float = 10.0,
    paths: bool = True,
) -> FoundSession:
    """The session that is meant, by whatever `clew sessions` prints of it. Raises SessionNotFound, and
    AmbiguousSession when several fit and nobody is there to choose.

    In this order: a path (`FILE#ID` for one of several in a file), an id, a title, as it is or cut; the start of an id,
    or words of a title; words that were said; whatever else a list prints. `agents`: only theirs; `clew` is us.
    `budget_s` bounds the reading of what the index lacks. Without `paths` a file's name means nothing, and only what is
    listed can be meant."""
    query = query.strip()
    if not query:
        raise SessionNotFound("name a session: its id, title, words from it, or a file; `clew sessions` lists them")
    found = (_by_path(query, cwd, store, choose) if paths else None) or _own_by_id(store, query)
    if found is not None:
        return found
    with Catalog(store, homes=homes, env=env) as catalog:
        waiting = catalog.refresh(agents=agents, budget_s=budget_s)
        return _Finder(catalog, query, cwd, agents or (), choose).find(waiting)


def fitting_sessions(
    store: SessionStore,
    query: str,
    cwd: Path,
    *,
    homes: Mapping[str, Path] | None = None,
    env: Mapping[str, str] | None = None,
    agents: Sequence[str] | None = None,
    budget_s: float = 10.0,
) -> list[FoundSession]:
    """All that can be meant, newest first; none for an empty question."""
    if not query.strip():
        return []
    with Catalog(store, homes=homes, env=env) as catalog:
        catalog.refresh(agents=agents, budget_s=budget_s)
        return [_found(row) for row in _Finder(catalog, query.strip(), cwd, agents or (), None).fitting()]


class _Finder:
    """One question to the list of all sessions."""

    def __init__(self, catalog: Catalog, query: str, cwd: Path, agents: Sequence[str], choose: Choose | None) -> None:
        self._catalog = catalog
        self._query = query
        self._root = os.path.realpath(cwd)
        self._agents = agents
        self._choose = choose

    def find(self, waiting: int) -> FoundSession:
        """The one that fits; what fits equally is chosen from."""
        found = self.fitting()
        if not found:
            later = f"; {waiting} sessions are not read yet, ask again for those" if waiting else ""
            hint = "`clew sessions --search TEXT` looks through all of them"
            raise SessionNotFound(f"no session fits {self._query!r}; {hint}{later}")
        return self._the_one(found)

    def fitting(self) -> list[IndexRow]:
        """The strictest way of reading the question that fits anything decides."""
        rows = self._catalog.rows(agents=self._agents)
        wanted = plain_title(self._query)
        titled = [(row, plain_title(row.title or row.first_prompt)) for row in rows]
        begun = next((wanted.removesuffix(mark).rstrip() for mark in _CUT if wanted.endswith(mark)), "")
        return (
            [row for row in rows if row.session_id == self._query]
            or _going_on([row for row, title in titled if wanted and title == wanted])
            or [row for row, title in titled if begun and title.startswith(begun)]
            or [row for row, title in titled if self._is_part(wanted, row, title)]
            or [hit.row for hit in self._catalog.search(self._query, agents=self._agents, limit=_SEARCHED)]
            or [row for row in rows if _holds(wanted, _printed(row))]
        )

    def _is_part(self, wanted: str, row: IndexRow, title: str) -> bool:
        begins = len(self._query) >= MIN_PREFIX and row.session_id.startswith(self._query)
        return begins or _holds(wanted, title)

    def _the_one(self, rows: Sequence[IndexRow]) -> FoundSession:
        usable = [row for row in rows if not row.archived] or list(rows)
        if len(usable) == 1:
            return self._usable(usable[0])
        usable.sort(key=lambda row: not is_inside(row.project or row.cwd, self._root))
        if self._choose is None:
            raise _ambiguous(self._query, [_found(row) for row in usable])
        chosen = self._choose(self._query, [_found(row) for row in usable[:_LISTED]])
        if chosen is None:
            raise SessionNotFound("no session was chosen")
        return chosen

    def _usable(self, row: IndexRow) -> FoundSession:
        if row.archived:
            words = f"session {row.session_id} is archived; bring it back with `clew sessions restore {row.session_id}`"
            raise SessionNotFound(words)
        return _found(row)


def _ambiguous(query: str, fitting: Sequence[FoundSession]) -> AmbiguousSession:
    """What fits, for a person who must name one: its id first, with its file where another one has the same id."""
    ids = Counter(found.session_id for found in fitting)
    lines: list[str] = []
    for found in fitting[:_LISTED]:
        name = found.session_id if ids[found.session_id] == 1 else f"{found.path}#{found.session_id}"
        where = " · ".join(part for part in (found.agent, found.project) if part)
        lines.append(sanitize(f"{name}  {found.title[:60] or '(no title)'}  ({where})", one_line=True))
    return AmbiguousSession(query, lines, len(fitting))


def _holds(wanted: str, text: str) -> bool:
    return bool(wanted) and all(word in text for word in wanted.split())


def _printed(row: IndexRow) -> str:
    return plain_title(f"{row.title or row.first_prompt} {project_name(row)} {row.branch} {row.session_id} {row.agent}")


def _going_on(rows: Sequence[IndexRow]) -> list[IndexRow]:
    """A session that was brought from another agent has its title: the one that goes on is meant."""
    brought = {source for row in rows if row.agent == OWN for source in _sources(Path(row.path))}
    return [row for row in rows if (row.agent, row.path, row.session_id) not in brought]


def _sources(path: Path) -> Iterator[tuple[str, str, str]]:
    """Whose session ours was, as a list knows it: by its id, or by the name of its file. It stands at the beginning."""
    try:
        for located in islice(iterate(path), _FIRST_LINES):
            if isinstance(located.entry, SessionSourceEntry) and located.entry.agent != OWN:
                source = located.entry
                yield source.agent, source.path, source.source_session
                yield source.agent, source.path, Path(source.path).stem
    except OSError:
        return


def plain_title(text: str) -> str:
    """A title as it compares: as lists print it, on one line, without regard to case."""
    return unicodedata.normalize("NFC", " ".join(sanitize(text, one_line=True).split())).casefold()


def short_ids(ids: Sequence[str]) -> dict[str, str]:
    """As much of each id as tells it from all others; ids of some agents begin with a date, or with their name."""
    ordered = sorted(set(ids))
    shared = [_common(first, second) for first, second in pairwise(ordered)]
    before, after = [0, *shared], [*shared, 0]
    return {name: name[: max(SURE_PREFIX, before[at] + 1, after[at] + 1)] for at, name in enumerate(ordered)}


def _common(first: str, second: str) -> int:
    same = (one == other for one, other in zip(first, second, strict=False))
    return sum(1 for _ in takewhile(bool, same))


def _found(row: IndexRow) -> FoundSession:
    return FoundSession(
        agent=row.agent,
        path=Path(row.path),
        session_id=row.session_id,
        title=row.title or row.first_prompt,
        project=row.project or row.cwd,
        changed_s=row.activity,
    )


def _own_by_id(store: SessionStore, query: str) -> FoundSession | None:
    """Found without the index."""
    path = own_session(store, query)
    return FoundSession(agent=OWN, path=path, session_id=path.stem) if path is not None else None


def _by_path(query: str, cwd: Path, store: SessionStore, choose: Choose | None) -> FoundSession | None:
    whole, _, wanted = query.rpartition("#")
    for name, session_id in ((query, ""), (whole, wanted)):
        if "/" in name or "." in name:
            path = Path(os.path.expanduser(name))
            path = path if path.is_absolute() else cwd / path
            if os.path.exists(path):
                return _of_path(path, session_id.strip(), store, choose)
    return None


def _of_path(path: Path, session_id: str, store: SessionStore, choose: Choose | None) -> FoundSession:
    if path.suffix == ".jsonl" and path.resolve().is_relative_to(store.projects.resolve()):
        return FoundSession(agent=OWN, path=path, session_id=path.stem)
    agent = registry.identify(path)
    if agent is None:
        why = (
            "is a directory; name a transcript file in it" if path.is_dir() else "is no transcript of an agent we know"
        )
        raise SessionNotFound(f"{path} {why}")
    held = [
        FoundSession(
            agent=agent,
            path=session.path,
            session_id=session.session_id,
            title=session.title,
            project=session.cwd,
            changed_s=session.mtime,
        )
        for session in registry.sessions_in(path, agent)
        if not session.is_subagent
    ]
    if session_id:
        fitting = [found for found in held if found.session_id == session_id]
        fitting = fitting or [found for found in held if found.session_id.startswith(session_id)]
        if not fitting:
            raise SessionNotFound(f"{path} holds no session {session_id!r}")
        held = fitting
    if len(held) < 2:
        return held[0] if held else FoundSession(agent=agent, path=path, session_id="")
    held.sort(key=lambda found: found.changed_s, reverse=True)
    if choose is None and session_id:
        raise _ambiguous(session_id, held)
    if choose is None:
        note = f"{path.name} holds {len(held)} sessions; this is the newest. Name another as {path}#ID or by its id"
        return msgspec.structs.replace(held[0], note=note)
    chosen = choose(str(path), held)
    if chosen is None:
        raise SessionNotFound("no session was chosen")
    return chosen
