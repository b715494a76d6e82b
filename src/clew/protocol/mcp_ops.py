"""Ops about MCP servers."""

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


McpOp = ListMcp | ApproveMcp | ReconnectMcp | ToggleMcp
