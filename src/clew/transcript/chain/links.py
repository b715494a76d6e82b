"""How entries hang together: ids, parents, and what was withdrawn.

Which entries are parts of one reply. Message ids alone do not say: some servers use the same id again and again.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, cast

from clew.protocol.entries import (
    AssistantEntry,
    AttachmentEntry,
    ChainEntry,
    Entry,
    EventEntry,
    OpaqueEntry,
    SystemEntry,
    TombstoneEntry,
    UserEntry,
)
from clew.protocol.events import CompactionEnded, CompactionUndone, Rewound
from clew.protocol.ids import EntryId
from clew.protocol.messages import ToolResultPart

Reply = tuple[str, str]
"""A message id, and the entry that the reply as a whole hangs under."""


class Replies:
    """Parts belong together when they share an id and hang under each other, or under the same entry."""

    def __init__(self, entries: Sequence[Entry], at: Mapping[EntryId, int]) -> None:
        self._entries = entries
        self._at = at
        self._roots: dict[int, str] = {}

    def of(self, number: int) -> Reply:
        """The reply that the assistant entry at `number` is a part of."""
        entry = self._entries[number]
        assert isinstance(entry, AssistantEntry)
        steps: list[int] = []
        at = number
        root = ""
        while True:
            if at in self._roots:
                root = self._roots[at]
                break
            if at in steps:
                break  # a loop, reported by the walk
            steps.append(at)
            before = self._part_before(at)
            if before is None:
                root = parent_of(self._entries[at]) or ""
                break
            at = before
        for step in steps:
            self._roots[step] = root
        return entry.message.id or f"({number})", root

    def _part_before(self, number: int) -> int | None:
        """The part of the same reply that this one follows."""
        entry = self._entries[number]
        above = self._above(number)
        if above is None or not isinstance(entry, AssistantEntry):
            return None
        if self._same_reply(entry, above):
            return above
        if not result_calls(self._entries[above]):
            return None
        # A result may stand between two parts, but the next reply follows results too: only what the line says of
        # its request can tell. A line without content carries the usage of the reply before it.
        asking = self._above(above)
        if asking is None or not self._same_reply(entry, asking):
            return None
        return asking if entry.request_id or not entry.message.content else None

    def _same_reply(self, entry: AssistantEntry, number: int) -> bool:
        other = self._entries[number]
        if not isinstance(other, AssistantEntry) or other.message.id != entry.message.id or not entry.message.id:
            return False
        return not entry.request_id or not other.request_id or entry.request_id == other.request_id

    def _above(self, number: int) -> int | None:
        parent = parent_of(self._entries[number])
        return self._at.get(parent) if parent is not None else None


BOUNDARY = "compact_boundary"
SNIP = "snip_boundary"


def uuid_of(entry: Entry) -> EntryId | None:
    """The id of an entry that can be a link of the chain. Unknown types can be, if they have an id."""
    if isinstance(entry, ChainEntry):
        return entry.uuid
    if isinstance(entry, OpaqueEntry):
        value = entry.raw.get("uuid")
        return EntryId(value) if isinstance(value, str) and "parentUuid" in entry.raw else None
    return None


def parent_of(entry: Entry) -> EntryId | None:
    """What the entry hangs under."""
    if isinstance(entry, ChainEntry):
        return entry.parent_uuid
    if isinstance(entry, OpaqueEntry):
        value = entry.raw.get("parentUuid")
        return EntryId(value) if isinstance(value, str) else None
    return None


def parent_before(entry: Entry, undone: Collection[EntryId]) -> EntryId | None:
    """What the entry hangs under; for a boundary that does not count any more, what it once hid."""
    if isinstance(entry, SystemEntry) and entry.parent_uuid is None and entry.uuid in undone:
        return entry.logical_parent_uuid
    return parent_of(entry)


def session_of(entry: Entry) -> str:
    """The session an entry says it belongs to."""
    if isinstance(entry, OpaqueEntry):
        value = entry.raw.get("sessionId")
        return value if isinstance(value, str) else ""
    return entry.session_id


def on_sidechain(entry: Entry) -> bool:
    """Whether the entry belongs to a sub-agent."""
    if isinstance(entry, ChainEntry):
        return entry.is_sidechain
    return isinstance(entry, OpaqueEntry) and entry.raw.get("isSidechain") is True


def is_boundary(entry: Entry) -> bool:
    """The model's view of the past starts anew here."""
    return isinstance(entry, SystemEntry) and entry.subtype == BOUNDARY


