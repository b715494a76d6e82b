"""Events: what the engine tells its front ends. Plain data, no classes, no futures.

A `LiveEvent` is for watching and may be dropped or merged; a `DurableEvent` has its trace in the transcript,
and is written there before any front end sees it. The engine does not go on until the host has taken the
event, so "yielded" means "recorded".

Order within a turn: TurnStarted, then for each step StepStarted, (deltas, PartCompleted)*, ToolEnded* and
StepEnded (none for a step that was interrupted or failed); then exactly one TurnEnded. PromptAccepted comes before
the StepStarted that sends it.
"""

from typing import Literal

from msgspec import Struct

from clew.protocol.display import Block
from clew.protocol.ids import MAIN_AGENT, AgentId, CallId, EntryId, MessageId, RequestId, SessionId
from clew.protocol.messages import Part, ToolCallPart, ToolResultPart
from clew.protocol.usage import Usage

TurnEndReason = Literal[
    "completed",
    "interrupted",
    "max_turns",
    "max_budget",
    "prompt_too_long",
    "output_limit",
    "model_error",
    "stopped_by_denial",
]


class EventBase(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="event"):
    """Every event names the agent it is about."""

    agent: AgentId = MAIN_AGENT


class LiveEvent(EventBase, frozen=True, kw_only=True):
    """Seen as it happens; never replayed."""


class DurableEvent(EventBase, frozen=True, kw_only=True):
    """Written to the transcript before it is shown."""


class SessionStarted(LiveEvent, frozen=True, kw_only=True, tag="session.started"):
    """First event of every session, before anything else; sent again to a front end that joins later."""

    session_id: SessionId
    cwd: str
    model: str
    permission_mode: str
    tools: tuple[str, ...]
    version: str
    resumed: bool = False
    """True when earlier history was loaded."""


class TurnStarted(LiveEvent, frozen=True, kw_only=True, tag="turn.started"):
    """The agent left idle. `turn` counts from 1 within the session."""

    turn: int


class PromptAccepted(DurableEvent, frozen=True, kw_only=True, tag="prompt.accepted"):
    """User input joined the conversation. Before the first request that carries it; on disk by then."""

    entry_id: EntryId
    content: str | tuple[Part, ...]
    hidden: bool = False
    """Written by the program (a resume nudge, a reminder)."""
    queued: bool = False
    """It was typed while the agent worked and joined at a step boundary."""


class StepStarted(LiveEvent, frozen=True, kw_only=True, tag="step.started"):
    """A model request is about to leave. `step` counts from 1 within the turn."""

    step: int
    model: str


class TextDelta(LiveEvent, frozen=True, kw_only=True, tag="text.delta"):
    """More words of the answer. Deltas of one message precede the PartCompleted that holds the whole."""

    message_id: MessageId
    text: str


class ReasoningDelta(LiveEvent, frozen=True, kw_only=True, tag="reasoning.delta"):
    """More of the model's reasoning."""

    message_id: MessageId
    text: str


class PartCompleted(DurableEvent, frozen=True, kw_only=True, tag="part.completed"):
    """One part of the reply is whole. A tool call is announced here, before it runs."""

    entry_id: EntryId
    message_id: MessageId
    model: str
    part: Part
    usage: Usage | None = None
    request_id: str = ""


class ReplyWithdrawn(DurableEvent, frozen=True, kw_only=True, tag="reply.withdrawn"):
    """A failed attempt's parts are void: remove them from view. Follows their PartCompleted, precedes the retry."""

    message_id: MessageId
    entry_ids: tuple[EntryId, ...]
    reason: str


class ToolStarted(LiveEvent, frozen=True, kw_only=True, tag="tool.started"):
    """The call was allowed and runs now. After its PartCompleted and after its approval, if one was needed."""

    call: ToolCallPart


class ToolProgress(LiveEvent, frozen=True, kw_only=True, tag="tool.progress"):
    """Output of a running tool as it arrives, bounded."""

    call_id: CallId
    text: str


class ToolEnded(DurableEvent, frozen=True, kw_only=True, tag="tool.ended"):
    """A call has its one result. In order of finishing; the next request lists results in call order."""

    entry_id: EntryId
    parent_entry_id: EntryId
    """The entry that holds the call."""
    name: str
    result: ToolResultPart
    display: tuple[Block, ...] = ()
    duration_ms: int = 0


class RuleOffer(Struct, frozen=True, kw_only=True):
    """A rule the user may save with "always": exactly this text, nothing wider."""

    rule: str
    covers: str
    """The part of the request the rule was made for."""


