"""Which session a person means: by path, id, title, part of a title, or words, ours or another agent's."""

import os
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, takewhile
from pathlib import Path

import msgspec

from clew.catalog.listing import OWN, Catalog, is_inside
from clew.foreign import registry
from clew.system.terminal_text import sanitize
from clew.transcript.errors import AmbiguousSession, SessionNotFound
from clew.transcript.index_rows import Row
from clew.transcript.resume import MIN_PREFIX
from clew.transcript.store import SessionStore

PRINTED_ID = 8
"""How much of an id a list shows at least. Ours are random: nothing else begins with as much of one."""
_LISTED = 20
_CUT = ("…", "...")


class FoundSession(msgspec.Struct, frozen=True, kw_only=True):
    """One session on disk. A file may hold several: `path` and `session_id` together name it."""

    agent: str
    path: Path
    session_id: str
    title: str = ""
    project: str = ""
    changed_s: float = 0.0
    note: str = ""
    """One line for a person, when the choice was not theirs alone."""

    @property
    def is_ours(self) -> bool:
        """Whether it can be gone on with in place; every other one is only read."""
        return self.agent == OWN


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

    In this order: a path (`FILE#ID` for one of several in a file), an id, the start of one, a title, part of a title or
    words of one, words that were said. `agents`: only theirs; `clew` is us. `budget_s` bounds the reading of what the
    index lacks. Without `paths` a file's name means nothing, and only what is listed can be meant."""
    query = query.strip()
    if not query:
        raise SessionNotFound("name a session: its id, title, words from it, or a file; `clew sessions` lists them")
    found = (_by_path(query, cwd, store, choose) if paths else None) or _own_by_id(store, query)
    if found is not None:
        return found
    with Catalog(store, homes=homes, env=env) as catalog:
        waiting = catalog.refresh(agents=agents, budget_s=budget_s)
        return _Finder(catalog, query, cwd, agents or (), choose).find(waiting)


class _Finder:
    """One question to the list of all sessions."""

    def __init__(self, catalog: Catalog, query: str, cwd: Path, agents: Sequence[str], choose: Choose | None) -> None:
        self._catalog = catalog
        self._query = query
        self._root = os.path.realpath(cwd)
        self._agents = agents
        self._choose = choose

    def find(self, waiting: int) -> FoundSession:
        """The first way of reading the question that fits anything decides."""
        rows = self._catalog.rows(agents=self._agents)
        by_id = [row for row in rows if row.session_id == self._query]
        if not by_id and len(self._query) >= MIN_PREFIX:
            by_id = [row for row in rows if row.session_id.startswith(self._query)]
        if by_id:
            return self._the_one(by_id)
        wanted = plain_title(self._query)
        titled = [(row, plain_title(row.title or row.first_prompt)) for row in rows] if wanted else []
        if exact := [row for row, title in titled if title == wanted]:
            ours = [row for row in exact if row.agent == OWN]
            # A session brought from another agent has its title: the one that goes on is meant.
            return self._the_one(self._here(ours) or ours or self._here(exact) or exact)
        for mark in _CUT:
            begun = wanted.removesuffix(mark).rstrip()
            if begun != wanted and (cut := [row for row, title in titled if begun and title.startswith(begun)]):
                return self._the_one(self._here(cut) or cut)
        found = [row for row, title in titled if wanted in title]
        found = found or [row for row, title in titled if all(word in title for word in wanted.split())]
        found = found or [hit.row for hit in self._catalog.search(self._query, agents=self._agents, limit=_LISTED)]
        if not found:
            later = f"; {waiting} sessions are not read yet, ask again for those" if waiting else ""
            hint = "`clew sessions --search TEXT` looks through all of them"
            raise SessionNotFound(f"no session fits {self._query!r}; {hint}{later}")
        return self._the_one(self._here(found) if len(self._here(found)) == 1 else found)

    def _here(self, rows: Sequence[Row]) -> list[Row]:
        return [row for row in rows if is_inside(row.project or row.cwd, self._root)]

    def _the_one(self, rows: Sequence[Row]) -> FoundSession:
        usable = [row for row in rows if not row.archived] or list(rows)
        if len(usable) == 1:
            return self._usable(usable[0])
        here = {id(row) for row in self._here(usable)}
        usable.sort(key=lambda row: id(row) not in here)
        if self._choose is None:
            raise AmbiguousSession(self._query, [candidate_line(_found(row)) for row in usable[:_LISTED]], len(usable))
        chosen = self._choose(self._query, [_found(row) for row in usable[:_LISTED]])
        if chosen is None:
            raise SessionNotFound("no session was chosen")
        return chosen

    def _usable(self, row: Row) -> FoundSession:
        if row.archived:
            words = f"session {row.session_id} is archived; bring it back with `clew sessions restore {row.session_id}`"
            raise SessionNotFound(words)
        return _found(row)


def candidate_line(found: FoundSession) -> str:
    """One that fits, for a person who must name one: the id first."""
    where = " · ".join(part for part in (found.agent, found.project) if part)
    return sanitize(f"{found.session_id}  {found.title[:60] or '(no title)'}  ({where})", one_line=True)


def plain_title(text: str) -> str:
    """A title as it compares: as lists print it, on one line, without regard to case."""
    return unicodedata.normalize("NFC", " ".join(sanitize(text, one_line=True).split())).casefold()


def short_ids(ids: Sequence[str]) -> dict[str, str]:
    """As much of each id as tells it from all others; ids of some agents begin with a date, or with their name."""
    ordered = sorted(set(ids))
    shared = [_common(first, second) for first, second in pairwise(ordered)]
    before, after = [0, *shared], [*shared, 0]
    return {name: name[: max(PRINTED_ID, before[number] + 1, after[number] + 1)] for number, name in enumerate(ordered)}


def _common(first: str, second: str) -> int:
    same = (one == other for one, other in zip(first, second, strict=False))
    return sum(1 for _ in takewhile(bool, same))


def _found(row: Row) -> FoundSession:
    return FoundSession(
        agent=row.agent,
        path=Path(row.path),
        session_id=row.session_id,
        title=row.title or row.first_prompt,
        project=row.project or row.cwd,
        changed_s=row.activity,
    )


def _own_by_id(store: SessionStore, query: str) -> FoundSession | None:
    """A whole id of ours, or as much of one as no other session can share: found without the index."""
    if not query.isascii() or not all(letter.isalnum() or letter in "-_" for letter in query):
        return None
    fitting = [path for path in store.sessions() if path.stem.startswith(query)]
    whole = [path for path in fitting if path.stem == query]
    if whole or (len(fitting) == 1 and len(query) >= PRINTED_ID):
        path = (whole or fitting)[0]
        return FoundSession(agent=OWN, path=path, session_id=path.stem)
    return None


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
        raise AmbiguousSession(session_id, [candidate_line(found) for found in held[:_LISTED]], len(held))
    if choose is None:
        note = f"{path.name} holds {len(held)} sessions; this is the newest. Name another as {path}#ID or by its id"
        return msgspec.structs.replace(held[0], note=note)
    chosen = choose(str(path), held)
    if chosen is None:
        raise SessionNotFound("no session was chosen")
    return chosen
