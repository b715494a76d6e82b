"""The stream that programs read: every line of `--output-format stream-json`, and the one document of `json`.

Order: `system`/`init` first, `result` last, one of each per run, whatever happens. Every line stands on its own, has a
`type`, the `session_id` and a `uuid`. Readers skip types and fields they do not know; a change that would break them
raises `SCHEMA_VERSION`.
"""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, field

from clew.protocol.entries import ResultDetails
from clew.protocol.standing import SessionActivity
from clew.protocol.usage import Usage
from clew.streaming.shapes.stream_content import Growth, InputMessage, ReplyMessage

SCHEMA_VERSION = 1

ResultSubtype = Literal[
    "success",
    "error_during_execution",
    "error_max_turns",
    "error_max_budget_usd",
    "error_max_structured_output_retries",
]


class LineBase(Struct, frozen=True, kw_only=True, tag_field="type"):
    """One line. What has a value is always written, also when null; `| UnsetType` says: only when there is one."""

    session_id: str
    """Empty while no session could be opened."""
    uuid: str
    """Of an entry of the transcript, where the line tells one; else of the line alone."""


class ServerStatus(Struct, frozen=True, kw_only=True):
    """A server of tools that is connected."""

    name: str
    status: str


class InitLine(LineBase, frozen=True, kw_only=True, tag="system"):
    """The first line: where the run stands and what it may use. There is no `claude_code_version`: clew is another
    program, and a number here would be made up; `clew_version` is its own."""

    subtype: Literal["init"] = "init"
    schema_version: int = SCHEMA_VERSION
    cwd: str
    model: str
    permission_mode: str = field(name="permissionMode")
    tools: tuple[str, ...]
    clew_version: str
    slash_commands: tuple[str, ...] = ()
    """Those that work without a terminal."""
    api_key_source: str = field(default="none", name="apiKeySource")
    """The variable that holds the key in use, or `none`."""
    output_style: str = "default"
    mcp_servers: tuple[ServerStatus, ...] = ()
    skills: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    """The kinds of agents that the model can start."""
    plugins: tuple[str, ...] = ()


class AssistantLine(LineBase, frozen=True, kw_only=True, tag="assistant"):
    """One whole part of a reply."""

    message: ReplyMessage
    parent_tool_use_id: str | None = None
    """The call that started the agent which speaks; null for the main one."""
    request_id: str | UnsetType = UNSET
    """What the provider calls the request."""


class UserLine(LineBase, frozen=True, kw_only=True, tag="user"):
    """What the model reads next: a tool's result; hidden words of clew (`isMeta`); input that joined while it worked;
    or, when asked for, the prompt itself (`isReplay`)."""

    message: InputMessage
    parent_tool_use_id: str | None = None
    tool_use_result: ResultDetails | UnsetType = UNSET
    """What people see of a result, as the transcript keeps it."""
    is_meta: bool | UnsetType = field(default=UNSET, name="isMeta")
    is_replay: bool | UnsetType = field(default=UNSET, name="isReplay")
    prompt_id: str | UnsetType = UNSET
    """What the sender called this input."""


class PartialLine(LineBase, frozen=True, kw_only=True, tag="stream_event"):
    """A reply grows; only with `--include-partial-messages`."""

    event: Growth
    parent_tool_use_id: str | None = None


class ToolProgressLine(LineBase, frozen=True, kw_only=True, tag="tool_progress"):
    """A call is still running. With partial messages for each piece of output, else now and then."""

    tool_use_id: str
    tool_name: str
    elapsed_time_seconds: float
    parent_tool_use_id: str | None = None
    text: str = ""
    """New output; empty without partial messages."""


class ToolSummaryLine(LineBase, frozen=True, kw_only=True, tag="tool_use_summary"):
    """The calls of one step in one line. May come again with better words for the same calls."""

    summary: str
    preceding_tool_use_ids: tuple[str, ...]
    source: Literal["facts", "model"] = "facts"


