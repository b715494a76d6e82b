"""True and false recap texts about real sessions, written by reading those sessions; for measuring a verifier.

Each line of `data/rephrasings.jsonl` names a transcript below the shared folder, a text, whether a careful reader of
that transcript would accept it, what kind of text or falsehood it is, and why. Every third, by the hash of its id, is
held out: it is for one final run, not for development.
"""

import hashlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from clew.foreign.registry import read
from clew.protocol.entries import Entry

DATA = Path(__file__).parent / "data" / "rephrasings.jsonl"
_PLACES = [folder / "shared" / "fixtures" / "transcripts" for folder in Path(__file__).parents]
TRANSCRIPTS = next((place for place in _PLACES if place.is_dir()), None)
"""Where the sessions lie on this machine; None when they are not here."""


class Record(NamedTuple):
    """One line of the set."""

    id: str
    transcript: str
    session: str
    """Which session of a file that holds several; empty for the only one."""
    truth: bool
    kind: str
    language: str
    text: str
    why: str
    held_out: bool


class Rephrasing(NamedTuple):
    """A text, and the session it claims to tell, as the readers give it."""

    entries: tuple[Entry, ...]
    text: str
    truth: bool
    kind: str
    held_out: bool
    id: str
    why: str


def records() -> list[Record]:
    """The whole set, without reading any transcript."""
    lines = DATA.read_text(encoding="utf-8").splitlines()
    return [Record(**{"session": "", **json.loads(line)}) for line in lines]


def rephrasings(*, held_out: bool | None = False) -> Iterator[Rephrasing]:
    """The texts with their sessions: those to develop with, the held-out ones (True), or all (None)."""
    for record in records():
        if held_out is None or record.held_out == held_out:
            entries = _entries(record.transcript, record.session)
            yield Rephrasing(entries, record.text, record.truth, record.kind, record.held_out, record.id, record.why)


def is_held_out(name: str) -> bool:
    """The rule behind the mark: every third, by the hash of the id."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 3 == 0


@cache
def _entries(transcript: str, session: str) -> tuple[Entry, ...]:
    if TRANSCRIPTS is None:
        raise FileNotFoundError("the shared transcripts are not on this machine")
    return read(TRANSCRIPTS / transcript, session_id=session).entries
