"""One session, whoever wrote it, as entries to show or export."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from clew.catalog.found_session import OWN, FoundSession
from clew.foreign import registry
from clew.protocol.entries import Entry
from clew.protocol.lookups.catalog import NamedSession
from clew.transcript.chain.chain import Chain, build_chain
from clew.transcript.chain.links import is_snip, sets_tip
from clew.transcript.errors import Problem, SessionNotFound, describe
from clew.transcript.index.digest import Digest
from clew.transcript.log.store import SessionStore
from clew.transcript.past.reader import iterate, load

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


def open_named(session: NamedSession) -> Opened:
    """Read the session that the hub named."""
    found = FoundSession(agent=session.agent, path=Path(session.path), session_id=session.session_id, note=session.note)
    return open_found(found)


def open_found(found: FoundSession) -> Opened:
    """Read the session that was found; of a file with several, that one."""
    if found.is_ours:
        return _open_own(found.path)
    opened = _open_foreign(found.path, found.agent, found.session_id)
    warning = " ".join(part for part in (found.note, opened.warning) if part)
    return msgspec.structs.replace(opened, warning=warning)


def open_file(path: Path, store: SessionStore, *, session_id: str = "") -> Opened:
    """Read one file: ours by our reader, others by theirs."""
    if path.is_relative_to(store.projects) or registry.identify(path) == OWN:
        return _open_own(path)
    return _open_foreign(path, "", session_id)


def _open_own(path: Path) -> Opened:
    if _size(path) > _WHOLE_BYTES:
        loaded = load(path)
        entries, problems, session = loaded.entries, loaded.problems, str(loaded.session_id)
        chain = build_chain(entries, session_id=session)
    else:
        chain, entries, problems, session = _whole(path)
    digest = Digest()
    for entry in entries:
        digest.feed(entry)
    return Opened(
        agent=OWN,
        session_id=session,
        path=path,
        title=digest.title,
        cwd=digest.cwd,
        entries=chain.entries,
        keyed=_beside(entries, chain),
        warning=describe(problems),
    )


def _beside(entries: Sequence[Entry], chain: Chain) -> tuple[Entry, ...]:
    """The lines beside the conversation. One that says where it ended, and was followed by more of it, held for its
    place in the file, and what is shown or exported has an order of its own; a snip holds wherever it stands."""
    said = set(chain.indices)
    return tuple(
        entry
        for at, entry in enumerate(entries)
        if at not in said
        and (is_snip(entry) or not hasattr(entry, "uuid"))
        and (at == chain.set_by or not sets_tip(entry))
    )


def _whole(path: Path) -> tuple[Chain, tuple[Entry, ...], tuple[Problem, ...], str]:
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
    return chain, tuple(entries), (*problems, *flaws), session


def _open_foreign(path: Path, agent: str, session_id: str) -> Opened:
    transcript = registry.read(path, agent or None, session_id=session_id)
    if not transcript.entries and any(problem.kind == "unknown_format" for problem in transcript.problems):
        raise SessionNotFound(f"{path} is no transcript of an agent we know")
    # A last line that is still being written is no damage: the next look sees it whole.
    damage = sum(problem.kind != "unfinished" for problem in transcript.problems)
    count = "1 problem" if damage == 1 else f"{damage} problems"
    warning = f"{count} while reading {path.name}" if damage else ""
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
