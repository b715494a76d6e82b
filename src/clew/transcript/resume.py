"""Which session is meant, and where in it to go on."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from clew.protocol.entries import AssistantEntry, ChainEntry, Entry
from clew.protocol.ids import EntryId
from clew.transcript.errors import AmbiguousSession, SessionNotFound, UnknownEntry
from clew.transcript.lease import holder_of
from clew.transcript.links import result_calls, uuid_of
from clew.transcript.reader import Loaded
from clew.transcript.store import SessionStore, sessions_in

Identity = Callable[[Path], str]
"""The repository of a directory as `<first commit>:<path inside>`; empty when there is none or it must not be asked."""

MIN_PREFIX = 4


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """A session that a title or text fits."""

    path: Path
    session_id: str
    title: str = ""
    project: str = ""
    exact: bool = False
    """The whole title, not a part of it or of the text."""
    here: bool = False
    """It belongs to the project in question."""


Search = Callable[[str], Iterable[Match]]
"""Sessions whose title or text fits, best first. The index behind it is loaded by whoever needs it."""


def newest_session(store: SessionStore, cwd: Path, *, identity: Identity | None = None) -> Path:
    """`--continue`: the session of this project that was written last. Raises SessionNotFound.

    Sessions of the same repository under another path count too (moved, renamed, a worktree). Sessions that a
    background process is writing right now are passed over.
    """
    own = list(sessions_in(store.project_dir(cwd)))
    candidates = own or [path for folder in _project_dirs(store, cwd, identity)[1:] for path in sessions_in(folder)]
    for path in sorted(candidates, key=_written_at, reverse=True):
        holder = holder_of(path)
        if holder is None or not holder.background:
            return path
    raise SessionNotFound(f"no session to continue in {cwd}; see `clew sessions`, or start one with `clew`")


def resolve_session(
    store: SessionStore, query: str, cwd: Path, *, identity: Identity | None = None, search: Search | None = None
) -> Path:
    """`--resume QUERY`: a path, an id, the start of an id, a title, or words that were said, in this order.

    The file need not be ours: a path outside the store is returned as it is. Raises SessionNotFound or
    AmbiguousSession.
    """
    query = query.strip()
    if not query:
        return newest_session(store, cwd, identity=identity)
    found = _by_path(query, cwd) or _by_id(store, query)
    if found is not None:
        return found
    matches = list(search(query)) if search is not None else []
    if not matches:
        raise SessionNotFound(f"no session fits {query!r}; `clew sessions --search TEXT` looks through all of them")
    return _the_one(query, matches)


def resume_at(loaded: Loaded, entry_id: str) -> Loaded:
    """`--resume-session-at`: the history up to this entry, extended so that no call stays without its result.

    The file is not touched: the next entry hangs under the new leaf, and the rest becomes a branch not taken.
    """
    at = next((number for number, entry in enumerate(loaded.chain) if uuid_of(entry) == entry_id), None)
    if at is None:
        raise UnknownEntry(f"no entry {entry_id} in the conversation of session {loaded.session_id}")
    end = _whole_exchange(loaded.chain, at)
    chain = loaded.chain[:end]
    leaf = next((entry.uuid for entry in reversed(chain) if isinstance(entry, ChainEntry)), None)
    return msgspec.structs.replace(loaded, chain=chain, leaf=leaf)


def _whole_exchange(chain: tuple[Entry, ...], at: int) -> int:
    """The end of the reply and its results that `chain[at]` belongs to. Replies and results stand together there."""
    end = at + 1
    entry = chain[at]
    if isinstance(entry, AssistantEntry):
        while end < len(chain):
            following = chain[end]
            if not isinstance(following, AssistantEntry) or following.message.id != entry.message.id:
                break
            end += 1
    if isinstance(entry, AssistantEntry) or result_calls(entry):
        while end < len(chain) and result_calls(chain[end]):
            end += 1
    return end


def _by_path(query: str, cwd: Path) -> Path | None:
    if "/" not in query and "." not in query:
        return None
    path = Path(os.path.expanduser(query))
    path = path if path.is_absolute() else cwd / path
    return path if path.exists() else None


def _by_id(store: SessionStore, query: str) -> Path | None:
    if not all(letter.isalnum() or letter in "-_" for letter in query) or not query.isascii():
        return None
    fitting: list[Path] = []
    for path in store.sessions():
        if path.stem == query:
            return path
        if len(query) >= MIN_PREFIX and path.stem.startswith(query):
            fitting.append(path)
    if len(fitting) > 1:
        raise AmbiguousSession(query, [f"{path.stem}  ({path.parent.name})" for path in fitting])
    return fitting[0] if fitting else None


def _the_one(query: str, matches: list[Match]) -> Path:
    for chosen in (
        [match for match in matches if match.exact and match.here],
        [match for match in matches if match.exact],
        [match for match in matches if match.here],
        matches,
    ):
        if len(chosen) == 1:
            return chosen[0].path
        if chosen:
            raise AmbiguousSession(query, [f"{match.session_id}  {match.title}  ({match.project})" for match in chosen])
    raise SessionNotFound(query)


def _project_dirs(store: SessionStore, cwd: Path, identity: Identity | None) -> list[Path]:
    return store.directories_of(cwd, identity=identity(cwd) if identity is not None else "")


def _written_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def entry_ids(loaded: Loaded) -> tuple[EntryId, ...]:
    """The ids that `resume_at` takes, in order."""
    return tuple(entry.uuid for entry in loaded.chain if isinstance(entry, ChainEntry))
