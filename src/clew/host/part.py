"""What users bring to a session: tools, words for the prompt, ops and what runs beside it, each from its own room."""

from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from clew.agents.toolbox import AgentTools
from clew.engine.agent import Agent
from clew.engine.middleware.base import Middleware
from clew.engine.middleware.reminders import Reminders
from clew.engine.turn import Content, Expand
from clew.host.past import Past
from clew.host.refusal import OpRefused
from clew.host.request import SessionRequest
from clew.host.room import Effect
from clew.host.session import Session
from clew.host.workspace import Workspace
from clew.llm.model import Model
from clew.protocol.events import SessionStarted
from clew.protocol.invocables import InvocableRow
from clew.protocol.lookup_base import Answer, Lookup
from clew.protocol.ops import Op
from clew.tools.base import Tool
from clew.tools.late_tools import LateTools

if TYPE_CHECKING:
    from clew.protocol.lookups.place import CheckRow


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
    toolbox: AgentTools
    agent: Agent
    reminders: Reminders


Changed = Callable[[], None]
Answerer = Callable[[Any], Coroutine[Any, Any, Answer]]
Answerers = Mapping[type[Lookup[Any]], Answerer]
"""Lookups and the functions that answer them."""


def nobody() -> None:
    """Nobody is told yet."""


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
    warnings: tuple[str, ...] = ()
    """What is wrong, and does not keep the session from starting."""
    ops: tuple[type[Op], ...] = ()
    """The ops that `understood` answers."""
    unread: str = ""
    """Why a name that somebody uses may be unknown; empty: nothing is kept from being one."""
    names_changed: Changed = staticmethod(nobody)
    """To be called when `invocables` answers something else than before; set before `attach`."""

    @property
    def name_problems(self) -> tuple[str, ...]:
        """What kept a name from being there, a line each."""
        return ()

    def refresh(self) -> None:
        """Look again: a name is about to be used, or all are listed."""

    def invocables(self) -> tuple[InvocableRow, ...]:
        """The slash names it brings, now. Nothing may be waited for."""
        return ()

    def may_bring(self, name: str) -> bool:
        """Whether a name that is not there may still come, from somebody who is connecting."""
        return False

    async def names_settled(self) -> None:
        """Wait until whoever may still bring names has told them, but not for ever."""

    def choose_skills(self, names: tuple[str, ...]) -> None:
        """Only these are for the model."""

    def expansion(self, row: InvocableRow, arguments: str) -> Expand:
        """What makes one of these names into words for the model, in the turn that it joins. Raises OpRefused for what
        is wrong already."""
        raise OpRefused("this is not built yet")

    def mentioned(self, content: Content) -> Expand | None:
        """What is to be read for the things of its own that a prompt names with an @; None: it names none."""
        return None

    def found(self, query: str) -> tuple[str, ...]:
        """What could be named so, for whoever types an @ and this. Nothing may be waited for."""
        return ()

    def introduced(self, started: SessionStarted) -> SessionStarted:
        """What a front end that joins is told first, with what is to be said of this."""
        return started

    def attach(self, joined: Joined) -> None:
        """Belong to a session. Nothing here may wait: the first prompt is near."""

    def checks(self) -> "tuple[CheckRow, ...]":
        """What `/doctor` should know of it."""
        return ()

    def lookups(self) -> Answerers:
        """The lookups it answers, each with the function that does; these raise OpRefused."""
        return {}

    async def understood(self, op: Op) -> Effect:
        """What one of its ops means. Raises OpRefused."""
        raise OpRefused("this is not built yet")


def brought_to(place: Place) -> tuple[Brought, ...]:
    """All of them, in the order in which a model is told. A room is loaded only where there is something of it."""
    from clew.parts.mcp.part import McpParts  # they are made of what is defined here
    from clew.parts.plan.part import Planning
    from clew.parts.skills.part import SkillPart
    from clew.parts.tasks.part import TaskPart

    skills: list[Brought] = [] if place.request.bare else [SkillPart(place)]
    found: list[Brought] = [*skills, McpParts(place), Planning(place), TaskPart()]
    lsp = place.workspace.settings.lsp.mode
    if place.workspace.trusted and (lsp == "on" or (lsp == "auto" and not place.request.headless)):
        from clew.parts.language_servers.part import LanguageServers

        found.append(LanguageServers(place))
    memory = place.workspace.settings.memory
    if memory.enabled and memory.auto == "suggest":
        from clew.parts.memory.suggestions import Remembering

        found.append(Remembering(place))
    return tuple(found)
