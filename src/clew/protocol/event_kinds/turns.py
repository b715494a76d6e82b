"""Events of a turn: input, requests, replies, tool calls, how it ended; and of commands that the user typed."""

from typing import Any, Literal

from clew.protocol.base import DurableEvent, LiveEvent
from clew.protocol.display import Block, ChangesBlock, DiffBlock
from clew.protocol.ids import CallId, EntryId, MessageId, PromptId, RequestId, TaskId
from clew.protocol.messages import Part, ToolCallPart, ToolResultPart
from clew.protocol.standing import Actor
from clew.protocol.usage import Usage


class ShellStarted(LiveEvent, frozen=True, kw_only=True, tag="shell.started"):
    """A command the user typed runs now. Exactly one ShellEnded with this id follows."""

    request_id: RequestId
    command: str
    cwd: str = ""


class ShellProgress(LiveEvent, frozen=True, kw_only=True, tag="shell.progress"):
    """More of what it prints: whole lines, secrets taken out, and of a flood only the newest part."""

    request_id: RequestId
    text: str


class ShellEnded(DurableEvent, frozen=True, kw_only=True, tag="shell.ended"):
    """The user's own command has ended; what it printed joined the conversation at `entry_id`."""

    request_id: RequestId
    entry_id: EntryId
    parent_id: EntryId | None
    command: str
    output: str
    """Without secrets, and of long output both ends."""
    exit_code: int | None
    """None: it was stopped, or could not be started and `output` says why."""
    changes: ChangesBlock | None = None
    """What it did to the files of the workspace, where that is kept."""
    diffs: tuple[DiffBlock, ...] = ()
    """The text files among them, like those of an edit."""


TurnEndReason = Literal[
    "completed",
    "interrupted",
    "max_turns",
    "max_budget",
    "max_tokens",
    "max_minutes",
    "prompt_too_long",
    "window_exceeded",
    "output_limit",
    "refusal",
    "content_filter",
    "empty_answer",
    "text_call",
    "repeating",
    "model_error",
    "stopped_by_denial",
    "stopped_by_hook",
    "no_structured_output",
    "not_sent",
]
"""`window_exceeded`: the reply itself filled the model's window. `empty_answer`: the turn did nothing and said nothing.
`text_call`: the answer was only a tool call written as words. `repeating`: the same call again and again.
`no_structured_output`: no answer had the shape that was asked for. `not_sent`: a slash name of the user's could not be
made into a prompt, so nothing was asked."""

PromptOrigin = Literal["user", "agent", "task", "shell", "schedule", "clew"]
"""Who put input into the conversation. `agent`: another agent, by its task or a message. `task`: work beside the
conversation that has ended. `clew`: the program itself. Input of the last two is hidden."""

AttemptOutcome = Literal["completed", "kept", "withdrawn", "interrupted", "failed"]
"""`kept`: the stream broke after something had taken effect, so whole parts and results stay. `failed`: it brought
nothing that could stay or be withdrawn."""


class TurnStarted(LiveEvent, frozen=True, kw_only=True, tag="turn.started"):
    """The agent left idle. `turn` counts from 1 within the session."""

    turn: int


class PromptQueued(DurableEvent, frozen=True, kw_only=True, tag="prompt.queued"):
    """Input waits to join. Then comes PromptAccepted or PromptWithdrawn with the same `prompt_id`. A second one with
    the same id takes the place of the first."""

    prompt_id: PromptId
    content: str | tuple[Part, ...]
    origin: PromptOrigin = "user"
    kept: bool = False
    """A person typed it while the agent worked: it is on disk and synced until it joins or is taken back."""
    held: bool = False
    """The process that it was typed in is gone: it goes only when a person sends it (SendQueued)."""


class PromptWithdrawn(DurableEvent, frozen=True, kw_only=True, tag="prompt.withdrawn"):
    """Queued input was taken back before it joined. In the log only where the log has the prompt as queued."""

    prompt_id: PromptId
    kept: bool = False