def is_snip(entry: Entry) -> bool:
    """It takes entries out of the middle of the view."""
    return isinstance(entry, SystemEntry) and entry.subtype == SNIP


def withdrawn(entries: Iterable[Entry], *, undone: Collection[EntryId] = (), snips: bool = True) -> set[EntryId]:
    """Entries that left the view: tombstoned, cut out of the middle by a snip that nobody undid, or the boundary and
    summary of a compaction that somebody did. Without `snips`, what left every view, also that of people."""
    gone: set[EntryId] = set()
    for entry in entries:
        if not is_snip(entry) or (snips and uuid_of(entry) not in undone):
            gone |= withdrawn_by(entry)
        if undone and isinstance(entry, UserEntry) and entry.is_compact_summary and entry.parent_uuid in undone:
            gone.add(entry.uuid)
    return gone | set(undone)


def undone_by(entry: Entry) -> EntryId | None:
    """The boundary, trim or snip that this entry takes back."""
    if isinstance(entry, EventEntry) and isinstance(entry.event, CompactionUndone):
        return entry.event.undone
    return None


def sets_tip(entry: Entry, undone: Collection[EntryId] = ()) -> bool:
    """Whether the conversation ends, after this line, with an entry that it names: it was set back, or cleared and
    nobody undid that."""
    if not isinstance(entry, EventEntry):
        return False
    event = entry.event
    if isinstance(event, Rewound):
        return event.scope != "files"
    return isinstance(event, CompactionEnded) and event.kind == "clear" and event.entry_id not in undone


def named_tip(entry: Entry) -> EntryId | None:
    """The entry that a line of `sets_tip` names; None: before the first of all."""
    event = entry.event if isinstance(entry, EventEntry) else None
    if isinstance(event, Rewound):
        return event.to
    return event.summary_id or event.entry_id if isinstance(event, CompactionEnded) else None


def withdrawn_by(entry: Entry) -> set[EntryId]:
    """What this one entry withdraws."""
    if isinstance(entry, TombstoneEntry):
        return set(entry.targets)
    if isinstance(entry, SystemEntry) and entry.subtype == SNIP and entry.data:
        found: Any = entry.data.get("removedUuids")
        if isinstance(found, list):
            return {EntryId(item) for item in cast("list[Any]", found) if isinstance(item, str)}
    return set()


def can_be_leaf(entry: Entry, *, session_id: str, sidechain: bool, gone: set[EntryId]) -> bool:
    """The tip of a conversation is something that was said or attached, in this session, on this chain."""
    return (
        isinstance(entry, UserEntry | AssistantEntry | AttachmentEntry)
        and entry.is_sidechain == sidechain
        and (not session_id or entry.session_id == session_id)
        and entry.uuid not in gone
    )


def result_calls(entry: Entry) -> tuple[str, ...]:
    """The calls that an entry answers."""
    if not isinstance(entry, UserEntry) or isinstance(entry.message.content, str):
        return ()
    return tuple(part.call_id for part in entry.message.content if isinstance(part, ToolResultPart))


def preserved_segment(entry: Entry) -> tuple[EntryId, EntryId, EntryId] | None:
    """Head, anchor and tail of the part of the past that a boundary keeps word for word."""
    if not isinstance(entry, SystemEntry) or not entry.compact_metadata:
        return None
    found: Any = entry.compact_metadata.get("preservedSegment")
    if not isinstance(found, dict):
        return None
    segment = cast("dict[str, Any]", found)
    names = [segment.get(name) for name in ("headUuid", "anchorUuid", "tailUuid")]
    if not all(isinstance(name, str) for name in names):
        return None
    head, anchor, tail = (EntryId(cast("str", name)) for name in names)
    return head, anchor, tail
