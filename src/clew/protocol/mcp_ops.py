"""Ops about MCP servers."""

from typing import Any

from msgspec import field

from clew.protocol.ids import RequestId
from clew.protocol.op_base import OpBase


class ListMcp(OpBase, frozen=True, kw_only=True, tag="mcp.list"):
    """Ask which MCP servers there are; answered by McpServersListed."""


class ApproveMcp(OpBase, frozen=True, kw_only=True, tag="mcp.approve"):
    """Let servers with exactly these digests run from now on; or, with `approved` false, no longer. Only ever sent for
    a person. Answered by McpServersListed."""

    digests: tuple[str, ...]
    approved: bool = True


class ReconnectMcp(OpBase, frozen=True, kw_only=True, tag="mcp.reconnect"):
    """End the connection to a server, if there is one, and connect again. Answered by McpServersListed."""

    server: str


class ToggleMcp(OpBase, frozen=True, kw_only=True, tag="mcp.toggle"):
    """Switch a server off or on, in this project, until it is switched back. Answered by McpServersListed."""

    server: str
    enabled: bool


class LogInMcp(OpBase, frozen=True, kw_only=True, tag="mcp.log_in"):
    """Sign in to a server. Where to go is asked by an ElicitationRequested with an address; what came of it is a
    Notice. Only ever sent for a person."""

    server: str


class LogOutMcp(OpBase, frozen=True, kw_only=True, tag="mcp.log_out"):
    """Forget the login of a server. Answered by McpServersListed."""

    server: str


class AnswerMcpMessage(OpBase, frozen=True, kw_only=True, tag="mcp.message_answer"):
    """What a server in the program says to a message; `error`: why there is no answer."""

    request_id: RequestId
    message: dict[str, Any] = field(default_factory=dict[str, Any])
    error: str = ""


class DeliverMcpMessage(OpBase, frozen=True, kw_only=True, tag="mcp.message_deliver"):
    """A message that a server in the program sends by itself."""

    server: str
    message: dict[str, Any]


McpOp = ListMcp | ApproveMcp | ReconnectMcp | ToggleMcp | LogInMcp | LogOutMcp
