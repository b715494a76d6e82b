"""Compaction as one sequence of events: sections as they are written, then the boundary, or a failure with words.

Nothing is published here and nothing changes by itself: whoever takes the events makes them true, one by one, and the
view changes only with the last. Stopping anywhere before it leaves the view as it was.

The lines of a receipt: what left, by category; what was carried, word for word; what was summarised.
"""

from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from msgspec import Struct, field

from clew.engine.compaction.budgets import Budgets
from clew.engine.compaction.carry import Crossing, carry
from clew.engine.compaction.framing import clipped, one_line
from clew.engine.compaction.live_state import LiveState, NothingLive
from clew.engine.compaction.receipt import earlier_sections, last_receipt, sections
from clew.engine.compaction.rendering import Slim, without_media
from clew.engine.compaction.sections import SectionFailed, Summariser, write_sections
from clew.engine.compaction.sizes import Sizes
from clew.engine.compaction.slimming import slim
from clew.engine.compaction.stretches import Cut, Measure, cut
from clew.engine.compaction.summary import Reread, SectionText, joined, reread, section_of, summary_parts
from clew.ledger.calls import tool_name
from clew.llm.estimate import estimate_part
from clew.llm.model import Model
from clew.protocol.entries import AssistantEntry, Entry, UserEntry
from clew.protocol.event_kinds.context import (
    CompactionEnded,
    CompactionFailed,
    CompactionKind,
    ReceiptItem,
    SectionKept,
)
from clew.protocol.events import SideQueryBooked
from clew.protocol.ids import EntryId, new_entry_id
from clew.protocol.meant_calls import meant_call
from clew.protocol.messages import (
    DocumentPart,
    ImagePart,
    Message,
    Part,
    ToolCallPart,
    ToolResultPart,
    parts_of,
    text_of,
)
from clew.transcript.chain.conversation import Conversation
from clew.transcript.chain.view import replacements_of

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


MIN_GAIN = 0.3
"""A compaction that frees less than this share of the view is no help."""
WAYS_OUT = "Ways on: /clear begins anew, /compact fast drops old outputs, another model may have a larger window."
Told = SideQueryBooked | SectionKept | CompactionEnded | CompactionFailed


class CompactionInput(Struct, frozen=True, kw_only=True):
    """A conversation to be made smaller."""

    entries: Sequence[Entry]
    """All that are in memory, in file order."""
    chain: Sequence[Entry]
    """Those behind the view, oldest first."""
    leaf: EntryId | None
    slim: Slim = without_media
    sizes: Sizes = field(default_factory=Sizes)
    """Kept from one time to the next, it saves estimating the same entries again."""

    def measure(self) -> Measure:
        """Tokens of entries as the view shows them."""
        return self.sizes.measure(replacements_of(self.entries))


def past_of(conversation: Conversation, sizes: Sizes) -> CompactionInput:
    """A conversation as it stands now. `sizes`: of the session, so that nothing is estimated twice."""
    return CompactionInput(
        entries=tuple(conversation.entries),
        chain=conversation.chain(),
        leaf=conversation.leaf,
        slim=in_words,
        sizes=sizes,
    )


