"""The past as people saw it, page by page from the end: for a front end that scrolls up, whatever the file's size."""

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from clew.protocol.entries import AssistantEntry, ChainEntry, Entry, OpaqueEntry, UserEntry
from clew.protocol.events import Recorded
from clew.protocol.ids import EntryId
from clew.transcript.chain.chain import build_chain
from clew.transcript.chain.links import parent_of, result_calls, uuid_of
from clew.transcript.errors import TranscriptError
from clew.transcript.log.files import open_read
from clew.transcript.log.scan import backward
from clew.transcript.mapping.retelling import events_of
from clew.transcript.past.reader import locate

MAX_PAGE_BYTES = 8 * 1024 * 1024
LINES_PER_EVENT = 3
"""Lines read at the most for each event asked for: books, labels and withdrawn tries stand between."""


class Page(Struct, frozen=True, kw_only=True):
    """Events oldest first, and where the page before ends."""

    events: tuple[Recorded, ...] = ()
    before: EntryId | None = None


class Scrollback:
    """Reads a transcript backwards. Knows where the pages it gave begin; every other place has to be looked for."""

    def __init__(self, path: Path, *, session_id: str, sidechain: bool = False, seed: Sequence[Entry] = ()) -> None:
        self._path = path
        self._seed = seed
        """What the file begins with when it is first written: the past of a copy that was not gone on with yet."""
        self._session_id = session_id
        self._sidechain = sidechain
        self._begins: dict[EntryId, tuple[int, EntryId | None]] = {}
        """Of the first entry of a page: the offset of its line, and its parent."""

    def page(self, before: EntryId | None, limit: int, leaf: EntryId | None = None) -> Page:
        """The newest `limit` events before an entry, or before the end, whose last entry is `leaf`. An unknown entry
        gives an empty page."""
        try:
            fd = open_read(self._path)
        except FileNotFoundError:
            return self._unwritten(before, limit, leaf)
        except (OSError, TranscriptError):
            return Page()
        try:
            end, tip = self._end(fd, before, leaf)
            limit = max(1, limit)
            while (page := self._read(fd, end, tip, limit)) is None:
                limit *= 4  # it begins within a reply: what belongs together would be told apart
            return page
        except OSError:
            return Page()
        finally:
            os.close(fd)

    def _unwritten(self, before: EntryId | None, limit: int, leaf: EntryId | None) -> Page:
        entries, tip = list(self._seed), leaf
        if before is not None:
            at = next((number for number, entry in enumerate(entries) if uuid_of(entry) == before), 0)
            tip = parent_of(entries[at]) if entries else None
            entries = entries[:at]
        page = self._told(entries, [0] * len(entries), tip, max(1, limit), whole=True, anywhere=True) or Page()
        self._begins.clear()  # where it will stand in the file is not known yet
        return page

    def _end(self, fd: int, before: EntryId | None, leaf: EntryId | None) -> tuple[int, EntryId | None]:
        """Where the page ends, and what its conversation ends with."""
        size = os.fstat(fd).st_size
        if before is None:
            return size, leaf
        if before in self._begins:
            return self._begins[before]
        wanted = before.encode()
        for line in backward(fd, size):
            if line.data is not None and wanted in line.data:
                for found in locate(line):
                    if found.entry is not None and uuid_of(found.entry) == before:
                        return line.offset, parent_of(found.entry)
        return 0, None

    def _read(self, fd: int, end: int, tip: EntryId | None, limit: int) -> Page | None:
        offsets: list[int] = []
        entries: list[Entry] = []
        start, taken, large = end, 0, False
        for line in backward(fd, end):
            large = end - line.offset > MAX_PAGE_BYTES
            if taken >= limit * LINES_PER_EVENT or large:
                break
            start, taken = line.offset, taken + 1
            for found in reversed(locate(line)):
                if found.entry is not None:
                    offsets.append(line.offset)
                    entries.append(found.entry)
        entries.reverse()
        offsets.reverse()
        return self._told(entries, offsets, tip, limit, whole=start == 0, anywhere=large)

    def _told(
        self,
        entries: list[Entry],
        offsets: list[int],
        tip: EntryId | None,
        limit: int,
        *,
        whole: bool,
        anywhere: bool,
    ) -> Page | None:
        """The events of the conversation that ends with `tip`, and of the lines beside it, in the order of the file.
        None when it begins within a reply and may be larger; `anywhere`: it may not."""
        chain = build_chain(
            entries, session_id=self._session_id, sidechain=self._sidechain, past_boundaries=True, tip=tip
        )
        said = {uuid_of(entry) for entry in chain.entries}
        told: list[tuple[int, Recorded]] = []
        for number, entry in enumerate(entries):
            if isinstance(entry, OpaqueEntry) or (isinstance(entry, ChainEntry) and entry.uuid not in said):
                continue
            told.extend((number, Recorded(at=entry.timestamp, event=event)) for event in events_of(entry))
        whole = whole and len(told) <= limit
        told = told[-limit:]
        if whole:
            return Page(events=tuple(recorded for _, recorded in told))
        begin = next((number for number, _ in told if opens_reply(entries, number)), None)
        if begin is None and not anywhere:
            return None
        if begin is None:
            begin = next((number for number, _ in told if isinstance(entries[number], ChainEntry)), None)
        first = entries[begin] if begin is not None else None
        if begin is None or not isinstance(first, ChainEntry):
            return Page(events=tuple(recorded for _, recorded in told))
        self._begins[first.uuid] = (offsets[begin], first.logical_parent_uuid or first.parent_uuid)
        kept = tuple(recorded for number, recorded in told if number >= begin)
        return Page(events=kept, before=first.uuid)


def opens_reply(entries: Sequence[Entry], number: int) -> bool:
    """Whether this is a prompt or the first line of a reply: what was said before is answered before it."""
    entry = entries[number]
    if isinstance(entry, UserEntry):
        return not result_calls(entry)
    if not isinstance(entry, AssistantEntry):
        return False
    parent = parent_of(entry)
    before = next((known for known in reversed(entries[:number]) if uuid_of(known) == parent), None)
    return before is not None and not (isinstance(before, AssistantEntry) and before.message.id == entry.message.id)