class RetryLine(LineBase, frozen=True, kw_only=True, tag="system"):
    """A request failed in a way that may pass; it is made again after the delay."""

    subtype: Literal["api_retry"] = "api_retry"
    attempt: int
    max_retries: int
    retry_delay_ms: int
    error: str


class WithdrawnLine(LineBase, frozen=True, kw_only=True, tag="system"):
    """Lines that were told are void: drop those with these ids, and what was partial of this reply."""

    subtype: Literal["reply_withdrawn"] = "reply_withdrawn"
    message_id: str
    uuids: tuple[str, ...]
    reason: str


class NoticeLine(LineBase, frozen=True, kw_only=True, tag="system"):
    """Something to know that is not part of the conversation."""

    subtype: Literal["notice"] = "notice"
    level: Literal["info", "warning", "error"]
    text: str
    code: str = ""


class StatusLine(LineBase, frozen=True, kw_only=True, tag="system"):
    """What the session is busy with beside replies, and what is in force from now on where that changed."""

    subtype: Literal["status"] = "status"
    status: Literal["compacting"] | None = None
    permission_mode: str | UnsetType = field(default=UNSET, name="permissionMode")
    model: str | UnsetType = UNSET


class CompactMetadata(Struct, frozen=True, kw_only=True):
    """Why and by how much."""

    trigger: Literal["manual", "auto"]
    pre_tokens: int | None
    post_tokens: int | None = None
    kind: str = ""
    """In clew's own words: manual, auto, predictive, reactive, clear."""


class BoundaryLine(LineBase, frozen=True, kw_only=True, tag="system"):
    """The model's view of the past starts anew here."""

    subtype: Literal["compact_boundary"] = "compact_boundary"
    compact_metadata: CompactMetadata


class RecapLine(LineBase, frozen=True, kw_only=True, tag="system"):
    """Where you are, in one or two sentences."""

    subtype: Literal["away_summary"] = "away_summary"
    content: str
    away: str = ""
    """What happened since you left."""
    source: Literal["facts", "model"] = "facts"


class TitleLine(LineBase, frozen=True, kw_only=True, tag="system"):
    """The session has a (new) title."""

    subtype: Literal["title"] = "title"
    title: str
    source: Literal["user", "facts", "model"]


class HookLine(LineBase, frozen=True, kw_only=True, tag="system"):
    """A hook ran; only with `--include-hook-events`."""

    subtype: Literal["hook_response"] = "hook_response"
    hook_event: str
    hook_name: str
    outcome: Literal["ok", "blocked", "failed", "timed_out"]
    output: str = ""
    duration_ms: int = 0


class TaskUsage(Struct, frozen=True, kw_only=True):
    """What a task used."""

    total_tokens: int = 0
    tool_uses: int = 0
    duration_ms: int = 0


class TaskStartedLine(LineBase, frozen=True, kw_only=True, tag="system"):
    """Work beside the conversation began: a child agent, or a command in the background."""

    subtype: Literal["task_started"] = "task_started"
    task_id: str
    description: str
    task_type: Literal["local_agent", "local_bash"]
    tool_use_id: str | UnsetType = UNSET
    """The call that started it."""
    parent_tool_use_id: str | None = None
    agent_type: str | UnsetType = UNSET
    background: bool = False
    """No call waits for it."""


class TaskProgressLine(LineBase, frozen=True, kw_only=True, tag="system"):
    """What a child agent does now; at most every few seconds."""

    subtype: Literal["task_progress"] = "task_progress"
    task_id: str
    description: str
    usage: TaskUsage
    tool_use_id: str | UnsetType = UNSET
    last_tool_name: str | UnsetType = UNSET


class TaskNotificationLine(LineBase, frozen=True, kw_only=True, tag="system"):
    """A task is over. One for each `task_started`."""

    subtype: Literal["task_notification"] = "task_notification"
    task_id: str
    status: Literal["completed", "failed", "stopped"]
    output_file: str
    summary: str
    tool_use_id: str | UnsetType = UNSET
    usage: TaskUsage | UnsetType = UNSET
    total_cost_usd: float | UnsetType = UNSET
    """What an agent cost, its own children included."""


