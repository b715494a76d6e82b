"""Which MCP servers there are, and what a person wants of one."""

from typing import Any, ClassVar, Literal

from clew.protocol.base import Rights
from clew.protocol.event_kinds.programs import McpKind, McpScope, McpServerRow
from clew.protocol.lookups.base import Answer, Lookup


class McpServersListed(Answer, frozen=True, kw_only=True, tag="mcp.listed"):
    """All servers."""

    servers: tuple[McpServerRow, ...]
    problems: tuple[str, ...] = ()
    """Definitions that could not be understood, a line each."""
    notes: tuple[str, ...] = ()
    """What is no mistake and should be known: a server that another one stands in place of."""
    approved: tuple[str, ...] = ()
    """The digests of the project's servers that a person let run, switched off or not."""


class ListMcp(Lookup[McpServersListed], frozen=True, kw_only=True, tag="mcp.list"):
    """Ask which MCP servers there are."""

    server: str = ""
    """Only this one is listed; empty: all."""
    connect: bool = True
    """Servers that may run are connected, and how they are is told; without it nothing is started for the question."""


class ApproveMcp(Lookup[McpServersListed], frozen=True, kw_only=True, tag="mcp.approve"):
    """Let servers with exactly these digests run from now on; or, with `approved` false, no longer. Only ever sent for
    a person. Answered by McpServersListed."""

    needs: ClassVar[Rights] = Rights.DRIVE

    digests: tuple[str, ...]
    approved: bool = True


class ReconnectMcp(Lookup[McpServersListed], frozen=True, kw_only=True, tag="mcp.reconnect"):
    """End the connection to a server, if there is one, and connect again. Answered by McpServersListed."""

    needs: ClassVar[Rights] = Rights.DRIVE

    server: str


class ToggleMcp(Lookup[McpServersListed], frozen=True, kw_only=True, tag="mcp.toggle"):
    """Switch a server off or on, in this project, until it is switched back. Answered by McpServersListed."""

    needs: ClassVar[Rights] = Rights.DRIVE

    server: str
    enabled: bool


class McpDefined(Answer, frozen=True, kw_only=True, tag="mcp.defined"):
    """A server was written into a file, or taken out of it."""

    server: str
    scope: McpScope
    path: str
    removed: bool = False
    kind: McpKind = "stdio"
    shape: str = ""
    """What would run or be connected to, for people to look at; untrusted."""
    needs_approval: bool = False
    notes: tuple[str, ...] = ()
    """What of the definition does nothing, a line each."""


class DefineMcp(Lookup[McpDefined], frozen=True, kw_only=True, tag="mcp.define"):
    """Write a server down, or take one out. Nothing is started. Only ever sent for a person."""

    needs: ClassVar[Rights] = Rights.DRIVE

    server: str
    definition: dict[str, Any] | None
    """As in a file of servers; None: take it out, unless there is a text."""
    text: str = ""
    """The definition as a person wrote it, in JSON."""
    scope: Literal["", "local", "project", "user"] = ""
    """Whose file; empty: the local one, or for a server that is taken out the only one that holds it."""


class McpLogin(Answer, frozen=True, kw_only=True, tag="mcp.login"):
    """How a login stands. Answered by `BeginMcpLogin`, `OfferMcpAddress` and `AwaitMcpLogin`."""

    server: str
    url: str
    """Of the server."""
    open_url: str = ""
    """Where a person has to go in a browser; empty: nowhere, the login is over."""
    ended: bool = False
    tools: int | None = None
    """How many tools the server offers to who is signed in; None: it lets us in without a login."""
    failed: str = ""
    """Why nobody is signed in."""
    taken: bool = False
    """The address that was offered ends this login."""


class BeginMcpLogin(Lookup[McpLogin], frozen=True, kw_only=True, tag="mcp.login.begin"):
    """Begin to sign in to an HTTP server; answered when there is an address to go to, or when it is over. One login
    of a server at a time."""

    needs: ClassVar[Rights] = Rights.DRIVE

    server: str


class OfferMcpAddress(Lookup[McpLogin], frozen=True, kw_only=True, tag="mcp.login.offer"):
    """Hand in the address that a browser of another machine ended at. `repr` tells nothing of it."""

    needs: ClassVar[Rights] = Rights.DRIVE

    server: str
    address: str

    def __repr__(self) -> str:
        return f"OfferMcpAddress({self.server})"


class AwaitMcpLogin(Lookup[McpLogin], frozen=True, kw_only=True, tag="mcp.login.await"):
    """Wait until a login that was begun is over."""

    needs: ClassVar[Rights] = Rights.DRIVE

    server: str


class McpLoginForgotten(Answer, frozen=True, kw_only=True, tag="mcp.login.forgotten"):
    """Nobody is signed in to a server any more."""

    server: str
    there_was: bool
    """Somebody was."""


class ForgetMcpLogin(Lookup[McpLoginForgotten], frozen=True, kw_only=True, tag="mcp.login.forget"):
    """Forget the login of a server."""

    needs: ClassVar[Rights] = Rights.DRIVE

    server: str
