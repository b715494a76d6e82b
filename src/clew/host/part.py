"""The plug of a capability: a `Part` is made before the session, belongs to it, and says what it brings.

Parts are listed once, in order, in `assembly/parts.py`. They never import each other: they meet through ops, lookups,
call hooks and what this class says.
"""

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from clew.agents.factory import AgentFactory
from clew.agents.runner import AgentSpec
from clew.agents.toolbox import AgentTools
from clew.engine.agent import Agent
from clew.engine.gate import PendingAnswers
from clew.engine.middleware.base import Middleware
from clew.engine.middleware.reminders import Reminders
from clew.engine.ports import CallHook
from clew.engine.turn import Content, Expand, Prompt, PromptWord
from clew.host.past import Past
from clew.host.request import SessionRequest
from clew.host.workspace import Workspace
from clew.llm.model import Model
from clew.protocol.events import Event, SessionRow, SessionStarted
from clew.protocol.ids import AgentId
from clew.protocol.invocables import InvocableRow
from clew.protocol.lookups.base import Answer, Lookup
from clew.protocol.meant_calls import ToolSpec
from clew.protocol.ops import AnswerOp, Op, OpBase
from clew.tools.base import Tool, WorkPort
from clew.tools.toolset import LateTools, ToolSet

if TYPE_CHECKING:
    from clew.agents.definitions.kinds import Kinds
    from clew.host.session import EndReason, Session
    from clew.protocol.lookups.place import CheckRow

Effect = Callable[[], Awaitable[None] | None]
"""What an op does once it was understood and accepted."""
OpHandlers = Mapping[type[OpBase], Callable[[Any], Coroutine[Any, Any, Effect]]]
"""Ops and the functions that check them. These return what the op does, or raise OpRefused."""
Answerers = Mapping[type[Lookup[Any]], Callable[[Any], Coroutine[Any, Any, Answer]]]
"""Lookups and the functions that answer them, or raise OpRefused."""


class OpRefused(Exception):
    """An op or a lookup that is not done; the words are for a person."""


class SeveralFit(Exception):
    """Several sessions are meant by what was given; a person chooses one."""

    def __init__(self, rows: tuple[SessionRow, ...]) -> None:
        super().__init__(f"{len(rows)} sessions fit")
        self.rows = rows


def too_late(pending: PendingAnswers, op: AnswerOp) -> str:
    """Why an answer is not taken: who was first, where that is known."""
    first = pending.settled_by(op.request_id)
    return f"it was answered already, by {first}" if first else "nothing waits for this answer any more"


def nothing() -> None:
    """The effect of an op that was done by being understood."""


class MoreTools(Struct, kw_only=True):
    """Tools that only some sessions have, and what belongs to them; most have none."""

    tools: tuple[Tool[Any], ...] = ()
    told: tuple[ToolSpec, ...] = ()
    """Tools that come and go, told in full."""
    middlewares: tuple[Middleware, ...] = ()
    searched: bool = False
    """Tools that come later are searched for."""

    def attach(self, tools: ToolSet) -> None:
        """The set of the session is there."""
        for tool in self.tools:
            look = getattr(tool, "look_through", None)
            if look is not None:
                look(tools)


class PartSetup(Struct, frozen=True, kw_only=True):
    """What is known before the session is put together; parts are made of it."""

    request: SessionRequest
    workspace: Workspace
    past: Past
    model: Model
    connect: Callable[[str], Model]
    """How the name of a model becomes one."""
    main: AgentSpec
    """What the main agent is: clew's own, or the kind that the conversation runs as."""
    kinds: "Callable[[], Kinds]"
    """The kinds of agents; what reads their definitions is loaded by the first call, and is one for the session."""
    log: Callable[[str], None]
    """Where a part writes what nobody needs to see."""
    offered: set[str]
    """The digests of what a person was asked about in this process; it is not offered again."""


class PartSession(Struct, frozen=True, kw_only=True):
    """The session that a part belongs to."""

    session: "Session"
    toolbox: AgentTools
    agent: Agent
    """The main one."""
    agents: AgentFactory
    reminders: Reminders
    names_changed: Callable[[], None]
    """To be called when `invocables` answers something else than before."""
    recast: Callable[[bool], tuple[str, ...]] | None = None
    """Makes the main agent a coordinator, or clew's own again: its tools are other ones then. What its requests begin
    with from now on. Raises OpRefused where it runs as an agent. None: it cannot be changed."""


