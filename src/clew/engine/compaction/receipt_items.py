"""The lines of a receipt: what left, by category; what was carried, word for word; what was summarised."""

from collections import Counter
from collections.abc import Sequence

from clew.engine.compaction.carry import Crossing
from clew.engine.compaction.framing import one_line
from clew.engine.compaction.stretches import Measure
from clew.engine.compaction.summary import SectionText
from clew.ledger.calls import tool_name
from clew.protocol.entries import AssistantEntry, Entry, UserEntry
from clew.protocol.event_kinds.context import ReceiptItem
from clew.protocol.ids import EntryId
from clew.protocol.meant_calls import meant_call
from clew.protocol.messages import DocumentPart, ImagePart, ToolCallPart, ToolResultPart, parts_of

MAX_LEFT = 50
_LEFT_CHARS = 160


def receipt_items(
    crossing: Crossing, sections: Sequence[SectionText], gone: Sequence[Entry], measure: Measure
) -> tuple[ReceiptItem, ...]:
    """All lines. Carried ones hold their whole text: the next compaction takes it from here."""
    left = [
        ReceiptItem(
            fate="left", kind=item.kind, text=one_line(item.text, _LEFT_CHARS), source=item.source, tokens=item.tokens
        )
        for item in crossing.left[-MAX_LEFT:]
    ]
    return (
        *(item.item() for item in crossing.items),
        *(section.item() for section in sections),
        *left,
        *_categories(gone, measure),
    )


def _categories(gone: Sequence[Entry], measure: Measure) -> list[ReceiptItem]:
    """What left the view, counted: one line for each kind of content, with the first entry of it."""
    tokens: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    tools: Counter[str] = Counter()
    first: dict[str, EntryId] = {}
    names: dict[str, str] = {}
    for entry in gone:
        if not isinstance(entry, UserEntry | AssistantEntry) or (
            isinstance(entry, UserEntry) and entry.is_compact_summary
        ):
            continue
        for part in parts_of(entry.message):
            if isinstance(part, ToolCallPart):
                names[part.id] = tool_name(meant_call(part).name)
            kind = _kind(entry, part)
            counts[kind] += 1
            first.setdefault(kind, entry.uuid)
            if isinstance(part, ToolResultPart):
                tools[names.get(part.call_id, "?")] += 1
        if parts := parts_of(entry.message):
            tokens[_kind(entry, parts[0])] += measure((entry,))  # most entries are one part
    told = ", ".join(f"{name} {number}" for name, number in tools.most_common(6))
    return [
        ReceiptItem(
            fate="left",
            kind=kind,
            text=f"{counts[kind]:,}" + (f" ({told})" if kind == "tool results" and told else ""),
            source=first[kind],
            tokens=tokens[kind],
        )
        for kind in counts
    ]


def _kind(entry: UserEntry | AssistantEntry, part: object) -> str:
    match part:
        case ToolResultPart():
            return "tool results"
        case ToolCallPart():
            return "tool calls"
        case ImagePart() | DocumentPart():
            return "media"
        case _:
            if isinstance(entry, AssistantEntry):
                return "replies"
            return "notes" if entry.is_meta else "prompts"
