"""Reading the receipts back: what crossed last time, pins, sections, and what has left and can be found again."""

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from clew.llm.estimate import estimate_text
from clew.protocol.entries import AssistantEntry, AttachmentEntry, Entry, EventEntry, SystemEntry, UserEntry
from clew.protocol.event_kinds.context import CompactionEnded, ItemPinned, ReceiptItem, SectionKept
from clew.protocol.ids import EntryId
from clew.protocol.meant_calls import meant_call
from clew.protocol.messages import Part, TextPart, ToolCallPart, ToolResultPart, arguments_of, parts_of, result_text
from clew.transcript.chain.links import SNIP, is_boundary, parent_of, undone_by, uuid_of, withdrawn_by
from clew.transcript.chain.view import attachment_text

MIN_PREFIX = 4
MAX_FOUND = 20


class Carried(Struct, frozen=True, kw_only=True):
    """One thing that crosses. `is_kept`: the tail shows it already, so the summary need not."""

    kind: str
    text: str
    source: EntryId | None = None
    tokens: int = 0
    is_kept: bool = False

    def item(self, fate: str = "carried") -> ReceiptItem:
        """Its line in the receipt."""
        named = "left" if fate == "left" else "carried"
        return ReceiptItem(fate=named, kind=self.kind, text=self.text, source=self.source, tokens=self.tokens)


def measured(item: Carried, tail: Collection[EntryId] = ()) -> Carried:
    """The item with its size, and whether the tail shows it already."""
    tokens = round(estimate_text(item.text)) + 6
    is_kept = item.source in tail and item.kind not in ("pin", "todo", "current todo")
    return replace(item, tokens=tokens, is_kept=is_kept)


class RecallHit(Struct, frozen=True, kw_only=True):
    """Something of the past that fits a query."""

    kind: str
    text: str
    source: EntryId | None


class PinnedItem(Struct, frozen=True, kw_only=True):
    """A line, a message or a file that crosses every compaction."""

    target: str
    text: str
    source: EntryId | None = None

    @property
    def path(self) -> str:
        """The file that is pinned; "" for words."""
        return self.target[1:] if self.target.startswith("@") and not self.text else ""

    def is_named(self, target: str) -> bool:
        """Whether somebody who names this means the pin."""
        named = target.strip()
        by_id = len(named) >= MIN_PREFIX and bool(self.source) and str(self.source).startswith(named)
        return named in (self.target, self.text) or by_id


def last_receipt(entries: Sequence[Entry], chain: Sequence[Entry] | None = None) -> CompactionEnded | None:
    """The receipt of the boundary that the view begins at; without a chain, the last one that was not undone."""
    undone = {found for entry in entries if (found := undone_by(entry)) is not None}
    if chain is not None:
        standing = {uuid_of(entry) for entry in chain if is_boundary(entry)}
        receipts = [event for event in _receipts(entries) if event.entry_id in standing]
    else:
        receipts = list(_receipts(entries))
    return next((event for event in reversed(receipts) if event.entry_id not in undone), None)


def _receipts(entries: Sequence[Entry]) -> Iterator[CompactionEnded]:
    for entry in entries:
        if isinstance(entry, EventEntry) and isinstance(entry.event, CompactionEnded):
            yield entry.event


def since(entries: Sequence[Entry], receipt: CompactionEnded | None) -> Sequence[Entry]:
    """The entries after a receipt: what it does not know of."""
    if receipt is None:
        return entries
    for number in range(len(entries) - 1, -1, -1):
        entry = entries[number]
        event = entry.event if isinstance(entry, EventEntry) else None
        if isinstance(event, CompactionEnded) and event.entry_id == receipt.entry_id:
            return entries[number + 1 :]
    return entries


def carried(receipt: CompactionEnded | None, *kinds: str) -> tuple[ReceiptItem, ...]:
    """What a receipt says was carried, of these kinds."""
    items = receipt.items if receipt is not None else ()
    return tuple(item for item in items if item.fate == "carried" and item.kind in kinds)


