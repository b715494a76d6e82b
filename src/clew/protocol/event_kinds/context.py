"""Events about the model's view of the past: how full it is, compaction, pins, going back."""

from typing import Literal

from msgspec import Struct, field

from clew.protocol.base import DurableEvent, LiveEvent
from clew.protocol.ids import CallId, EntryId
from clew.protocol.messages import Part

CompactionKind = Literal["manual", "auto", "predictive", "reactive", "clear"]
"""Why the view starts anew. What only takes something out of it is a ViewTrimmed or a RangeSnipped."""
RewindScope = Literal["conversation", "files", "both"]


class ContextShare(Struct, frozen=True, kw_only=True):
    """One kind of content in the window."""

    name: str
    tokens: int


class ContextItem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One large thing in the window."""

    name: str
    tokens: int
    source: EntryId | None = None


class ContextMeasured(LiveEvent, frozen=True, kw_only=True, tag="context.measured"):
    """How full the window is. After each step, and when somebody asked for it."""

    tokens: int | None
    """What the next request will hold. None: unknown, not zero."""
    window: int
    estimated: bool = True
    """False: as the provider counted it; true: at least what was added since is estimated."""
    next_cost_usd: float | None = None
    """What reading it again will cost; None where no price is known."""
    warn_at: int = 0
    auto_at: int = 0
    """Where compaction comes by itself; 0: never."""
    model: str = ""
    shares: tuple[ContextShare, ...] = ()
    """Only when asked for, as are the largest items."""
    largest: tuple[ContextItem, ...] = ()


class ColdReturn(LiveEvent, frozen=True, kw_only=True, tag="context.cold_return"):
    """The next request comes after a long pause: what it will cost, before it is made. Compacting first is on offer."""

    idle_s: float
    tokens: int
    cost_usd: float | None = None


class CompactionStarted(LiveEvent, frozen=True, kw_only=True, tag="compaction.started"):
    """The view is being made smaller. CompactionEnded or CompactionFailed follows."""

    kind: CompactionKind
    focus: str = ""


class ReceiptItem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that left, was carried or was summarised, with the entry it came from."""

    fate: Literal["left", "carried", "summarised", "cleared"]
    kind: str
    text: str
    source: EntryId | None = None
    tokens: int = 0


class KeptSegment(Struct, frozen=True, kw_only=True):
    """The newest part of the past, which stays word for word."""

    head: EntryId
    tail: EntryId


class CompactionEnded(DurableEvent, frozen=True, kw_only=True, tag="compaction.ended"):
    """The view starts anew at `entry_id`; the receipt says what became of the rest."""

    entry_id: EntryId
    logical_parent_id: EntryId | None
    kind: CompactionKind
    tokens_before: int | None
    tokens_after: int | None
    summary_id: EntryId | None = None
    summary: tuple[Part, ...] = ()
    """What the new view begins with; on disk it stands in the entry `summary_id`, and only there."""
    kept: KeptSegment | None = None
    focus: str = ""
    items: tuple[ReceiptItem, ...] = ()
    sections: tuple[EntryId, ...] = ()
    """The sections that the summary was joined from, oldest first."""
    cost_usd: float | None = None


class SectionKept(DurableEvent, frozen=True, kw_only=True, tag="section.kept"):
    """A stretch of the conversation in fewer words: written once, from the entries, and never summarised again."""

    section_id: EntryId
    first: EntryId
    last: EntryId
    title: str
    text: str
    dropped: int = 0
    """Lines of the model that named what is not there, or set tasks, and were left out."""
    model: str = ""
    cost_usd: float | None = None


class TrimmedPart(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A picture or document that left the view; `text` stands in its place, byte for byte."""

    entry_id: EntryId
    part: int
    text: str
    nested: int | None = None
    """Its place inside a tool result."""


class ViewTrimmed(DurableEvent, frozen=True, kw_only=True, tag="context.trimmed"):
    """Old tool outputs and media left the view; the log keeps them."""

    entry_id: EntryId
    results: dict[CallId, str] = field(default_factory=dict[CallId, str])
    """What stands for each cleared result, byte for byte."""
    media: tuple[TrimmedPart, ...] = ()
    why: Literal["idle", "size", "asked", "overflow", "media", "media_limit", "refused"] = "size"
    tokens_freed: int = 0


class RangeSnipped(DurableEvent, frozen=True, kw_only=True, tag="context.snipped"):
    """A middle part of the conversation left the view."""

    entry_id: EntryId
    parent_id: EntryId | None
    removed: tuple[EntryId, ...]
    tokens_freed: int = 0


class CompactionFailed(LiveEvent, frozen=True, kw_only=True, tag="compaction.failed"):
    """Nothing was changed; why, and what to do."""

    kind: CompactionKind
    reason: str


class CompactionUndone(DurableEvent, frozen=True, kw_only=True, tag="compaction.undone"):
    """The view is again what it was without this boundary, trim or snip; what was said since stays."""

    undone: EntryId


class ItemPinned(DurableEvent, frozen=True, kw_only=True, tag="item.pinned"):
    """This line, file or message crosses every compaction. With `pinned` false it no longer does."""

    target: str
    """What was named: the line itself, `@path`, or the id of an entry."""
    text: str
    """The words that are kept; empty for a file, which is read anew."""
    pinned: bool = True


class ItemsRecalled(DurableEvent, frozen=True, kw_only=True, tag="items.recalled"):
    """What had left the view joined it again, word for word."""

    query: str
    entry_ids: tuple[EntryId, ...]


class FileRestore(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What going back does, or would do, to one file."""

    path: str
    did: Literal["", "restored", "changed", "deleted"] = ""
    """What was done to it, or would be: it is there again, it is otherwise than it was, it is gone. Empty: the line was
    written before this was told."""
    patch: str = ""
    conflict: str = ""
    """Why it was left alone: edited since by somebody else."""


class Rewound(DurableEvent, frozen=True, kw_only=True, tag="rewound"):
    """The session stands where it stood after `to`; what was undone can be redone."""

    direction: Literal["rewind", "undo", "redo"]
    scope: RewindScope
    to: EntryId | None
    files: tuple[FileRestore, ...] = ()
    call_ids: tuple[CallId, ...] = ()
