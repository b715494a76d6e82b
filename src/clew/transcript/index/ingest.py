"""From files into the index: only what is new since the last time, in pieces of bounded size."""

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path

from clew.protocol.entries import Entry
from clew.transcript.index.database import SessionIndex
from clew.transcript.index.digest import Digest
from clew.transcript.index.rows import SourceFile
from clew.transcript.index.search_text import IndexedText, documents
from clew.transcript.log.codec import MAX_LINE_BYTES
from clew.transcript.log.scan import LogLine
from clew.transcript.past.reader import Located, iterate, locate

_PIECE_BYTES = 8 * 1024 * 1024


def ingest_file(index: SessionIndex, source: SourceFile) -> None:
    """Bring one of our own files up to date. A line that is still being written waits for the next time."""
    start, digest = index.start_of(source)
    found: list[IndexedText] = []
    offset, size = start, 0
    for located in _lines(source, start):
        if located.entry is not None:
            found.extend(_taken(located.entry, digest, located.offset))
        if located.problem:
            digest.problems += 1
        if located.ended:
            offset = located.offset + located.length + 1
        size += located.length
        if size >= _PIECE_BYTES and located.ended:
            index.put(source, digest, found, start=start, offset=offset, state=digest.state())
            start, size = offset, 0
            found.clear()
    index.put(source, digest, found, start=start, offset=offset, state=digest.state())


def ingest_entries(
    index: SessionIndex, source: SourceFile, entries: Iterable[Entry], *, own_id: str = "", problems: int = 0
) -> None:
    """Record a session that was read as a whole. `own_id`: what its agent calls it, which finds it like a title where
    the list knows it by the name of its file."""
    digest = Digest(problems=problems)
    found = [IndexedText(role="title", text=own_id)] if own_id != source.session_id else []
    for entry in entries:
        found.extend(_taken(entry, digest))
    index.put(source, digest, found, start=0, offset=source.size, state=digest.state())


def _taken(entry: Entry, digest: Digest, at: int = 0) -> list[IndexedText]:
    """What can be found of an entry. A title stays findable when another one takes its place; said again, it is not
    kept again."""
    known = (digest.own_title, digest.given_title)
    digest.feed(entry, at)
    titles = [title for title in (digest.own_title, digest.given_title) if title and title not in known]
    return [*(IndexedText(role="title", text=title) for title in titles), *documents(entry)]


def _lines(source: SourceFile, start: int) -> Iterator[Located]:
    if not source.archived:
        yield from iterate(Path(source.path), start=start)
        return
    offset = 0
    with gzip.open(source.path) as packed:
        while line := packed.readline(MAX_LINE_BYTES):
            if offset >= start:
                data = line.rstrip(b"\n")
                yield from locate(LogLine(offset, len(line) - 1, data, ended=True))
            offset += len(line)
