"""What lies between a server and the rest of clew, without the SDK: what it offers, what a call came to, and asks."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Literal, Protocol

from msgspec import Struct

from clew.mcp.definitions import ServerDefinition
from clew.protocol.messages import ResultContent
from clew.system.sandbox.plan import SandboxPlan

Listing = Literal["tools", "prompts", "resources"]


class OfferedTool(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One tool in the words of its server: untrusted."""

    name: str
    description: str = ""
    schema: dict[str, Any] = {}
    title: str = ""
    annotations: tuple[str, ...] = ()
    """What the server says of it, such as `read-only`; shown, never believed."""


class CallOutcome(Struct, frozen=True, kw_only=True):
    """What a call came to."""

    text: str
    media: tuple[ResultContent, ...] = ()
    is_error: bool = False


class ServerFacts(Struct, frozen=True, kw_only=True):
    """What a server said of itself when it was connected."""

    title: str = ""
    version: str = ""
    protocol: str = ""
    instructions: str = ""
    """Its words for a model: untrusted, bounded."""
    offers: frozenset[Listing] = frozenset()


class ServerError(Exception):
    """A server could not be reached, or does not do what was asked; the words are for a person.

    HopelessServer: trying again would not help.
      NeedsAuth: somebody has to sign in first.
    ConnectionLost: it went away while it was asked.
    """


class HopelessServer(ServerError):
    """Trying again would not help."""


class NeedsAuth(HopelessServer):
    """Somebody has to sign in first."""


class ConnectionLost(ServerError):
    """It went away while it was asked."""


class ServerConnection(Protocol):
    """A server that answers. Every method raises ServerError."""

    facts: ServerFacts
    closed: asyncio.Event
    """The server went away."""
    client: Any
    """The SDK's own client (`mcp.Client`), for what has no method here."""

    async def tools(self) -> tuple[OfferedTool, ...]:
        """All its tools."""
        ...

    async def call(
        self, tool: str, arguments: Mapping[str, Any], *, progress: Callable[[str], None], limit_s: float
    ) -> CallOutcome:
        """Call a tool. Cancelled: the server is told, nobody waits for it, and a late answer is dropped."""
        ...

    async def ask(self, request: Callable[[Any], Awaitable[Any]], *, limit_s: float = 60.0) -> Any:
        """Anything else of the SDK's client: `ask(lambda client: client.list_prompts())`."""
        ...


class Surroundings(Struct, frozen=True, kw_only=True):
    """What every server of a session gets."""

    root: Path
    """Where programs run."""
    env: Mapping[str, str]
    """The user's, for `${VAR}`."""
    child_env: Mapping[str, str]
    """What programs get before their definition adds to it: no keys of providers."""
    roots: Callable[[], tuple[str, ...]]
    """Where the user lets the agent work, when a server asks."""
    log: Callable[[str, str], None] = lambda server, line: None
    """A line for the debug log."""
    elicit: "Callable[[str, Any], Awaitable[Any]] | None" = None
    """A server asks a person: its name and the SDK's `ElicitRequestParams`; answers with `ElicitResult`. None: such
    asks are refused, and servers are told so from the beginning."""
    sign_in: "Callable[[ServerDefinition], Any] | None" = None
    """The `httpx2.Auth` for an HTTP server; None, or an answer of None: requests go with its headers alone."""
    plan: "Callable[[Sequence[str]], SandboxPlan | None] | None" = None
    """How the sandbox holds a program that needs these files; None, or an answer of None: there is no sandbox."""
    in_process: "Callable[[ServerDefinition], Any] | None" = None
    """The SDK's `Transport` for a server of kind `sdk`."""


Heard = Callable[[Listing], None]
"""A server says that one of its lists changed."""
Open = Callable[[ServerDefinition, Surroundings, Heard], AbstractAsyncContextManager[ServerConnection]]
"""Connect to a server whose definition is expanded. Entering and leaving raise ServerError."""
