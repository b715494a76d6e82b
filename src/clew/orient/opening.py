"""One session, whoever wrote it, as entries to show or export."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from clew.foreign import registry
from clew.orient.catalog import OWN, Catalog
from clew.protocol.entries import Entry
from clew.transcript.chain import build_chain
from clew.transcript.digest import Digest
from clew.transcript.errors import AmbiguousSession, SessionNotFound
from clew.transcript.problems import Problem, describe
from clew.transcript.reader import iterate, load
from clew.transcript.resume import resolve_session
from clew.transcript.store import SessionStore

_REFRESH_S = 10.0
_WHOLE_BYTES = 256 * 1024 * 1024


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation from its first word to its last."""

    agent: str
    session_id: str
    path: Path
    title: str
    cwd: str
    entries: tuple[Entry, ...]
    """The conversation in order, the program's notes included."""
    keyed: tuple[Entry, ...] = ()
    """Titles, labels, turn results and the like, in file order."""
    warning: str = ""
    """What could not be read, in one line."""


def open_session(
    store: SessionStore,
    query: str,
    cwd: Path,
    *,
    homes: Mapping[str, Path] | None = None,
    env: Mapping[str, str] | None = None,
) -> Opened:
    """Find a session by path, id, title or words, and read it. Raises SessionNotFound or AmbiguousSession."""
    try:
        return open_file(resolve_session(store, query, cwd), store)
    except SessionNotFound:
        pass  # neither a path nor an id of ours: now the index is worth opening
    with Catalog(store, homes=homes, env=env) as catalog:
        catalog.refresh(budget_s=_REFRESH_S)
        try:
            path = resolve_session(store, query, cwd, search=lambda text: catalog.matches(text, cwd))
        except SessionNotFound:
            return _foreign_by_id(catalog, query)
    return open_file(path, store)


def open_file(path: Path, store: SessionStore) -> Opened:
    """Read one file: ours by our reader, others by theirs."""
    if path.is_relative_to(store.projects) or registry.identify(path) == OWN:
        return _open_own(path)
    return _open_foreign(path, "", "")


def _foreign_by_id(catalog: Catalog, query: str) -> Opened:
    wanted = query.strip()
    fitting = [
        row
        for row in catalog.rows()
        if row.session_id == wanted or (len(wanted) >= 4 and row.session_id.startswith(wanted))
    ]
    fitting = fitting or [row for row in catalog.rows() if wanted and row.title.casefold() == wanted.casefold()]
    if not fitting:
        raise SessionNotFound(f"no session fits {query!r}; `clew sessions --search TEXT` looks through all of them")
    if len(fitting) > 1:
        raise AmbiguousSession(query, [f"{row.session_id}  {row.title[:60]}  ({row.agent})" for row in fitting[:20]])
    row = fitting[0]
    if row.archived:
        raise SessionNotFound(f"session {row.session_id} is archived; bring it back with `clew sessions restore`")
    return _open_foreign(Path(row.path), row.agent, row.session_id)


def _open_own(path: Path) -> Opened:
    if _size(path) > _WHOLE_BYTES:
        loaded = load(path)
        chain, entries, problems = loaded.chain, loaded.entries, loaded.problems
        session = str(loaded.session_id)
    else:
        chain, entries, problems, session = _whole(path)
    digest = Digest()
    for entry in entries:
        digest.feed(entry)
    in_chain = {id(entry) for entry in chain}
    return Opened(
        agent=OWN,
        session_id=session,
        path=path,
        title=digest.title,
        cwd=digest.cwd,
        entries=chain,
        keyed=tuple(entry for entry in entries if id(entry) not in in_chain and not hasattr(entry, "uuid")),
        warning=describe(problems),
    )


def _whole(path: Path) -> tuple[tuple[Entry, ...], tuple[Entry, ...], tuple[Problem, ...], str]:
    entries: list[Entry] = []
    gaps: list[int] = []
    problems: list[Problem] = []
    try:
        for located in iterate(path):
            if located.problem:
                problems.append(Problem(path=str(path), offset=located.offset, kind=located.problem))
            if located.entry is None:
                gaps.append(len(entries))
            else:
                entries.append(located.entry)
    except OSError as error:
        problems.append(Problem(path=str(path), offset=0, kind="unreadable", detail=str(error)))
    for session in (path.stem, load(path).session_id):
        chain = build_chain(entries, session_id=session, gaps=gaps, past_boundaries=True)
        if chain.entries:
            break
    flaws = (Problem(path=str(path), offset=0, kind=flaw.kind, detail=flaw.detail) for flaw in chain.flaws)
    return chain.entries, tuple(entries), (*problems, *flaws), session


def _open_foreign(path: Path, agent: str, session_id: str) -> Opened:
    transcript = registry.read(path, agent or None, session_id=session_id)
    if not transcript.entries and any(problem.kind == "unknown_format" for problem in transcript.problems):
        raise SessionNotFound(f"{path} is no transcript of an agent we know")
    warning = f"{len(transcript.problems)} problems while reading {path.name}" if transcript.problems else ""
    digest = Digest()
    for entry in transcript.entries:
        digest.feed(entry)
    return Opened(
        agent=transcript.agent,
        session_id=transcript.session_id,
        path=path,
        title=transcript.meta.title or digest.title,
        cwd=transcript.meta.cwd,
        entries=transcript.entries,
        warning=warning,
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
