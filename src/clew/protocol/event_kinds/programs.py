"""Events about programs that users bring: hooks and MCP servers, how they stand, and which wait for a person's word."""

from typing import Any, Literal

from msgspec import Struct, field

from clew.protocol.base import LiveEvent
from clew.protocol.ids import CallId, RequestId

McpScope = Literal["given", "local", "project", "user", "sdk"]
"""Where a server is written: `--mcp-config`, the user's own file for this project, the project's `.mcp.json`, the
user's file for all projects; or it lives in the program that drives this session. The nearer one wins."""

McpKind = Literal["stdio", "http", "sse", "sdk"]

McpState = Literal["unapproved", "untrusted", "off", "waiting", "connecting", "ready", "failed", "needs_auth"]
"""`waiting`: not begun yet; servers are connected beside the conversation, after its first request left."""


class McpServerRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One server, as people decide about it."""

    name: str
    scope: McpScope
    kind: McpKind
    state: McpState
    source: str
    """The file that defines it."""
    shape: str = ""
    """What would run, or the address, as it is written: variables stay variables."""
    variables: tuple[str, ...] = ()
    """The variables of the user's environment that it would get, each with whether it is set; never their values."""
    digest: str = ""
    """Of its definition and of the project files that it names; what is approved is exactly this."""
    detail: str = ""
    """Why it failed, or what is done about it."""
    tools: tuple[str, ...] = ()
    """The names of its tools, without their prefix."""
    prompts: int = 0
    resources: int = 0
    version: str = ""
    """What the server calls itself."""


class McpServersChanged(LiveEvent, frozen=True, kw_only=True, tag="mcp.changed"):
    """How the servers stand now: all of them, whenever one of them changes."""

    servers: tuple[McpServerRow, ...]


class McpMessageSent(LiveEvent, frozen=True, kw_only=True, tag="mcp.message"):
    """A message for a server that lives in the program which drives this session. Answer with `AnswerMcpMessage` and
    this id."""

    request_id: RequestId
    server: str
    message: dict[str, Any]
    """JSON-RPC."""


class McpMessageWithdrawn(LiveEvent, frozen=True, kw_only=True, tag="mcp.message_withdrawn"):
    """Nobody waits for the answer to this message any more."""

    request_id: RequestId


class McpServersOffered(LiveEvent, frozen=True, kw_only=True, tag="mcp.offered"):
    """Servers of the project that are not approved: they do not run until `ApproveMcp` names them."""

    servers: tuple[McpServerRow, ...]


HookScope = Literal["user", "given", "project", "local", "claude_user", "claude_project", "claude_local", "client"]
"""Where a hook is written: the user's settings, `--settings`, the project's two files, the three of Claude Code; or it
is a callback of the program that drives this session."""

HookState = Literal["approved", "unapproved", "untrusted"]


class HookRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One hook, as people decide about it."""

    digest: str
    """Of its definition and of the project files that its command names; what is approved is exactly this."""
    moment: str
    matcher: str
    command: str
    source: str
    """The file that holds it."""
    scope: HookScope
    state: HookState
    timeout_s: float = 60.0
    sandbox: bool = True
    """False: it wants to run outside the sandbox."""
    agent: str = ""
    """The kind of agent whose definition brings it, and about whose calls alone it is asked; empty: all agents."""


class HooksOffered(LiveEvent, frozen=True, kw_only=True, tag="hooks.offered"):
    """Hooks that were found and are not approved: they do not run until `ApproveHooks` names them."""

    hooks: tuple[HookRow, ...]


class HooksChanged(LiveEvent, frozen=True, kw_only=True, tag="hooks.changed"):
    """A person approved hooks, or took that back: all hooks as they are now."""

    hooks: tuple[HookRow, ...]


class HookAwaited(LiveEvent, frozen=True, kw_only=True, tag="hook.awaited"):
    """A hook takes its time, and something waits for it. HookRan follows."""

    hook: str
    moment: str


class HookRan(LiveEvent, frozen=True, kw_only=True, tag="hook.ran"):
    """A hook of the user ran."""

    hook: str
    moment: str
    outcome: Literal["ok", "blocked", "failed", "timed_out"]
    detail: str = ""
    duration_ms: int = 0


class HookCalled(LiveEvent, frozen=True, kw_only=True, tag="hook.called"):
    """A callback hook is due. Answer with `AnswerHookCall` and this id; the moment waits for it until its timeout."""

    request_id: RequestId
    callback_id: str
    input: dict[str, Any] = field(default_factory=dict[str, Any])
    call_id: CallId | None = None


class HookCallWithdrawn(LiveEvent, frozen=True, kw_only=True, tag="hook.withdrawn"):
    """Nobody waits for this callback's answer any more."""

    request_id: RequestId
