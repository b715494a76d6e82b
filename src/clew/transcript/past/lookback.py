"""How far back a reader must go: until the chain is closed by a boundary, or is more than a model can take."""

from collections.abc import Set
from typing import Generic, TypeVar

from clew.protocol.entries import Entry, SystemEntry
from clew.protocol.ids import EntryId
from clew.transcript.chain.links import (
    can_be_leaf,
    is_boundary,
    named_tip,
    parent_before,
    preserved_segment,
    session_of,
    sets_tip,
    undone_by,
    uuid_of,
    withdrawn_by,
)

MAX_VIEW_BYTES = 16 * 1024 * 1024
"""Past this much conversation since the last boundary the start is left out of view: no model has the window for it.
The cut is put at a multiple of this size, so that it stays where it is while the session grows."""

_NEAR_BYTES = 1024 * 1024
_STRAGGLERS_BYTES = 4 * 1024 * 1024

T = TypeVar("T")


class Lookback(Generic[T]):
    """Takes lines last first, keeps them, and says when enough was seen. Follows the same links as the chain will."""

    def __init__(
        self,
        *,
        session_id: str,
        sidechain: bool,
        max_view_bytes: int,
        size: int,
        missing: Set[EntryId] = frozenset(),
    ) -> None:
        """`missing`: ids that an earlier pass looked for in vain."""
        self._session_id = session_id
        self._sidechain = sidechain
        self._limit = max_view_bytes
        self._cut_offset = max(0, (size - max_view_bytes) // max_view_bytes * max_view_bytes)
        self._missing = missing
        self._taken: list[T] = []
        self._entries: dict[EntryId, Entry] = {}
        self._gone: set[EntryId] = set()
        self._undone: set[EntryId] = set()
        self._followed: set[EntryId] = set()
        self._segment: tuple[EntryId, SystemEntry] | None = None
        """Head of the preserved segment that is being followed, and its boundary."""
        self._in_view = 0
        self._since_hit = 0
        self._damage_behind = False
        self._root_at: int | None = None
        self._closed = False
        self.want: EntryId | None = None
        """The parent that is looked for."""
        self.found = False
        """A tip of the session was seen."""
        self.last_session = ""
        self.cut = False
        self.reached = size

    def worth_decoding(self, data: bytes | None, offset: int) -> bool:
        """False for a line of a dead branch, while the parent that is looked for lies far back."""
        self.reached = offset
        if data is None:
            return True
        self._since_hit += len(data)
        if self._since_hit < _NEAR_BYTES or self.want is None or self.want in self._missing:
            return True
        marks = (self.want.encode(), b'"content-replacement"', b'"tombstone"', b'"event"')
        return any(mark in data for mark in marks)

    def take(self, item: T, entry: Entry | None, offset: int, length: int) -> bool:
        """Keep one line; True when nothing before it can matter."""
        self._taken.append(item)
        if entry is None:
            self._damage_behind = True
            return False
        self._in_view += length
        self._gone |= withdrawn_by(entry)
        uuid = uuid_of(entry)
        if uuid is None:
            self._look_at_events(entry, offset)
        if uuid is not None:
            self._entries[uuid] = entry
            self._aim(entry, uuid)
            if self.want in self._entries:
                self._follow(offset)
        return self._done(offset)

    def _look_at_events(self, entry: Entry, offset: int) -> None:
        """Some lines outside the chain say where it ends, or that a boundary does not count."""
        if undone := undone_by(entry):
            self._undone.add(undone)
        elif not self.found and sets_tip(entry, self._undone):
            self.found = True
            self.want = named_tip(entry)
            if self.want is None:
                self._close(offset)

    def in_file_order(self) -> list[T]:
        """What was taken, first line first."""
        return self._taken[::-1]

    def _aim(self, entry: Entry, uuid: EntryId) -> None:
        """The tip of the file, or the entry before the damage that swallowed a parent, is where to go on."""
        self.last_session = self.last_session or session_of(entry)
        lost = self.want in self._missing and self._damage_behind
        if (not self.found or lost) and can_be_leaf(
            entry, session_id=self._session_id, sidechain=self._sidechain, gone=self._gone
        ):
            self.found = True
            self.want = uuid

    def _follow(self, offset: int) -> None:
        self._since_hit = 0
        self._damage_behind = False
        while self.want is not None and self.want in self._entries:
            looped = self.want in self._followed
            self._followed.add(self.want)
            entry = self._entries[self.want]
            parent = parent_before(entry, self._undone)
            if self._segment is not None:
                self._follow_segment(parent, offset, looped=looped)
            elif looped:
                self.want, self._root_at = None, offset  # the chain reports the loop
            elif parent is None:
                self._at_root(entry, offset)
            else:
                self.want = parent

    def _follow_segment(self, parent: EntryId | None, offset: int, *, looped: bool) -> None:
        assert self._segment is not None
        head, boundary = self._segment
        if self.want == head:
            self._close(offset)
        elif looped or parent is None:
            self._segment = None
            self.want = boundary.logical_parent_uuid
        else:
            self.want = parent

    def _at_root(self, entry: Entry, offset: int) -> None:
        self.want = None
        if not isinstance(entry, SystemEntry) or not is_boundary(entry):
            self._root_at = offset
            return
        named = preserved_segment(entry)
        if named is None:
            self._close(offset)
            return
        head, anchor, tail = named
        if anchor in self._followed and not {head, tail} & self._missing:
            self._segment = (head, entry)
            self.want = tail
        else:
            self.want = entry.logical_parent_uuid

    def _close(self, offset: int) -> None:
        self.want = None
        self._closed = True
        self._root_at = offset

    def _done(self, offset: int) -> bool:
        if self._root_at is not None:
            # Before a boundary nothing matters. Before another root only stray lines of the same chain could.
            return self._closed or self._root_at - offset > _STRAGGLERS_BYTES
        if self._in_view > self._limit and offset <= self._cut_offset:
            self.cut = True
            return True
        return False
