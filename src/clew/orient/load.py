"""A session file, of whichever agent, as a ledger and the end of its dialog."""

import calendar
import time
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from clew.catalog.found_session import OWN
from clew.foreign.registry import identify, read
from clew.foreign.session import ForeignTranscript
from clew.ledger.facts import Ledger
from clew.ledger.fold import LedgerFold, fold
from clew.orient.dialog import DialogFold, DialogLine, dialog_of
from clew.protocol.entries import SessionSourceEntry
from clew.system.home import clew_home
from clew.transcript.log.lease import holder_of
from clew.transcript.log.store import SessionStore
from clew.transcript.past.interruption import restore_cut_off
from clew.transcript.past.reader import iterate


class LoadedSession(Struct, frozen=True, kw_only=True):
    """What is known of a session after reading it."""

    path: str
    agent: str
    session_id: str
    project: str
    title: str
    """The title its own program gave it; titles in the log are in the ledger."""
    updated_s: float
    """Time of the last entry, else of the file."""
    ledger: Ledger
    dialog: tuple[DialogLine, ...] = ()
    problem: str = ""
    """Why nothing could be read, if so."""
    own: bool = False
    """Whether it is ours from its first word on, not brought from another agent."""


def load_session(path: Path, *, agent: str | None = None, session_id: str = "") -> LoadedSession:
    """Read and fold one session. What cannot be read gives an empty ledger and a reason, never an exception."""
    if agent == OWN or (agent is None and is_own(path)):
        return load_own(path)
    return from_transcript(read(path, agent, session_id=session_id))


def is_own(path: Path) -> bool:
    """Whether a file is ours: by its place, because a session that was cut off early looks like another agent's."""
    return path.absolute().is_relative_to(SessionStore(clew_home()).projects) or identify(path) == OWN


def is_held(path: Path, agent: str) -> bool:
    """Whether a live process writes the session. Only our own have a lease; of others nobody can know."""
    return bool(held_by(path, agent))


def held_by(path: Path, agent: str) -> str:
    """The token of the lease of the live process that writes the session; empty: none does."""
    holder = holder_of(path) if agent == OWN else None
    return holder.token if holder is not None else ""


def load_own(path: Path) -> LoadedSession:
    """One of our files, in file order: titles, approvals and turn results stand between the messages."""
    folding, dialog = LedgerFold(), DialogFold()
    problem = ""
    own = True
    holder = holder_of(path)
    found_bytes = holder.found_bytes if holder is not None else 0
    for located in iterate(path):
        if found_bytes and located.offset >= found_bytes:
            folding.reopened()
            found_bytes = 0
        if located.entry is not None:
            folding.feed(located.entry)
            dialog.feed(located.entry)
            own = own and not (isinstance(located.entry, SessionSourceEntry) and located.entry.agent != OWN)
        elif located.problem:
            problem = located.problem
    if found_bytes:  # whoever holds it has written nothing yet
        folding.reopened()
    ledger = folding.ledger(held=holder is not None)
    if holder is None and restore_cut_off(path):
        ledger = replace(ledger, restore_cut_off=True)
    return LoadedSession(
        path=str(path),
        agent=OWN,
        session_id=ledger.session_id or path.stem,
        project=ledger.cwd,
        title=ledger.title,
        updated_s=seconds_of(ledger.last_at) or _mtime(path),
        ledger=ledger,
        dialog=tuple(dialog.lines()),
        problem="" if ledger.entries else problem,
        own=own,
    )


def from_transcript(transcript: ForeignTranscript) -> LoadedSession:
    """Fold what a reader gave."""
    ledger = fold(transcript.entries)
    problem = "" if transcript.entries else next((item.detail or item.kind for item in transcript.problems), "")
    return LoadedSession(
        path=str(transcript.path),
        agent=transcript.agent,
        session_id=transcript.session_id or ledger.session_id,
        project=transcript.meta.cwd or ledger.cwd,
        title=transcript.meta.title,
        updated_s=seconds_of(ledger.last_at) or _mtime(transcript.path),
        ledger=ledger,
        dialog=tuple(dialog_of(transcript.entries)),
        problem=problem,
    )


def seconds_of(timestamp: str) -> float:
    """Seconds since the epoch of an ISO time in UTC; 0 when it is none."""
    try:
        whole = calendar.timegm(time.strptime(timestamp[:19], "%Y-%m-%dT%H:%M:%S"))
        return whole + (float("0" + timestamp[19:].rstrip("Z")) if timestamp[19:20] == "." else 0.0)
    except ValueError:
        return 0.0


def _mtime(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
