"""A conversation with all that the lines beside it say done to it, for formats and readers that know no such lines."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from clew.protocol.entries import AssistantEntry, ChainEntry, Entry, SystemEntry, UserEntry
from clew.protocol.ids import EntryId
from clew.transcript.chain.links import is_boundary, is_snip, preserved_segment, undone_by, withdrawn_by
from clew.transcript.chain.view import Replacements, replaced_entry

SEGMENT = "preservedSegment"


def settled(chain: Sequence[ChainEntry], beside: Iterable[Entry]) -> list[ChainEntry]:
    """The chain as it must stand alone, so that whoever goes on from it sends the same.

    Results and media are what stands for them in the view. A compaction that was undone is not there. What a snip took
    out is there, but nothing that is in view hangs under it: a branch that was left.
    """
    return _Settling(chain, tuple(beside)).chain()


class _Settling:
    def __init__(self, chain: Sequence[ChainEntry], beside: Sequence[Entry]) -> None:
        self._chain = chain
        self._replacements = Replacements(beside)
        undone = {found for entry in beside if (found := undone_by(entry)) is not None}
        self._snipped: set[EntryId] = set()
        for entry in (*chain, *beside):
            if isinstance(entry, SystemEntry) and is_snip(entry) and entry.uuid not in undone:
                self._snipped |= withdrawn_by(entry)
        self._dropped = {entry.uuid for entry in chain if _is_dropped(entry, undone)}
        self._parents = {entry.uuid: _parent(entry) for entry in chain}
        self._places = {entry.uuid: place for place, entry in enumerate(chain)}

    def chain(self) -> list[ChainEntry]:
        return [self._standing(entry) for entry in self._chain if entry.uuid not in self._dropped]

    def _standing(self, entry: ChainEntry) -> ChainEntry:
        left = self._dropped if entry.uuid in self._snipped else self._dropped | self._snipped
        if entry.parent_uuid in left:
            entry = msgspec.structs.replace(entry, parent_uuid=self._above(entry.parent_uuid, left))
        if entry.logical_parent_uuid in left:
            entry = msgspec.structs.replace(entry, logical_parent_uuid=self._above(entry.logical_parent_uuid, left))
        if isinstance(entry, UserEntry):
            return replaced_entry(entry, self._replacements)
        return self._with_segment(entry) if isinstance(entry, SystemEntry) and is_boundary(entry) else entry

    def _above(self, at: EntryId | None, left: set[EntryId]) -> EntryId | None:
        """The nearest ancestor that stays."""
        passed: set[EntryId] = set()
        while at is not None and at in left and at not in passed:
            passed.add(at)
            at = self._parents.get(at)
        return None if at in left else at

    def _with_segment(self, boundary: SystemEntry) -> SystemEntry:
        """What the boundary kept, from the first to the last entry of it that is still in view."""
        named = preserved_segment(boundary)
        if named is None or named[0] not in self._places or named[2] not in self._places:
            return boundary
        head, anchor, tail = named
        kept = [
            entry.uuid
            for entry in self._chain[self._places[head] : self._places[tail] + 1]
            if entry.uuid not in self._snipped and entry.uuid not in self._dropped
        ]
        about: dict[str, Any] = {
            key: value for key, value in (boundary.compact_metadata or {}).items() if key != SEGMENT
        }
        if kept:
            about[SEGMENT] = {"headUuid": kept[0], "anchorUuid": anchor, "tailUuid": kept[-1]}
        return msgspec.structs.replace(boundary, compact_metadata=about)


def _parent(entry: ChainEntry) -> EntryId | None:
    return entry.parent_uuid if entry.parent_uuid is not None else entry.logical_parent_uuid


def _is_dropped(entry: ChainEntry, undone: set[EntryId]) -> bool:
    """The traces of what was undone, the marks of snips, which mean nothing without our own fields, and lines that only
    carry usage."""
    if isinstance(entry, AssistantEntry):
        return not entry.message.content
    if isinstance(entry, SystemEntry):
        return is_snip(entry) or (is_boundary(entry) and entry.uuid in undone)
    return isinstance(entry, UserEntry) and entry.is_compact_summary and entry.parent_uuid in undone
