"""What users bring to a session: tools, words for the prompt, ops and what runs beside it, each from its own room."""

from typing import Any

from msgspec import Struct

from clew.engine.agent import Agent
from clew.engine.middleware.base import Middleware
from clew.engine.middleware.reminders import Reminders
from clew.host.past import Past
from clew.host.refusal import OpRefused
from clew.host.request import SessionRequest
from clew.host.room import Effect
from clew.host.session import Session
from clew.host.toolbox import Toolbox
from clew.host.workspace import Workspace
from clew.llm.model import Model
from clew.protocol.events import SessionStarted
from clew.protocol.ops import Op
from clew.tools.base import Tool
from clew.tools.late_tools import LateTools


class Place(Struct, frozen=True, kw_only=True):
    """What is known before a session is put together."""

    request: SessionRequest
    workspace: Workspace
    past: Past
    model: Model
    offered: set[str]
    """The digests of what a person was asked about in this process; it is not offered again."""


class Joined(Struct, frozen=True, kw_only=True):
    """The session that it was brought to."""

    session: Session
    toolbox: Toolbox
    agent: Agent
    reminders: Reminders


class Brought:
    """One thing: made before the session, which it learns of by `attach`. Subclasses say what is theirs.

    What must end with the session is appended to `session.beside` or `session.on_leave`.
    """

    tools: tuple[Tool[Any], ...] = ()
    """In the array from the first request on, as long as the session lives. What comes later is added to the ToolSet
    and is deferred."""
    late: LateTools | None = None
    """Who brings tools later. Not None means that some may come: then the model can search for tools."""
    middlewares: tuple[Middleware, ...] = ()
    words: str = ""
    """A block of the system prompt: the same bytes for the whole session."""
    notes: tuple[str, ...] = ()
    """What a person should know before it starts."""
    ops: tuple[type[Op], ...] = ()
    """The ops that `understood` answers."""

    def introduced(self, started: SessionStarted) -> SessionStarted:
        """What a front end that joins is told first, with what is to be said of this."""
        return started

    def attach(self, joined: Joined) -> None:
        """Belong to a session. Nothing here may wait: the first prompt is near."""

    async def understood(self, op: Op) -> Effect:
        """What one of its ops means. Raises OpRefused."""
        raise OpRefused("this is not built yet")


def brought_to(place: Place) -> tuple[Brought, ...]:
    """All of them, in the order in which a model is told. A room is loaded only where there is something of it."""
    from clew.host.mcp_parts import McpParts  # it is made of the classes above

    return (McpParts(place),)
