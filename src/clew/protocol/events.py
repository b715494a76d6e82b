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

from clew.protocol.base import DurableEvent, Envelope, EventBase, LiveEvent, union_of
from clew.protocol.event_kinds.agents import (
    Actor,
    AgentChanged,
    AgentEnded,
    AgentStarted,
    TaskChanged,
    TaskEnded,
    TaskRow,
    TaskStarted,
    ToolsChanged,
)
from clew.protocol.event_kinds.asks import (
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
from clew.protocol.event_kinds.context import (
    ColdReturn,
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    CompactionUndone,
    ContextMeasured,
    ItemPinned,
    ItemsRecalled,
    RangeSnipped,
    Rewound,
    SectionKept,
    ViewTrimmed,
)
from clew.protocol.event_kinds.programs import (
    HookAwaited,
    HookCalled,
    HookCallWithdrawn,
    HookRan,
    HookRow,
    HooksChanged,
    HooksOffered,
    McpServersChanged,
    McpServersOffered,
)
from clew.protocol.event_kinds.session import (
    EffortChanged,
    GuestsChanged,
    ModelChanged,
    OpAccepted,
    OpRejected,
    PlaceChanged,
    SandboxChanged,
    ScreenChanged,
    SessionEnded,
    SessionRow,
    SessionsFit,
    SessionStarted,
    SnapshotTaken,
    ThemeChanged,
)
from clew.protocol.event_kinds.turns import (
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
    ShellEnded,
    ShellProgress,
    ShellStarted,
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
from clew.protocol.event_kinds.words import (
    BatchLabelled,
    CostThresholdReached,
    Notice,
    Notified,
    PermissionModeChanged,
    RecapReady,
    SideQueryBooked,
    TitleChanged,
    WorktreeChanged,
)

if TYPE_CHECKING:
    Durable = DurableEvent
else:
    Durable = union_of(DurableEvent)


class Recorded(Struct, frozen=True, kw_only=True):
    """A durable event as it is read back from the log."""

    at: str
    """When it was written."""
    event: Durable


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
    "Choice",
    "ColdReturn",
    "CompactionEnded",
    "CompactionFailed",
    "CompactionStarted",
    "CompactionUndone",
    "ContextMeasured",
    "CostThresholdReached",
    "Durable",
    "DurableEvent",
    "EffortChanged",
    "ElicitationAnswered",
    "ElicitationRequested",
    "Envelope",
    "Event",
    "EventBase",
    "GuestsChanged",
    "HookAwaited",
    "HookCallWithdrawn",
    "HookCalled",
    "HookRan",
    "HookRow",
    "HooksChanged",
    "HooksOffered",
    "ItemPinned",
    "ItemsRecalled",
    "LiveEvent",
    "McpServersChanged",
    "McpServersOffered",
    "ModelChanged",
    "Notice",
    "Notified",
    "OpAccepted",
    "OpRejected",
    "PartCompleted",
    "PermissionModeChanged",
    "PlaceChanged",
    "PlanAnswered",
    "PlanProposed",
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
    "Recorded",
    "Refuser",
    "ReplyAwaited",
    "ReplyBegan",
    "ReplyReceived",
    "ReplyWithdrawn",
    "ResultReplaced",
    "RetryScheduled",
    "Rewound",
    "RuleOffer",
    "SandboxChanged",
    "ScreenChanged",
    "SectionKept",
    "SessionEnded",
    "SessionRow",
    "SessionStarted",
    "SessionsFit",
    "ShellEnded",
    "ShellProgress",
    "ShellStarted",
    "SideQueryBooked",
    "SnapshotTaken",
    "StepEnded",
    "StepStarted",
    "StructuredOutputReady",
    "TaskChanged",
    "TaskEnded",
    "TaskRow",
    "TaskStarted",
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
    "WorktreeChanged",
]