class PromptOffered(LiveEvent, frozen=True, kw_only=True, tag="prompt.offered"):
    """Words that a person may send as they are. They go into an empty prompt, never over what is typed."""

    text: str


class PromptAccepted(DurableEvent, frozen=True, kw_only=True, tag="prompt.accepted"):
    """Input joined the conversation. Before the first request that carries it; on disk and synced by then."""

    entry_id: EntryId
    parent_id: EntryId | None
    content: str | tuple[Part, ...]
    origin: PromptOrigin = "user"
    hidden: bool = False
    """Written by the program (a reminder, the words that let a cut-off answer go on)."""
    continues: bool = False
    """It asks the model to go on with its last reply: the next one belongs to the same answer."""
    queued: bool = False
    """It was typed while the agent worked and joined at a step boundary; of notices: they began no turn."""
    prompt_id: PromptId = PromptId("")
    notices: tuple[TaskId, ...] = ()
    """The tasks whose end it tells: from here on no notice of these is owed."""


class StepStarted(LiveEvent, frozen=True, kw_only=True, tag="step.started"):
    """A model request is about to leave. `step` counts from 1 within the turn."""

    step: int
    model: str


class ReplyAwaited(LiveEvent, frozen=True, kw_only=True, tag="reply.awaited"):
    """The request is out and nothing came back yet; sent now and then."""

    seconds: float


class ReplyBegan(LiveEvent, frozen=True, kw_only=True, tag="reply.began"):
    """The provider began to answer. Before the first delta of the reply."""

    reply_id: MessageId
    model: str
    usage: Usage | None = None
    """As told so far, which for most is nothing."""
    window: int = 0
    max_output_tokens: int = 0


class ReplyReceived(LiveEvent, frozen=True, kw_only=True, tag="reply.received"):
    """The last word of the reply is here; its calls may still run. Not sent for a reply that broke off."""

    reply_id: MessageId
    stop_reason: str
    usage: Usage | None = None
    """None: the provider tells none."""


class TextDelta(LiveEvent, frozen=True, kw_only=True, tag="text.delta"):
    """More words of the answer. Deltas of one part precede the PartCompleted with the same reply and number."""

    reply_id: MessageId
    part: int
    text: str


class ReasoningDelta(LiveEvent, frozen=True, kw_only=True, tag="reasoning.delta"):
    """More of the model's reasoning."""

    reply_id: MessageId
    part: int
    text: str


class ArgumentsDelta(LiveEvent, frozen=True, kw_only=True, tag="arguments.delta"):
    """More of a call's arguments while the model writes them; they count only when the part is complete."""

    reply_id: MessageId
    part: int
    tool: str
    text: str
    call_id: CallId = CallId("")
    """The id that the call will have; empty while the provider has not told one."""


class PartCompleted(DurableEvent, frozen=True, kw_only=True, tag="part.completed"):
    """One part of the reply is whole. A tool call is announced here, before it runs."""

    entry_id: EntryId
    parent_id: EntryId | None
    reply_id: MessageId
    part_number: int
    model: str
    part: Part
    provider_message_id: str = ""
    request_id: str = ""


class ReplyWithdrawn(DurableEvent, frozen=True, kw_only=True, tag="reply.withdrawn"):
    """Parts and results of an attempt are void: remove them and its unfinished words from view. Never after one of its
    calls has taken effect; then `entry_ids` is empty and only the unfinished words go."""

    reply_id: MessageId
    entry_ids: tuple[EntryId, ...]
    reason: str
    words: str = ""
    """What a person saw of it, bounded: the trace that stays on screens."""


class AttemptEnded(DurableEvent, frozen=True, kw_only=True, tag="attempt.ended"):
    """One request and what it used, whatever became of it. Exactly one per request, after its parts and results."""

    reply_id: MessageId
    step: int
    model: str
    """The model that was really asked."""
    outcome: AttemptOutcome
    stop_reason: str = ""
    usage: Usage | None = None
    """None: the provider told nothing, and nothing can be estimated."""
    estimated: bool = False
    """The provider never told; counted from what was sent and received."""
    cost_usd: float | None = None
    api_ms: int = 0
    retries: int = 0
    """Failed tries of the same request before this one."""
    entry_id: EntryId = EntryId("")
    """The line that carries the usage for readers of such transcripts, where there is a reply."""
    parent_id: EntryId | None = None


