"""Events: what the engine tells its front ends.

The engine does not go on until the host has taken an event, so "yielded" means "recorded" for durable ones.

Order for a listener: SessionStarted, SnapshotTaken, then what happens. Order within a turn: TurnStarted,
PromptAccepted, then for each step StepStarted, for each request ReplyBegan, (deltas, PartCompleted, ToolStarted,
ToolEnded)* with ReplyReceived after the last part of a whole reply, [ReplyWithdrawn], AttemptEnded, and StepEnded (none
for a step that was interrupted or failed); then exactly one TurnEnded. A listener that joins late or is slow may miss
live events, never durable ones.
"""

from typing import TYPE_CHECKING

from msgspec import Struct

from clew.protocol.agent_events import (
    Actor,
    AgentChanged,
    AgentEnded,
    AgentStarted,
    TaskChanged,
    TaskEnded,
    TaskRow,
    TaskShown,
    TasksListed,
    TaskStarted,
    ToolsChanged,
)
from clew.protocol.asking import (
    Answered,
    ApprovalDecision,
    ApprovalRequested,
    ApprovalResolved,
    Ask,
    Choice,
    ElicitationAnswered,
    ElicitationRequested,
    PlanAnswered,
    PlanProposed,
    Question,
    QuestionAnswered,
    QuestionAsked,
    Refuser,
    RuleOffer,
)
from clew.protocol.context_events import (
    ColdReturn,
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    CompactionUndone,
    ContextMeasured,
    ItemPinned,
    ItemsRecalled,
    RangeSnipped,
    ReceiptShown,
    RewindPreviewed,
    Rewound,
    SectionKept,
    ViewTrimmed,
)
from clew.protocol.event_base import DurableEvent, Envelope, EventBase, LiveEvent
from clew.protocol.hook_events import (
    HookAwaited,
    HookCalled,
    HookCallWithdrawn,
    HookRan,
    HookRow,
    HooksListed,
    HooksOffered,
)
from clew.protocol.ids import EntryId, OpId
from clew.protocol.lookup_events import (
    ChecksShown,
    DiffShown,
    FilesFound,
    LineRemembered,
    MemoryListed,
    ModelRow,
    ModelsListed,
    PlanOpened,
    PlanShown,
    RuleRow,
    RulesListed,
    SessionExported,
    SessionPreviewed,
    SessionRow,
    SessionsListed,
    StatusShown,
)
from clew.protocol.mcp_events import McpServersChanged, McpServersListed, McpServersOffered
from clew.protocol.session_events import (
    EffortChanged,
    GuestsChanged,
    ModelChanged,
    OpAccepted,
    OpRejected,
    PlaceChanged,
    SandboxChanged,
    SessionEnded,
    SessionStarted,
    SnapshotTaken,
    ThemeChanged,
)
from clew.protocol.session_words import (
    BatchLabelled,
    CostThresholdReached,
    Notice,
    Notified,
    PermissionModeChanged,
    RecapReady,
    SideQueryBooked,
    TitleChanged,
)
from clew.protocol.shell_events import (
    ShellEnded,
    ShellProgress,
    ShellRow,
    ShellShown,
    ShellsListed,
    ShellStarted,
)
from clew.protocol.turn_events import (
    ArgumentsDelta,
    AttemptEnded,
    AttemptOutcome,
    CallChanged,
    PartCompleted,
    PromptAccepted,
    PromptOffered,
    PromptOrigin,
    PromptQueued,
    PromptWithdrawn,
    ReasoningDelta,
    ReplyAwaited,
    ReplyBegan,
    ReplyReceived,
    ReplyWithdrawn,
    ResultReplaced,
    RetryScheduled,
    StepEnded,
    StepStarted,
    StructuredOutputReady,
    TextDelta,
    ToolEnded,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnEndReason,
    TurnStarted,
)
from clew.protocol.unions import union_of

