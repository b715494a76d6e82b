"""Entries: the lines of a transcript. Chain entries have the shape that Claude-Code-style tools read.

The conversation is the chain of `parentUuid` from one leaf; keyed entries (titles, labels, approvals, ...)
stand outside the chain, and the last one of a key counts. Lines are never edited or removed.
"""

from typing import Any, Literal

from msgspec import Struct, field

from clew.protocol.display import Block
from clew.protocol.events import Durable, PromptOrigin, Refuser
from clew.protocol.ids import AgentId, CallId, EntryId, PromptId, RequestId, SessionId, TaskId
from clew.protocol.meant_calls import ToolSpec
from clew.protocol.messages import AssistantMessage, UserMessage
from clew.protocol.state import AgentState
from clew.protocol.usage import Usage


class EntryBase(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag_field="type"):
    """One line. Fields without a default are always written, also when null."""

    session_id: SessionId
    timestamp: str
    """ISO 8601, UTC, milliseconds, with a final Z."""


class ChainEntry(EntryBase, frozen=True, kw_only=True):
    """An entry of the conversation tree."""

    uuid: EntryId
    parent_uuid: EntryId | None
    is_sidechain: bool
    user_type: str
    cwd: str
    version: str
    logical_parent_uuid: EntryId | None = None
    """Set on a boundary, whose parent is null: where the older history hangs."""
    git_branch: str = ""
    agent_id: AgentId | None = None
    forked_from: dict[str, str] | None = None
    """On entries copied by a fork: `sessionId` and `messageUuid` of the original."""


class UserEntry(ChainEntry, frozen=True, kw_only=True, tag="user"):
    """Something the model reads: the user's words, tool results, or hidden text (`isMeta`)."""

    message: UserMessage
    is_meta: bool = False
    """Written by the program, not by the user; hidden in front ends, never a goal."""
    is_compact_summary: bool = False
    origin: PromptOrigin = "user"
    continues: bool = False
    """Asks the model to go on with its last reply."""
    queued: bool = False
    prompt_id: PromptId = PromptId("")
    """Of a prompt that stands in the log as queued: it waits no more."""
    notices: tuple[TaskId, ...] = ()
    """The tasks whose end it tells."""
    tool_use_result: Any = None
    """Structured form of a tool result. Ours is a `ResultDetails`; other programs have their own."""
    source_tool_assistant_uuid: EntryId | None = field(default=None, name="sourceToolAssistantUUID")
    """The assistant entry that holds the call this result answers (also its parent)."""
    permission_mode: str = ""


class AssistantEntry(ChainEntry, frozen=True, kw_only=True, tag="assistant"):
    """One part of a model's reply, or a local error shown in its place (`isApiErrorMessage`)."""

    message: AssistantMessage
    """Its `id` is ours: parts of one reply share it, no other reply has it."""
    request_id: str = ""
    provider_message_id: str = ""
    """What the provider called the reply; some repeat themselves."""
    part_number: int = 0
    is_api_error_message: bool = False
    error: str = ""


class SystemEntry(ChainEntry, frozen=True, kw_only=True, tag="system"):
    """A note of the program inside the chain; never sent to the model.

    Subtypes we write: `compact_boundary`, `away_summary` (a recap), `api_error`, `turn_duration`,
    `informational`, `interrupted`. Others are kept.
    """

    subtype: str
    content: str = ""
    level: str = "info"
    is_meta: bool = False
    data: dict[str, Any] | None = None
    """Our structured details, by subtype (a recap keeps its facts and key here)."""
    compact_metadata: dict[str, Any] | None = None
    duration_ms: int | None = None


class AttachmentEntry(ChainEntry, frozen=True, kw_only=True, tag="attachment"):
    """Context that was attached to a prompt."""

    attachment: Any


class ProgressEntry(ChainEntry, frozen=True, kw_only=True, tag="progress"):
    """Progress of a long call, as other programs write it; can be a parent, is never sent."""

    data: Any = None


class TombstoneEntry(EntryBase, frozen=True, kw_only=True, tag="tombstone"):
    """These entries are withdrawn (a broken stream's partial reply). They stay in the file and leave every view."""

    targets: tuple[EntryId, ...]
    reason: str
    reply_id: str = ""
    words: str = ""
    """What a person saw of it, for those who look back. No view of a model has it."""


class CustomTitleEntry(EntryBase, frozen=True, kw_only=True, tag="custom-title"):
    """The user's own title; beats every generated one."""

    custom_title: str


class AiTitleEntry(EntryBase, frozen=True, kw_only=True, tag="ai-title"):
    """A generated title, from facts or from a model."""

    ai_title: str
    source: Literal["facts", "model"] = "facts"


class LastPromptEntry(EntryBase, frozen=True, kw_only=True, tag="last-prompt"):
    """Repeated near the end of the file so that a short tail read finds it."""

    last_prompt: str