class Part:
    """One capability of a session. Subclasses override what they bring; nothing here does anything by itself."""

    tools: tuple[Tool[Any], ...] = ()
    """In the array from the first request on, as long as the session lives. What comes later is added to the ToolSet
    and is deferred."""
    late: LateTools | None = None
    """Who brings tools later. Not None means that some may come: then the model can search for tools."""
    middlewares: tuple[Middleware, ...] = ()
    """What stands around the main agent's steps: by `Middleware.stage`, then in the order of the parts."""
    words: str = ""
    """A block of the system prompt: the same bytes for the whole session."""
    notes: tuple[str, ...] = ()
    """What a person should know before it starts."""
    warnings: tuple[str, ...] = ()
    """What is wrong, and does not keep the session from starting."""
    place: str = ""
    """Where the main agent works, if not in the workspace."""
    unread: str = ""
    """Why a slash name that somebody uses may be unknown; empty: nothing is kept from being one."""

    # The life of a session, in this order.

    def start(self, own: PartSession) -> None:
        """Belong to a session. Nothing here may wait: the first prompt is near."""

    def introduction(self) -> tuple[Event, ...]:
        """What the first front end is told once."""
        return ()

    def begin(self) -> None:
        """A front end listens; called for each."""

    def on(self, event: Event, agent: AgentId) -> None:
        """An agent published an event; it is on disk, and front ends were told."""

    def hurry(self) -> None:
        """An interrupt while the session closes: nothing is waited for that only says more."""

    async def stop(self) -> None:
        """End what runs beside the agents, before they are stopped, and let it be told. Parts do so in turn."""

    async def let_go(self) -> None:
        """The agents have stopped and another process takes the session over: nothing may be written any more."""

    async def leave(self, reason: "EndReason") -> None:
        """The agents have stopped and the session is about to end. All parts at once: each has its own limit, and
        whoever leaves waits for the longest of them, not for their sum."""

    async def end(self) -> None:
        """The end was told and the session is still ours."""

    # What front ends ask.

    def ops(self) -> OpHandlers:
        """The ops it takes."""
        return {}

    def lookups(self) -> Answerers:
        """The lookups it answers."""
        return {}

    def heard(self, asked: Op | Lookup[Any]) -> None:
        """A front end asked something of the session, whoever answers it."""

    def objection(self, op: Op) -> str:
        """Why an op must not be done now, whoever does it; empty: there is no reason."""
        return ""

    def introduced(self, started: SessionStarted) -> SessionStarted:
        """What a front end that joins is told first, with what is to be said of this part."""
        return started

    def farewell(self) -> str:
        """What it left on the machine for people to get at, asked after `leave`; empty: nothing."""
        return ""

    def checks(self) -> "tuple[CheckRow, ...]":
        """What `/doctor` should know of it."""
        return ()

    # What agents do.

    def deferred(self, name: str, agent: AgentId) -> Tool[Any] | None:
        """A tool of this name that the model searches for, made for this agent; None: it brings none of this name."""
        return None

    def desk(self, agent: AgentId) -> WorkPort | None:
        """The session's list of work, as TodoWrite of this agent reaches it; None: it has none for it."""
        return None

    sees_to: frozenset[str] = frozenset()
    """What of the programs that definitions of agents bring it runs: `hooks`, `servers`."""

    def child_objection(self, spec: AgentSpec) -> str:
        """Why no child of this kind may be started now, in words for the model; empty: there is no reason."""
        return ""

    def call_hook(self, agent: AgentId) -> CallHook | None:
        """What stands around this agent's calls, within the hooks of the parts before; None: nothing."""
        return None

    def look(self, prompt: Prompt) -> Coroutine[Any, Any, PromptWord] | None:
        """What it says to a prompt before that joins the conversation; None: nothing."""
        return None

    def mentioned(self, content: Content) -> Expand | None:
        """What is to be read for the things of its own that a prompt names with an @; None: it names none."""
        return None

    def found(self, query: str) -> tuple[str, ...]:
        """What could be named so, for whoever types an @ and this. Nothing may be waited for."""
        return ()

    # Slash names that users bring.

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
        raise OpRefused(f"/{row.name} is not there any more")
