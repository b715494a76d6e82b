"""Which session is meant, and where in it to go on."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from clew.protocol.entries import AssistantEntry, ChainEntry, Entry, UserEntry
from clew.transcript.chain.links import result_calls, uuid_of
from clew.transcript.errors import SessionNotFound, UnknownEntry
from clew.transcript.log.lease import holder_of
from clew.transcript.log.store import SessionStore, is_conversation, sessions_in
from clew.transcript.past.reader import LoadedLog

Identity = Callable[[Path], str]
"""The repository of a directory as `<first commit>:<path inside>`; empty when there is none or it must not be asked."""

MIN_PREFIX = 4
SURE_PREFIX = 8
"""How much of an id a list shows at least. Ours are random: nothing else begins with as much of one."""


def newest_session(store: SessionStore, cwd: Path, *, identity: Identity | None = None) -> Path:
    """`--continue`: the conversation of this project that was written last, and a run of a script or a program only
    where there is no conversation. Raises SessionNotFound.

    Sessions of the same repository under another path count too (moved, renamed, a worktree). Sessions that a
    background process is writing right now are passed over.
    """
    own = list(sessions_in(store.project_dir(cwd)))
    candidates = own or [path for folder in _project_dirs(store, cwd, identity)[1:] for path in sessions_in(folder)]
    run: Path | None = None
    for path in sorted(candidates, key=_written_at, reverse=True):
        holder = holder_of(path)
        if holder is not None and holder.background:
            continue
        if is_conversation(path):
            return path
        run = run or path
    if run is not None:
        return run
    raise SessionNotFound(f"no session to continue in {cwd}; see `clew sessions`, or start one with `clew`")


def own_session(store: SessionStore, query: str) -> Path | None:
    """The session of ours with this id, or with the only one that begins with so much; None: look further."""
    if not query or not query.isascii() or not all(letter.isalnum() or letter in "-_" for letter in query):
        return None
    fitting = [path for path in store.sessions() if path.stem.startswith(query)]
    whole = [path for path in fitting if path.stem == query]
    sure = whole or (fitting if len(query) >= SURE_PREFIX else [])
    return sure[0] if len(sure) == 1 else None


def resume_at(loaded: LoadedLog, entry_id: str, *, drops_turn: str | None = None) -> LoadedLog:
    """`--resume-session-at`: the history up to this entry, extended so that no call stays without its result.

    The file is not touched: the next entry hangs under the new leaf, and the rest becomes a branch not taken. With
    `drops_turn` that rest must be one turn, the one that began with this prompt. Raises UnknownEntry.
    """
    at = next((number for number, entry in enumerate(loaded.chain) if uuid_of(entry) == entry_id), None)
    if at is None:
        raise UnknownEntry(f"no entry {entry_id} in the conversation of session {loaded.session_id}")
    end = _whole_exchange(loaded.chain, at)
    chain = loaded.chain[:end]
    if drops_turn is not None:
        _check_dropped(loaded.chain[end:], drops_turn)
    leaf = next((entry.uuid for entry in reversed(chain) if isinstance(entry, ChainEntry)), None)
    return msgspec.structs.replace(loaded, chain=chain, leaf=leaf)


def _check_dropped(rest: tuple[Entry, ...], prompt: str) -> None:
    """Whoever cuts off a turn must know all that was asked in what is cut off."""
    asked = [entry.uuid for entry in rest if isinstance(entry, UserEntry) and is_prompt(entry)]
    others = [uuid for uuid in asked if uuid != prompt]
    words = "" if prompt in asked else f"no prompt {prompt or '(empty)'} after that entry"
    if others:
        words = f"{len(others)} more prompts lie after that entry, the first is {others[0]}"
    if words:
        raise UnknownEntry(f"Resume rejected by --resume-drops-turn: {words}")


def is_prompt(entry: UserEntry) -> bool:
    """Whether somebody asked this, rather than the program or a tool."""
    return not (entry.is_meta or entry.is_compact_summary or result_calls(entry))


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


def _project_dirs(store: SessionStore, cwd: Path, identity: Identity | None) -> list[Path]:
    return store.directories_of(cwd, identity=identity(cwd) if identity is not None else "")


def _written_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