def in_words(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Messages without media, as a summary request holds them."""
    return slim(tuple(messages)).messages


async def prepare(
    past: CompactionInput, *, model: Model, budgets: Budgets, cwd: str = "", min_tokens: int = 0
) -> AsyncGenerator[SectionKept | SideQueryBooked]:
    """Sections for what a compaction would summarise now, so that it need not wait. Raises SectionFailed.

    Stretches below `min_tokens` wait until there is more of them: a section for each step would be a diary.
    """
    divided = _divided(past, budgets, sections(past.entries, past.chain))
    by = Summariser(model=model, cwd=cwd, slim=past.slim)
    for stretch in divided.stretches:
        if sum(exchange.tokens for exchange in stretch) < min_tokens:
            continue
        async with aclosing(write_sections(stretch, by)) as events:
            async for event in events:
                if isinstance(event, SectionKept) and not event.model:
                    raise SectionFailed(
                        f"the summary of {model.name} cannot be used"
                    )  # later there may be a better one
                yield event


async def compact(
    past: CompactionInput,
    *,
    model: Model,
    budgets: Budgets,
    kind: CompactionKind,
    live: LiveState | None = None,
    focus: str = "",
    cwd: str = "",
    tokens_before: int | None = None,
) -> AsyncGenerator[Told]:
    """Everything a compaction does. The last event is CompactionEnded, or CompactionFailed with its reason.

    `focus` is what the user wants watched: it is asked for in every request, so sections that were prepared without it
    are not used. `tokens_before`: what the last request held, where the provider counted it.
    """
    receipt = last_receipt(past.entries, past.chain)
    told = frozenset(receipt.sections) if receipt is not None else frozenset[EntryId]()
    known = sections(past.entries, past.chain)
    if focus.strip():
        known = tuple(section for section in known if section.section_id in told)
    divided = _divided(past, budgets, known)
    if not divided.pieces:
        yield CompactionFailed(kind=kind, reason=_nothing_to_do(divided))
        return
    by = Summariser(model=model, focus=focus, cwd=cwd, slim=past.slim)
    new: list[SectionKept] = []
    cost: float | None = None
    try:
        async with aclosing(_completed(divided, by)) as events:
            async for event in events:
                if isinstance(event, SectionKept):
                    new.append(event)
                elif event.cost_usd is not None:
                    cost = (cost or 0.0) + event.cost_usd
                if event not in known:
                    yield event
    except SectionFailed as error:
        yield CompactionFailed(kind=kind, reason=f"Nothing was changed: {error}. {WAYS_OUT}")
        return
    all_texts = [*_earlier(past, receipt, budgets), *(section_of(item) for item in new if item.section_id not in told)]
    join = _Join(past=past, divided=divided, budgets=budgets, texts=all_texts)
    ended = await join.ended(live or NothingLive(), kind=kind, focus=focus, tokens_before=tokens_before, cost=cost)
    yield ended


async def _completed(divided: Cut, by: Summariser) -> AsyncGenerator[SectionKept | SideQueryBooked]:
    """All sections of the pieces in order: those that are there, and those that are written now."""
    for piece in divided.pieces:
        if isinstance(piece, SectionKept):
            yield piece
            continue
        async with aclosing(write_sections(piece, by)) as events:
            async for event in events:
                yield event


def _divided(past: CompactionInput, budgets: Budgets, known: Sequence[SectionKept]) -> Cut:
    return cut(
        past.chain,
        past.entries,
        measure=past.measure(),
        sections=known,
        tail_tokens=budgets.tail,
        half_window=budgets.window // 2,
    )


def _nothing_to_do(divided: Cut) -> str:
    if not divided.kept:
        return "There is nothing to compact yet."
    return f"There is nothing to compact: all of it is the newest part, which stays word for word. {WAYS_OUT}"


def _earlier(past: CompactionInput, receipt: CompactionEnded | None, budgets: Budgets) -> list[SectionText]:
    """What earlier summaries were joined from. A summary without a receipt, of another program or of a write that was
    cut off, crosses as it is."""
    found = [section_of(item) for item in earlier_sections(receipt)]
    for entry in past.chain:
        if isinstance(entry, UserEntry) and entry.is_compact_summary:
            if receipt is not None and receipt.summary_id == entry.uuid:
                continue
            words = clipped(text_of(entry.message.content), budgets.sections * 2)
            found.insert(0, SectionText(id=entry.uuid, title="Summary from before", text=words))
    return found


class _Join(Struct, frozen=True, kw_only=True):
    """Everything is there: put it together, and see whether it was worth it."""

    past: CompactionInput
    divided: Cut
    budgets: Budgets
    texts: Sequence[SectionText]

    async def ended(
        self, live: LiveState, *, kind: CompactionKind, focus: str, tokens_before: int | None, cost: float | None
    ) -> CompactionEnded | CompactionFailed:
        past, tail = self.past, self.divided.tail
        kept = [uuid for exchange in self.divided.kept for uuid in exchange.ids]
        crossing = carry(past.entries, past.chain, live, self.budgets, kept=kept)
        told, forgotten = joined(self.texts, self.budgets.sections)
        looked = await reread(crossing, live, self.budgets)
        measure = past.measure()
        before = measure(past.chain)
        parts = summary_parts(crossing, told, looked, forgotten=forgotten)
        if _size(parts) + tail.tokens > before * (1 - MIN_GAIN) and looked.files:
            looked = Reread(gone=looked.gone)  # files can be read again by whoever needs them
            parts = summary_parts(crossing, told, looked, forgotten=forgotten)
        after = _size(parts) + tail.tokens
        if after > before * (1 - MIN_GAIN):
            share = max(0, round(100 * (before - after) / before)) if before else 0
            reason = f"Nothing was changed: it would have freed only {share} % of the conversation. {WAYS_OUT}"
            return CompactionFailed(kind=kind, reason=reason)
        counted = tokens_before if tokens_before is not None else before
        return CompactionEnded(
            entry_id=new_entry_id(),
            logical_parent_id=past.leaf,
            kind=kind,
            tokens_before=counted,
            tokens_after=max(after, counted - before + after),
            summary_id=new_entry_id(),
            summary=parts,
            kept=tail.segment,
            focus=focus,
            items=receipt_items(crossing, told, self._gone(), measure),
            sections=tuple(text.id for text in told if text.id is not None),
            cost_usd=cost,
        )

    def _gone(self) -> list[Entry]:
        """The entries that leave the view."""
        kept = {id(entry) for exchange in self.divided.kept for entry in exchange.entries}
        return [entry for entry in self.past.chain if id(entry) not in kept]


def _size(parts: Sequence[Part]) -> int:
    return round(sum(map(estimate_part, parts)))