class StateLine(LineBase, frozen=True, kw_only=True, tag="system"):
    """Whether work is under way; only for a host that asks for it by `CLAUDE_CODE_SDK_READS_SESSION_STATE=1`. `idle`
    comes before the result, and only when no further input waits."""

    subtype: Literal["session_state_changed"] = "session_state_changed"
    state: SessionActivity
    sdk_host_only: bool = True


class InputErrorLine(LineBase, frozen=True, kw_only=True, tag="system"):
    """A line of stdin was not taken, and nothing came of it; the next ones are read as ever."""

    subtype: Literal["input_error"] = "input_error"
    line: int
    """Its number, from 1."""
    error: str


class Denial(Struct, frozen=True, kw_only=True):
    """A call that did not get leave."""

    tool_name: str
    tool_use_id: str
    tool_input: dict[str, Any]
    subject: str = ""
    reason: str = ""


class ModelTotals(Struct, frozen=True, kw_only=True, rename="camel"):
    """What one model used."""

    input_tokens: int
    output_tokens: int
    cache_read_input_tokens: int
    cache_creation_input_tokens: int
    requests: int
    """Every try that left, also those that failed and were made again."""
    web_search_requests: int = 0
    """Searches by the provider itself: clew asks for none."""
    cost_usd: float | None = field(name="costUSD")
    """Null, not 0, when a price is unknown."""
    context_window: int | None = None
    """Null: the model never answered."""
    max_output_tokens: int | None = None


class SideTotals(Struct, frozen=True, kw_only=True):
    """Model calls beside the conversation, for one purpose."""

    requests: int
    cost_usd: float | None


class AgentOutcome(Struct, frozen=True, kw_only=True):
    """How one agent of the run ended."""

    id: str
    kind: str
    task: str
    status: str
    """completed, failed, stopped, suspended or interrupted."""
    background: bool
    total_tokens: int
    total_cost_usd: float | None
    """Its own, without agents that it started; null when a price is unknown."""
    name: str | UnsetType = UNSET
    error: str | UnsetType = UNSET


class ResultLine(LineBase, frozen=True, kw_only=True, tag="result"):
    """The last line, and the whole document of `--output-format json`."""

    subtype: ResultSubtype
    is_error: bool
    result: str
    """The whole answer, also when it took several replies."""
    stop_reason: str | None
    """Of a run that completed, the model's own; else why it ended, in clew's words."""
    terminal_reason: str
    """Why no further request was made: completed, max_turns, aborted_streaming, aborted_tools, api_error, ..."""
    num_turns: int
    """Model requests of this turn."""
    duration_ms: int
    duration_api_ms: int
    total_cost_usd: float | None
    """Of the run so far; null when a price is unknown."""
    usage: Usage
    """Of this turn."""
    model_usage: dict[str, ModelTotals] = field(name="modelUsage")
    """Of the run so far."""
    permission_denials: tuple[Denial, ...] = ()
    errors: tuple[str, ...] = ()
    error: str | UnsetType = UNSET
    """The same in one string, for a person."""
    api_error_status: int | UnsetType = UNSET
    """The HTTP status of the request that a run ended on, where the provider gave one."""
    agents: tuple[AgentOutcome, ...] | UnsetType = UNSET
    """The agents that have ended in the run so far, at every depth, in the order of their ends: the newest 100."""
    structured_output: Any = UNSET
    """The value that `--json-schema` asked for."""
    side_queries: dict[str, SideTotals] | UnsetType = UNSET
    """Recaps, labels and titles, by purpose."""
    context: Any = UNSET
    """Of `/context`: what fills the window."""


StreamLine = (
    InitLine
    | AssistantLine
    | UserLine
    | PartialLine
    | ToolProgressLine
    | ToolSummaryLine
    | RetryLine
    | WithdrawnLine
    | NoticeLine
    | StatusLine
    | BoundaryLine
    | RecapLine
    | TitleLine
    | HookLine
    | TaskStartedLine
    | TaskProgressLine
    | TaskNotificationLine
    | StateLine
    | InputErrorLine
    | ResultLine
)