class ApprovalRequested(DurableEvent, frozen=True, kw_only=True, tag="approval.requested"):
    """A call waits for a person. Answer with `AnswerApproval` and this id; until then the call does not run."""

    request_id: RequestId
    call_id: CallId
    tool: str
    subject: str
    """The exact text that will take effect (command, path, URL)."""
    why: str
    """Which rule or lack of a rule makes it ask."""
    offers: tuple[RuleOffer, ...] = ()
    warnings: tuple[str, ...] = ()


class ApprovalResolved(DurableEvent, frozen=True, kw_only=True, tag="approval.resolved"):
    """The answer is on disk and now takes effect. Exactly one per ApprovalRequested; alone when a rule denied."""

    request_id: RequestId
    call_id: CallId
    tool: str
    subject: str
    decision: Literal["allow", "allow_always", "deny"]
    reason: str = ""
    rule: str = ""


class Choice(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One of the answers offered."""

    label: str
    description: str = ""


class Question(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something the model wants to know from the user."""

    question: str
    choices: tuple[Choice, ...] = ()
    multiple: bool = False
    header: str = ""


class QuestionAsked(LiveEvent, frozen=True, kw_only=True, tag="question.asked"):
    """The model asks. Answer with `AnswerQuestion` and this id."""

    request_id: RequestId
    call_id: CallId
    questions: tuple[Question, ...]


class RetryScheduled(LiveEvent, frozen=True, kw_only=True, tag="retry.scheduled"):
    """A request failed in a way that may pass; it is tried again after `delay_s`."""

    attempt: int
    max_attempts: int
    delay_s: float
    reason: str


class Notice(LiveEvent, frozen=True, kw_only=True, tag="notice"):
    """A line for the user that is not part of the conversation."""

    level: Literal["info", "warning", "error"]
    text: str
    code: str = ""


class StepEnded(LiveEvent, frozen=True, kw_only=True, tag="step.ended"):
    """The step's calls all have results. `usage` is None when the provider never reported any."""

    step: int
    model: str
    stop_reason: str
    usage: Usage | None
    cost_usd: float | None = None
    api_ms: int = 0
    """From the request to the end of the reply."""


class TurnEnded(DurableEvent, frozen=True, kw_only=True, tag="turn.ended"):
    """The agent is idle again. Last event of the turn, everything before it is on disk and synced."""

    turn: int
    reason: TurnEndReason
    steps: int
    duration_ms: int
    usage: Usage | None = None
    cost_usd: float | None = None
    error: str = ""


class BatchLabelled(DurableEvent, frozen=True, kw_only=True, tag="batch.labelled"):
    """A label for the tool calls of one step. May be sent again with a better one."""

    call_ids: tuple[CallId, ...]
    label: str
    source: Literal["facts", "model"] = "facts"


class TitleChanged(DurableEvent, frozen=True, kw_only=True, tag="title.changed"):
    """The session has a (new) title."""

    title: str
    source: Literal["user", "facts", "model"]


class RecapReady(DurableEvent, frozen=True, kw_only=True, tag="recap.ready"):
    """Where you are, in one or two sentences."""

    text: str
    away: str = ""
    """What happened since you left."""
    last_entry_id: EntryId = EntryId("")
    source: Literal["facts", "model"] = "facts"


class SideQueryBooked(DurableEvent, frozen=True, kw_only=True, tag="side_query.booked"):
    """A model call that was not the conversation has ended; at any time, also between turns."""

    purpose: str
    model: str
    usage: Usage | None = None
    cost_usd: float | None = None
    outcome: str = "ok"


class ModelChanged(LiveEvent, frozen=True, kw_only=True, tag="model.changed"):
    """Later requests go to another model."""

    model: str
    reason: str = ""


class PermissionModeChanged(DurableEvent, frozen=True, kw_only=True, tag="permission_mode.changed"):
    """The permission mode is now this one."""

    mode: str


class SessionEnded(LiveEvent, frozen=True, kw_only=True, tag="session.ended"):
    """Last event; the stream ends after it."""

    reason: str = ""


Live = (
    SessionStarted
    | TurnStarted
    | StepStarted
    | TextDelta
    | ReasoningDelta
    | ToolStarted
    | ToolProgress
    | QuestionAsked
    | RetryScheduled
    | Notice
    | StepEnded
    | ModelChanged
    | SessionEnded
)
Durable = (
    PromptAccepted
    | PartCompleted
    | ReplyWithdrawn
    | ToolEnded
    | ApprovalRequested
    | ApprovalResolved
    | TurnEnded
    | BatchLabelled
    | TitleChanged
    | RecapReady
    | SideQueryBooked
    | PermissionModeChanged
)
Event = Live | Durable
