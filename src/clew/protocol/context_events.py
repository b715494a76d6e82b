"""Events about the model's view of the past: how full it is, compaction, pins, going back."""

from typing import Literal

from msgspec import Struct

from clew.protocol.event_base import DurableEvent, LiveEvent
from clew.protocol.ids import CallId, EntryId, OpId

CompactionKind = Literal["manual", "auto", "predictive", "reactive", "micro", "snip", "snapshot", "clear"]
RewindScope = Literal["conversation", "files", "both"]


class ContextShare(Struct, frozen=True, kw_only=True):
    """One kind of content in the window."""

    name: str
    tokens: int


class ContextMeasured(LiveEvent, frozen=True, kw_only=True, tag="context.measured"):
    """How full the window is. After each reply, and when asked for; then `op_id` names the question."""

    tokens: int | None
    """None: unknown, not zero."""
    window: int
    estimated: bool = True
    next_cost_usd: float | None = None
    shares: tuple[ContextShare, ...] = ()
    op_id: OpId = OpId("")


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


class CompactionEnded(DurableEvent, frozen=True, kw_only=True, tag="compaction.ended"):
    """The view starts anew at `entry_id`; the receipt says what became of the rest."""

    entry_id: EntryId
    logical_parent_id: EntryId | None
    kind: CompactionKind
    tokens_before: int | None
    tokens_after: int | None
    items: tuple[ReceiptItem, ...] = ()
    cost_usd: float | None = None


class CompactionFailed(LiveEvent, frozen=True, kw_only=True, tag="compaction.failed"):
    """Nothing was changed; why, and what to do."""

    kind: CompactionKind
    reason: str


class CompactionUndone(DurableEvent, frozen=True, kw_only=True, tag="compaction.undone"):
    """The view is again what it was before this boundary."""

    entry_id: EntryId
    boundary_id: EntryId


class ItemPinned(DurableEvent, frozen=True, kw_only=True, tag="item.pinned"):
    """This line, file or message crosses every compaction. With `pinned` false it no longer does."""

    target: str
    text: str
    pinned: bool = True


class ItemsRecalled(DurableEvent, frozen=True, kw_only=True, tag="items.recalled"):
    """What had left the view joined it again, word for word."""

    query: str
    entry_ids: tuple[EntryId, ...]


class FileRestore(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What going back does, or would do, to one file."""

    path: str
    patch: str = ""
    conflict: str = ""
    """Why it was left alone: edited since by somebody else."""


class RewindPreviewed(LiveEvent, frozen=True, kw_only=True, tag="rewind.previewed"):
    """What a rewind, undo or redo would do; nothing was changed."""

    op_id: OpId
    to: EntryId | None
    files: tuple[FileRestore, ...] = ()
    warnings: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    """Prompts that would leave the view."""


class Rewound(DurableEvent, frozen=True, kw_only=True, tag="rewound"):
    """The session stands where it stood after `to`; what was undone can be redone."""

    direction: Literal["rewind", "undo", "redo"]
    scope: RewindScope
    to: EntryId | None
    files: tuple[FileRestore, ...] = ()
    call_ids: tuple[CallId, ...] = ()