def pins(entries: Sequence[Entry], chain: Sequence[Entry] | None = None) -> tuple[PinnedItem, ...]:
    """What is pinned now, oldest first: the pins of the last receipt, then what was pinned and unpinned since."""
    receipt = last_receipt(entries, chain)
    found: list[PinnedItem] = []
    for item in carried(receipt, "pin", "pinned file"):
        if item.kind == "pinned file":
            found.append(PinnedItem(target=item.text, text=""))
        else:
            found.append(PinnedItem(target=item.source or item.text, text=item.text, source=item.source))
    ids = {uuid_of(entry) for entry in entries}
    for entry in since(entries, receipt):
        if isinstance(entry, EventEntry) and isinstance(entry.event, ItemPinned):
            event = entry.event
            known = [pin for pin in found if pin.is_named(event.target)]
            found = [pin for pin in found if pin not in known]
            if event.pinned:
                source = EntryId(event.target) if event.target in ids else None
                found.append(PinnedItem(target=event.target, text=event.text, source=source))
    return tuple(found)


def sections(entries: Sequence[Entry], chain: Sequence[Entry]) -> tuple[SectionKept, ...]:
    """The sections whose stretch is in the view as it was, in the order in which they were written."""
    in_view = {uuid_of(entry) for entry in chain}
    parents = {uuid: parent_of(entry) for entry in entries if (uuid := uuid_of(entry)) is not None}
    kept: list[SectionKept] = []
    for entry in entries:
        if isinstance(entry, EventEntry) and isinstance(entry.event, SectionKept):
            event = entry.event
            if event.first in in_view and event.last in in_view:
                kept.append(event)
        elif isinstance(entry, SystemEntry) and entry.subtype == SNIP and entry.uuid in in_view:
            gone = withdrawn_by(entry)
            kept = [section for section in kept if not gone.intersection(_stretch(section, parents))]
    return tuple(kept)


def _stretch(section: SectionKept, parents: dict[EntryId, EntryId | None]) -> set[EntryId]:
    """The links from the last entry of a section back to its first."""
    passed: set[EntryId] = set()
    at: EntryId | None = section.last
    while at is not None and at not in passed:
        passed.add(at)
        at = None if at == section.first else parents.get(at)
    return passed


def earlier_sections(receipt: CompactionEnded | None) -> tuple[ReceiptItem, ...]:
    """The sections, or titles of sections, that the last summary was joined from, oldest first."""
    items = receipt.items if receipt is not None else ()
    return tuple(item for item in items if item.kind in ("section", "section title"))


def find_items(entries: Sequence[Entry], query: str, *, limit: int = MAX_FOUND) -> tuple[RecallHit, ...]:
    """What fits a query, newest first: by the beginning of an id, or by all of its words. Verbatim."""
    words = query.casefold().split()
    if not words:
        return ()
    prefix = query.strip() if len(query.strip()) >= MIN_PREFIX and len(words) == 1 else ""
    found: list[RecallHit] = []
    seen: set[tuple[str, str]] = set()
    for entry in reversed(entries):
        for item in _searchable(entry):
            folded = item.text.casefold()
            by_id = bool(prefix) and bool(item.source) and str(item.source).startswith(prefix)
            key = (str(item.source), item.text)
            if item.text.strip() and key not in seen and (by_id or all(word in folded for word in words)):
                seen.add(key)
                found.append(item)
                if len(found) >= limit:
                    return tuple(found)
    return tuple(found)


def _searchable(entry: Entry) -> Iterator[RecallHit]:
    if isinstance(entry, UserEntry) and not entry.is_compact_summary:
        kind = "note" if entry.is_meta else "prompt"
        yield from (_of_part(part, entry.uuid, kind) for part in reversed(parts_of(entry.message)))
    elif isinstance(entry, AssistantEntry):
        yield from (_of_part(part, entry.uuid, "reply") for part in reversed(parts_of(entry.message)))
    elif isinstance(entry, AttachmentEntry):
        yield RecallHit(kind="attachment", text=attachment_text(entry.attachment), source=entry.uuid)
    elif isinstance(entry, EventEntry):
        event = entry.event
        if isinstance(event, SectionKept):
            yield RecallHit(kind="section", text=f"{event.title}\n{event.text}", source=event.section_id)
        elif isinstance(event, CompactionEnded):
            yield from (RecallHit(kind=item.kind, text=item.text, source=item.source) for item in reversed(event.items))


def _of_part(part: Part, source: EntryId, kind: str) -> RecallHit:
    match part:
        case TextPart():
            return RecallHit(kind=kind, text=part.text, source=source)
        case ToolCallPart():
            call = meant_call(part)
            words = " ".join(str(value) for value in arguments_of(call).values())
            return RecallHit(kind="call", text=f"{call.name} {words}", source=source)
        case ToolResultPart():
            return RecallHit(kind="result", text=result_text(part), source=source)
        case _:
            return RecallHit(kind=kind, text="", source=source)
