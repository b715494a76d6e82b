"""Events: what the engine tells its front ends.

The engine does not go on until the host has taken an event, so "yielded" means "recorded" for durable ones.

Order for a listener: SessionStarted, SnapshotTaken, then what happens. Order within a turn: TurnStarted,
PromptAccepted, then for each step StepStarted, for each request ReplyBegan, (deltas, PartCompleted, ToolStarted,
ToolEnded)* with ReplyReceived after the last part of a whole reply, [ReplyWithdrawn], AttemptEnded, and StepEnded (none
for a step that was interrupted or failed); then exactly one TurnEnded. A listener that joins late or is slow may miss
live events, never durable ones.
"""

from msgspec import Struct

from clew.protocol.agent_events import (
    AgentChanged,
    AgentEnded,
    AgentStarted,
    TaskChanged,
    TaskEnded,
    TaskStarted,
    ToolsChanged,
)
from clew.protocol.asking import (
    ApprovalDecision,
    ApprovalRequested,
    ApprovalResolved,
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
from clew.protocol.event_base import DurableEvent, EventBase, LiveEvent
from clew.protocol.hook_events import (
    HookAwaited,
    HookCalled,
    HookCallWithdrawn,
    HookRan,
    HookRow,
    HooksListed,
    HooksOffered,
)
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, EntryId, OpId, SessionId
from clew.protocol.lookup_events import (
    ChecksShown,
    DiffShown,
    FilesFound,
    LineRemembered,
    MemoryListed,
    ModelRow,
    ModelsListed,
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
    ModelChanged,
    OpAccepted,
    OpRejected,
    PermissionModeChanged,
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
    RecapReady,
    SideQueryBooked,
    TitleChanged,
)
from clew.protocol.shell_events import (
    ShellEnded,
    ShellProgress,
    ShellRow,
    ShellsChanged,
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

Durable = (
    PromptAccepted
    | PartCompleted
    | ReplyWithdrawn
    | AttemptEnded
    | CallChanged
    | ToolEnded
    | ResultReplaced
    | ApprovalRequested
    | ApprovalResolved
    | QuestionAsked
    | QuestionAnswered
    | PlanProposed
    | PlanAnswered
    | ElicitationRequested
    | ElicitationAnswered
    | TurnEnded
    | BatchLabelled
    | TitleChanged
    | RecapReady
    | SideQueryBooked
    | ModelChanged
    | PermissionModeChanged
    | ShellEnded
    | CompactionEnded
    | CompactionUndone
    | SectionKept
    | ViewTrimmed
    | RangeSnipped
    | ItemPinned
    | ItemsRecalled
    | Rewound
    | AgentStarted
    | AgentEnded
    | TaskStarted
    | TaskEnded
)


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


Live = (
    SessionStarted
    | SnapshotTaken
    | TurnStarted
    | PromptOffered
    | PromptQueued
    | PromptWithdrawn
    | StepStarted
    | ReplyAwaited
    | ReplyBegan
    | ReplyReceived
    | StructuredOutputReady
    | TextDelta
    | ReasoningDelta
    | ArgumentsDelta
    | ToolStarted
    | ToolProgress
    | RetryScheduled
    | Notice
    | StepEnded
    | Notified
    | CostThresholdReached
    | OpAccepted
    | OpRejected
    | EffortChanged
    | SandboxChanged
    | PlaceChanged
    | ModelsListed
    | RulesListed
    | SessionsListed
    | SessionPreviewed
    | FilesFound
    | LineRemembered
    | MemoryListed
    | DiffShown
    | SessionExported
    | StatusShown
    | ChecksShown
    | ShellStarted
    | ShellProgress
    | ShellsChanged
    | ShellsListed
    | ShellShown
    | ThemeChanged
    | HistoryLoaded
    | ContextMeasured
    | ColdReturn
    | ReceiptShown
    | CompactionStarted
    | CompactionFailed
    | RewindPreviewed
    | AgentChanged
    | TaskChanged
    | ToolsChanged
    | McpServersChanged
    | McpServersListed
    | McpServersOffered
    | HookAwaited
    | HookRan
    | HookCalled
    | HookCallWithdrawn
    | HooksOffered
    | HooksListed
    | SessionEnded
)
Event = Live | Durable


class Envelope(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An event with its place: one sequence per session, over all its agents."""

    seq: int
    """Counts up within one process; a listener sees gaps only where live events were merged or dropped."""
    at: str
    """ISO 8601, UTC, milliseconds, with a final Z."""
    session_id: SessionId
    event: Event
    agent: AgentId = MAIN_AGENT
    parent_call: CallId | None = None
    """The call that started this agent; None for the main one."""


__all__ = [
    "AgentChanged",
    "AgentEnded",
    "AgentStarted",
    "ApprovalDecision",
    "ApprovalRequested",
    "ApprovalResolved",
    "ArgumentsDelta",
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
    "Live",
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
    "ShellsChanged",
    "ShellsListed",
    "SideQueryBooked",
    "SnapshotTaken",
    "StatusShown",
    "StepEnded",
    "StepStarted",
    "StructuredOutputReady",
    "TaskChanged",
    "TaskEnded",
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
]