if TYPE_CHECKING:
    Durable = DurableEvent
else:
    Durable = union_of(DurableEvent)


class Recorded(Struct, frozen=True, kw_only=True):
    """A durable event as it is read back from the log."""

    at: str
    """When it was written."""
    event: Durable


class HistoryLoaded(LiveEvent, frozen=True, kw_only=True, tag="history.loaded"):
    """A piece of the past, oldest first, in answer to `LoadHistory`; `before`: ask with it for the piece before."""

    op_id: OpId
    events: tuple[Recorded, ...]
    before: EntryId | None


if TYPE_CHECKING:
    Event = EventBase
else:
    Event = union_of(EventBase)


__all__ = [
    "Actor",
    "AgentChanged",
    "AgentEnded",
    "AgentStarted",
    "Answered",
    "ApprovalDecision",
    "ApprovalRequested",
    "ApprovalResolved",
    "ArgumentsDelta",
    "Ask",
    "AttemptEnded",
    "AttemptOutcome",
    "BatchLabelled",
    "CallChanged",
    "ChecksShown",
    "Choice",
    "ColdReturn",
    "CompactionEnded",
    "CompactionFailed",
    "CompactionStarted",
    "CompactionUndone",
    "ContextMeasured",
    "CostThresholdReached",
    "DiffShown",
    "Durable",
    "DurableEvent",
    "EffortChanged",
    "ElicitationAnswered",
    "ElicitationRequested",
    "Envelope",
    "Event",
    "EventBase",
    "FilesFound",
    "GuestsChanged",
    "HistoryLoaded",
    "HookAwaited",
    "HookCallWithdrawn",
    "HookCalled",
    "HookRan",
    "HookRow",
    "HooksListed",
    "HooksOffered",
    "ItemPinned",
    "ItemsRecalled",
    "LineRemembered",
    "LiveEvent",
    "McpServersChanged",
    "McpServersListed",
    "McpServersOffered",
    "MemoryListed",
    "ModelChanged",
    "ModelRow",
    "ModelsListed",
    "Notice",
    "Notified",
    "OpAccepted",
    "OpRejected",
    "PartCompleted",
    "PermissionModeChanged",
    "PlaceChanged",
    "PlanAnswered",
    "PlanOpened",
    "PlanProposed",
    "PlanShown",
    "PromptAccepted",
    "PromptOffered",
    "PromptOrigin",
    "PromptQueued",
    "PromptWithdrawn",
    "Question",
    "QuestionAnswered",
    "QuestionAsked",
    "RangeSnipped",
    "ReasoningDelta",
    "RecapReady",
    "ReceiptShown",
    "Recorded",
    "Refuser",
    "ReplyAwaited",
    "ReplyBegan",
    "ReplyReceived",
    "ReplyWithdrawn",
    "ResultReplaced",
    "RetryScheduled",
    "RewindPreviewed",
    "Rewound",
    "RuleOffer",
    "RuleRow",
    "RulesListed",
    "SandboxChanged",
    "SectionKept",
    "SessionEnded",
    "SessionExported",
    "SessionPreviewed",
    "SessionRow",
    "SessionStarted",
    "SessionsListed",
    "ShellEnded",
    "ShellProgress",
    "ShellRow",
    "ShellShown",
    "ShellStarted",
    "ShellsListed",
    "SideQueryBooked",
    "SnapshotTaken",
    "StatusShown",
    "StepEnded",
    "StepStarted",
    "StructuredOutputReady",
    "TaskChanged",
    "TaskEnded",
    "TaskRow",
    "TaskShown",
    "TaskStarted",
    "TasksListed",
    "TextDelta",
    "ThemeChanged",
    "TitleChanged",
    "ToolEnded",
    "ToolProgress",
    "ToolStarted",
    "ToolsChanged",
    "TurnEndReason",
    "TurnEnded",
    "TurnStarted",
    "ViewTrimmed",
]