class CallChanged(DurableEvent, frozen=True, kw_only=True, tag="call.changed"):
    """A call runs with another input than the model wrote. Before it is judged with that input. The model's own words
    stay in the conversation; this is what facts, and people, go by."""

    call_id: CallId
    tool: str
    arguments: dict[str, Any]
    by: Literal["hook", "user"]
    """`user`: whoever answered its approval."""
    hook: str = ""
    """Which one."""


class ToolStarted(LiveEvent, frozen=True, kw_only=True, tag="tool.started"):
    """The call was allowed and runs now. After its PartCompleted and after its approval, if one was needed. The log is
    synced first when it is `effectful`."""

    call: ToolCallPart
    """As it runs: its input may have been changed (CallChanged)."""
    effectful: bool = False


class ToolProgress(LiveEvent, frozen=True, kw_only=True, tag="tool.progress"):
    """Output of a running tool as it arrives, bounded."""

    call_id: CallId
    text: str


class ToolEnded(DurableEvent, frozen=True, kw_only=True, tag="tool.ended"):
    """A call has its one result. In order of finishing; the next request lists results in call order."""

    entry_id: EntryId
    parent_id: EntryId
    """The entry that holds the call."""
    name: str
    result: ToolResultPart
    display: tuple[Block, ...] = ()
    duration_ms: int = 0
    """Without the time a person took to answer."""
    refused: bool = False
    """A rule, a hook or a person did not let it run."""
    stopped: bool = False
    """It was stopped before it ended: by an interrupt, by the end of the session, or with a command beside it that
    failed. Its result is an error for the model and no failure."""


class ResultReplaced(DurableEvent, frozen=True, kw_only=True, tag="result.replaced"):
    """The text that stands for a tool result in every request, frozen from the first one on."""

    call_id: CallId
    replacement: str
    keeps_media: bool = False
    """It stands for the words of the result alone; pictures and documents beside them stay."""


class RetryScheduled(LiveEvent, frozen=True, kw_only=True, tag="retry.scheduled"):
    """A request failed in a way that may pass; it is tried again after `delay_s`."""

    attempt: int
    max_attempts: int
    delay_s: float
    reason: str


class StructuredOutputReady(LiveEvent, frozen=True, kw_only=True, tag="structured_output.ready"):
    """The turn has a value of the shape that was asked for. A later one replaces it."""

    value: Any


class StepEnded(LiveEvent, frozen=True, kw_only=True, tag="step.ended"):
    """The step's calls all have results. Not sent for a step that was interrupted or failed."""

    step: int
    stop_reason: str = ""


INTERNAL_ERROR = "internal error: "
"""What the error of a turn begins with that ended by a fault of ours; the reason is `model_error` then, too."""


class TurnEnded(DurableEvent, frozen=True, kw_only=True, tag="turn.ended"):
    """The agent is idle again. Last event of the turn; everything before it is on disk and synced."""

    turn: int
    reason: TurnEndReason
    by: Actor | Literal[""] = ""
    """Who stopped it, where `reason` does not tell: the session that was closed or taken over."""
    steps: int
    duration_ms: int
    """Without `waited_ms`."""
    waited_ms: int = 0
    """The time people took to answer."""
    usage: Usage | None = None
    cost_usd: float | None = None
    error: str = ""
    status: int | None = None
    """The HTTP status of the request that failed, where the provider gave one."""
    retry_after_s: float | None = None
    """How long the provider asks to wait before another request, where it says so."""
    entry_id: EntryId = EntryId("")
    """The note that keeps the error in the conversation; empty without one."""
    parent_id: EntryId | None = None
