"""Ops about programs that users bring: hooks and MCP servers."""

from typing import Any, ClassVar

from msgspec import Struct, field

from clew.protocol.base import EventBase, OpBase
from clew.protocol.event_kinds.words import Notice
from clew.protocol.ids import RequestId


class LogInMcp(OpBase, frozen=True, kw_only=True, tag="mcp.log_in"):
    """Sign in to a server. Where to go is asked by an ElicitationRequested with an address; what came of it is a
    Notice. Only ever sent for a person."""

    ends_with: ClassVar[tuple[type[EventBase], ...]] = (Notice,)

    server: str


class LogOutMcp(OpBase, frozen=True, kw_only=True, tag="mcp.log_out"):
    """Forget the login of a server. Answered by McpServersListed."""

    ends_with: ClassVar[tuple[type[EventBase], ...]] = (Notice,)

    server: str


class AddMcpServers(OpBase, frozen=True, kw_only=True, tag="mcp.servers_add"):
    """The program that drives the session holds these servers; they are reached by `McpMessageSent`. Before the first
    turn their tools are told to the model with its first request."""

    names: tuple[str, ...]


class AnswerMcpMessage(OpBase, frozen=True, kw_only=True, tag="mcp.message_answer"):
    """What a server in the program says to a message; `error`: why there is no answer."""

    request_id: RequestId
    message: dict[str, Any] = field(default_factory=dict[str, Any])
    error: str = ""


class DeliverMcpMessage(OpBase, frozen=True, kw_only=True, tag="mcp.message_deliver"):
    """A message that a server in the program sends by itself."""

    server: str
    message: dict[str, Any]


McpOp = LogInMcp | LogOutMcp


class CallbackHook(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A hook that lives in the program that drives this session."""

    callback_id: str
    moment: str
    matcher: str = ""
    timeout_s: float = 60.0
    blocks_on_failure: bool = False
    """A callback that fails counts as a no, where a no is possible."""


class RegisterHooks(OpBase, frozen=True, kw_only=True, tag="hooks.register"):
    """Call these callbacks from now on, in place of those registered before."""

    hooks: tuple[CallbackHook, ...] = ()


class AnswerHookCall(OpBase, frozen=True, kw_only=True, tag="hook.answer"):
    """What a callback said to a HookCalled, or how it failed."""

    request_id: RequestId
    output: dict[str, Any] = field(default_factory=dict[str, Any])
    error: str = ""