class BatchLabelEntry(EntryBase, frozen=True, kw_only=True, tag="batch-label"):
    """The label of a tool batch, attached by call ids."""

    call_ids: tuple[CallId, ...]
    label: str
    source: Literal["facts", "model"] = "facts"


class ApprovalEntry(EntryBase, frozen=True, kw_only=True, tag="approval"):
    """An approval was asked for (`decision` pending) or decided. The last line of a request id counts."""

    request_id: RequestId
    call_id: CallId
    tool: str
    subject: str
    decision: Literal["pending", "allow", "allow_always", "deny"]
    by: Refuser = "user"
    """Who decided."""
    reason: str = ""
    """Of the answer; of a pending one, why it asks."""
    rule: str = ""
    scope: Literal["", "session", "project", "user"] = ""
    """Where what was saved holds."""
    saved_in: str = ""
    via: str = ""
    """The front end that answered, where it is not the one the session was opened in."""


class TurnResultEntry(EntryBase, frozen=True, kw_only=True, tag="turn-result"):
    """How a turn ended, with what it used."""

    reason: str
    turn: int
    steps: int
    duration_ms: int
    waited_ms: int = 0
    cost_usd: float | None = None
    usage: Usage | None = None
    error: str = ""
    by: str = ""
    """Who stopped it, where that was not the user: `session`."""
    note: EntryId = EntryId("")
    """The entry of the conversation that tells the error, if there is one."""


class SideQueryEntry(EntryBase, frozen=True, kw_only=True, tag="side-query"):
    """A model call that was not the conversation, booked by purpose."""

    purpose: str
    model: str
    usage: Usage | None = None
    cost_usd: float | None = None
    outcome: str = "ok"


class ContentReplacementEntry(EntryBase, frozen=True, kw_only=True, tag="content-replacement"):
    """The literal text that stands for a tool result on the wire, frozen so that bytes already sent never change."""

    call_id: CallId
    replacement: str
    keeps_media: bool = False
    """It stands for the words of the result alone; pictures and documents beside them stay."""


class SessionSourceEntry(EntryBase, frozen=True, kw_only=True, tag="session-source"):
    """Where this session came from: a fork, a branch, or another agent's file (`path`)."""

    agent: str
    source_session: str
    path: str = ""
    at: str = ""


Entrypoint = Literal["terminal", "print", "stream", "sdk"]
"""`terminal`: a person on the screen or line by line. `print`: `clew -p`. `stream`: a program over stdin and stdout.
`sdk`: a Python program."""


class SessionOriginEntry(EntryBase, frozen=True, kw_only=True, tag="session-origin"):
    """How the session began, in its first lines, unless a person began it; and that a person went on with such a run.
    A log without this line is a person's conversation."""

    entrypoint: Entrypoint


class ModeEntry(EntryBase, frozen=True, kw_only=True, tag="permission-mode"):
    """The permission mode in force. For people to read; a resumed file never sets rights."""

    permission_mode: str


class SystemPromptEntry(EntryBase, frozen=True, kw_only=True, tag="system-prompt"):
    """What every request of this session begins with, so that a resume sends the same bytes. The last one counts."""

    blocks: tuple[str, ...]
    tools: str = ""
    """Digest of the tools' specs."""
    searched: bool = False
    """Tools can be searched for: they may come and go."""
    told: tuple[ToolSpec, ...] = ()
    """Tools that come and go and are told in full all the same."""
    small: bool = False
    """The few tools and short words of a small window."""
    agent: str = ""
    """The kind of agent that the conversation runs as; empty: clew's own."""


class SessionStateEntry(EntryBase, frozen=True, kw_only=True, tag="session-state"):
    """The figures of the session up to here, so that a reader of the tail knows them. Derived; the log is the truth."""

    state: AgentState


class EventEntry(EntryBase, frozen=True, kw_only=True, tag="event"):
    """A durable event that has no older shape of its own."""

    event: Durable


class ResultDetails(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Our `toolUseResult`: what people see of a result or of a typed command, and what became of the call."""

    display: tuple[Block, ...] = ()
    name: str = ""
    duration_ms: int = 0
    refused: bool = False
    stopped: bool = False
    request_id: str = ""
    """Of a command the user typed."""


class OpaqueEntry(Struct, frozen=True, kw_only=True):
    """A line of a type we do not know. It is kept on copy and ignored on replay; never encoded through the union."""

    type: str
    raw: dict[str, Any]


KnownEntry = (
    UserEntry
    | AssistantEntry
    | SystemEntry
    | AttachmentEntry
    | ProgressEntry
    | TombstoneEntry
    | CustomTitleEntry
    | AiTitleEntry
    | LastPromptEntry
    | BatchLabelEntry
    | ApprovalEntry
    | TurnResultEntry
    | SideQueryEntry
    | ContentReplacementEntry
    | SessionSourceEntry
    | SessionOriginEntry
    | ModeEntry
    | SystemPromptEntry
    | SessionStateEntry
    | EventEntry
)
Entry = KnownEntry | OpaqueEntry
