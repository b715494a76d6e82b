"""Lines of a driving program: what it says, and the requests that go both ways with ids. Unknown fields are ignored."""

from typing import Any, Literal

from msgspec import Struct, field

from clew.protocol.event_kinds.asks import ElicitationAction
from clew.protocol.messages import DocumentPart, ImagePart, TextPart

Json = dict[str, Any]
UserPart = TextPart | ImagePart | DocumentPart
"""What a program may put into a prompt; calls and their results are the engine's own."""


class ControlLineBase(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """One line, told apart by its `type`."""


class UserWords(Struct, frozen=True, kw_only=True):
    """The message of a user line."""

    content: str | tuple[UserPart, ...]
    role: Literal["user"] = "user"


class PromptInput(ControlLineBase, frozen=True, kw_only=True, tag="user"):
    """A prompt. Each begins a turn of its own; while one runs it waits."""

    message: UserWords
    uuid: str | None = None
    """The program's own name for it; a second line with the same one is not taken."""
    session_id: str | None = None
    """Accepted and not looked at: a process has one session."""
    parent_tool_use_id: str | None = None
    client_composed: bool | None = None
    """The words are sent as they are: a slash at the front starts no command."""


class ControlRequest(ControlLineBase, frozen=True, kw_only=True, tag="control_request"):
    """A question or an order; answered by one ControlResponse with the same id, unless it is cancelled."""

    request_id: str
    request: Json


class RequestDone(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="success", tag_field="subtype"):
    """The request was done."""

    request_id: str
    response: Json | None = None


class Failed(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="error", tag_field="subtype"):
    """It was not; why."""

    request_id: str
    error: str


class ControlResponse(ControlLineBase, frozen=True, kw_only=True, tag="control_response"):
    """The answer to a request."""

    response: RequestDone | Failed


class ControlCancel(ControlLineBase, frozen=True, kw_only=True, tag="control_cancel_request"):
    """Whoever asked does not wait for the answer any more."""

    request_id: str


class KeepAlive(ControlLineBase, frozen=True, kw_only=True, tag="keep_alive"):
    """Nothing but a sign of life."""


InputLine = PromptInput | ControlRequest | ControlResponse | ControlCancel | KeepAlive
"""What stdin may carry."""
ControlLine = ControlRequest | ControlResponse | ControlCancel
"""What stdout carries besides the stream."""


class RequestBase(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="subtype"):
    """What is asked, told apart by its `subtype`."""


class HookMatcherGiven(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Callbacks of the program for one moment and the subjects that fit."""

    matcher: str | None = None
    hook_callback_ids: tuple[str, ...] = ()
    timeout: float | None = None
    """In seconds."""
    on_failure: str | None = None
    """`continue`: a callback that fails has no opinion; anything else: it counts as a no."""


class InitializeRequest(RequestBase, frozen=True, kw_only=True, tag="initialize", rename="camel"):
    """The first request: what the program brings, answered by what there is here."""

    hooks: dict[str, tuple[HookMatcherGiven, ...]] | None = None
    agents: Json | None = None
    skills: tuple[str, ...] | None = None
    exclude_dynamic_sections: bool | None = None
    system_prompt_snapshot: bool | None = None
    forward_subagent_text: bool | None = None
    sdk_mcp_servers: tuple[str, ...] | Json | None = None
    """The names of servers that live in the program; TypeScript programs give them here."""
    system_prompt: Any = None
    append_system_prompt: Any = None
    json_schema: Any = None


class InterruptRequest(RequestBase, frozen=True, kw_only=True, tag="interrupt"):
    """Stop the running turn. Its result follows; what waits stays."""


class SetPermissionModeRequest(RequestBase, frozen=True, kw_only=True, tag="set_permission_mode"):
    """Change the permission mode."""

    mode: str


class SetModelRequest(RequestBase, frozen=True, kw_only=True, tag="set_model"):
    """Use another model from the next request on; null: the one it began with."""

    model: str | None = None


class SetThinkingRequest(RequestBase, frozen=True, kw_only=True, tag="set_max_thinking_tokens"):
    """At most so much thinking; null: as the model likes."""

    max_thinking_tokens: int | None = None


class McpStatusRequest(RequestBase, frozen=True, kw_only=True, tag="mcp_status"):
    """Which MCP servers there are."""


class McpReconnectRequest(RequestBase, frozen=True, kw_only=True, tag="mcp_reconnect"):
    """Connect to a server anew."""

    server_name: str = field(name="serverName")


class McpToggleRequest(RequestBase, frozen=True, kw_only=True, tag="mcp_toggle"):
    """Switch a server off or on, in this project."""

    server_name: str = field(name="serverName")
    enabled: bool


class ContextUsageRequest(RequestBase, frozen=True, kw_only=True, tag="get_context_usage"):
    """What fills the window."""


class RewindFilesRequest(RequestBase, frozen=True, kw_only=True, tag="rewind_files"):
    """Files back to how they were before a prompt. The conversation stays."""

    user_message_id: str
    """The `uuid` of a user line, the program's or ours."""
    dry_run: bool = False


class StopTaskRequest(RequestBase, frozen=True, kw_only=True, tag="stop_task"):
    """End a command in the background."""

    task_id: str


class CancelMessageRequest(RequestBase, frozen=True, kw_only=True, tag="cancel_async_message"):
    """Take back a prompt that still waits."""

    message_uuid: str


class McpMessageRequest(RequestBase, frozen=True, kw_only=True, tag="mcp_message"):
    """A JSON-RPC message for a server that lives in the program, answered by `mcp_response`; or, from the program, one
    that such a server sends by itself."""

    server_name: str
    message: Json


ProgramRequest = (
    InitializeRequest
    | InterruptRequest
    | SetPermissionModeRequest
    | SetModelRequest
    | SetThinkingRequest
    | McpStatusRequest
    | McpReconnectRequest
    | McpToggleRequest
    | McpMessageRequest
    | ContextUsageRequest
    | RewindFilesRequest
    | StopTaskRequest
    | CancelMessageRequest
)
"""What a program may ask of clew."""


class RuleValue(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A permission rule in two pieces: `Bash(git diff *)` is `Bash` and `git diff *`."""

    tool_name: str
    rule_content: str | None = None


class PermissionUpdate(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A change of permissions: offered with a question, or wanted with its answer."""

    type: str
    rules: tuple[RuleValue, ...] | None = None
    behavior: str | None = None
    mode: str | None = None
    directories: tuple[str, ...] | None = None
    destination: str | None = None


class PermissionRequest(RequestBase, frozen=True, kw_only=True, tag="can_use_tool"):
    """A call waits for whoever the program stands for."""

    tool_name: str
    input: Json
    tool_use_id: str
    permission_suggestions: tuple[PermissionUpdate, ...] | None = None
    blocked_path: str | None = None
    decision_reason: str | None = None
    title: str | None = None
    display_name: str | None = None
    description: str | None = None
    agent_id: str | None = None


class HookCallbackRequest(RequestBase, frozen=True, kw_only=True, tag="hook_callback"):
    """A callback that the program registered is due."""

    callback_id: str
    input: Json = field(default_factory=Json)
    tool_use_id: str | None = None


class ElicitationRequest(RequestBase, frozen=True, kw_only=True, tag="elicitation"):
    """A server asks for values, or to go to an address. The answer: `{"action": "accept", "content": {...}}`, or
    another action."""

    mcp_server_name: str
    message: str
    mode: Literal["form", "url"] = "form"
    url: str | None = None
    requested_schema: Json | None = None


class ElicitationReply(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the program says to it."""

    action: ElicitationAction
    content: Json | None = None


ClewRequest = PermissionRequest | HookCallbackRequest | ElicitationRequest | McpMessageRequest
"""What clew asks of a program."""


class AllowAnswer(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag="allow", tag_field="behavior", rename="camel"
):
    """The call may run, perhaps with other input."""

    updated_input: Json | None = None
    updated_permissions: tuple[PermissionUpdate, ...] | None = None


class DenyAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="deny", tag_field="behavior"):
    """It may not; `interrupt` ends the turn as well."""

    message: str = ""
    interrupt: bool = False


PermissionAnswer = AllowAnswer | DenyAnswer
