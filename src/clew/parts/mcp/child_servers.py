"""The MCP servers of child agents: those that a definition brings, and those of the session that it names."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from clew.agents.runner import AgentSpec
from clew.agents.toolbox import is_chosen
from clew.engine.middleware.base import Middleware
from clew.engine.ports import CallChange, CallHook
from clew.engine.turn import Turn, TurnStopped
from clew.host.part import PartSession, PartSetup
from clew.mcp.definitions import ServerDefinition, shape_of
from clew.mcp.server import McpServer
from clew.mcp.servers import McpServers
from clew.mcp.tools import McpTool
from clew.protocol.event_kinds.programs import McpState
from clew.protocol.events import Event, Notice
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.messages import ToolCallPart
from clew.system.sandbox.plan import SandboxPlan
from clew.tools.base import Tool, ToolResult
from clew.tools.deferred.told_tools import told_spec

if TYPE_CHECKING:
    from clew.agents.child_run import ChildRun
    from clew.agents.definitions.definition import AgentDefinition

WAIT_S = 30.0
"""How long the first request of a child waits for its servers."""
OUT: frozenset[McpState] = frozenset({"off", "unapproved", "untrusted"})
"""How a server stands that will not come by itself."""


class ServedChild(Struct, frozen=True, kw_only=True):
    """A child that has begun, what defines it, and the digests that its servers have now."""

    run: "ChildRun"
    definition: "AgentDefinition"
    servers: tuple[ServerDefinition, ...]


class ChildServers(Middleware):
    """Of one run of a child. Servers of its own are connected before its first request and end with it."""

    stage = 1

    def __init__(
        self,
        child: Callable[[], ServedChild | None],
        servers: Callable[[], McpServers],
        tell: Callable[[Event], None],
    ) -> None:
        """`child`: None where its definition names no server. `servers`: the session's. `tell`: a person."""
        self._child = child
        self._servers = servers
        self._tell = tell
        self._begun = False
        self._own: list[McpServer] = []

    async def before(self, call: ToolCallPart, tool: Tool[Any]) -> CallChange | None:
        """Nothing is changed."""
        return None

    @asynccontextmanager
    async def around(self, call: ToolCallPart, tool: Tool[Any]) -> AsyncGenerator[None]:
        """Nothing is kept."""
        yield

    async def after(self, call: ToolCallPart, tool: Tool[Any], result: ToolResult) -> ToolResult:
        """Nothing is changed."""
        return result

    def stopped(self, call: ToolCallPart, result: ToolResult) -> ToolResult:
        """Nothing is added."""
        return result

    def before_step(self, turn: Turn) -> AsyncGenerator[Event] | None:
        """Connect, once, before the first request."""
        if self._begun:
            return None
        self._begun = True
        child = self._child()
        return self._connected(child, turn) if child is not None else None

    async def _connected(self, child: ServedChild, turn: Turn) -> AsyncGenerator[Event]:
        definition = child.definition
        shared = self._servers()
        self._own = [self._made(one, child, shared) for one in child.servers]
        for server in self._own:
            server.start()
        wanted = dict.fromkeys((*definition.brought.named, *definition.needs_servers))
        known = [shared.servers[name] for name in wanted if name in shared.servers]
        if known:
            shared.begin()
        waiting = [asyncio.ensure_future(server.settled()) for server in (*self._own, *known)]
        if waiting:
            _, late = await asyncio.wait(waiting, timeout=WAIT_S)
            for task in late:
                task.cancel()
        for server in (*self._own, *known):
            self._give(server, child, told=True)
        standing = {server.name: server.standing for server in (*self._own, *known) if server.state != "ready"}
        standing |= {name: "no server of that name is defined here" for name in wanted if name not in shared.servers}
        missing = [name for name in definition.needs_servers if name in standing]
        if missing:
            words = ", ".join(f"{name}: {standing[name]}" for name in missing)
            raise TurnStopped("not_sent", f"it needs MCP servers that are not there ({words})")
        for name, words in standing.items():
            text = f"the agent {definition.name} works without its MCP server {name}: {words}"
            self._tell(Notice(level="warning", text=text, code="mcp"))
            yield turn.accept(f"[Your MCP server {name} is not there: {words}. Go on without it.]")

    def _made(self, one: ServerDefinition, child: ServedChild, shared: McpServers) -> McpServer:
        """Held by the child's own sandbox, in its own directory."""
        tools = child.run.body.tools.session

        def plan(needs: Any) -> SandboxPlan | None:
            if tools.sandbox is None or not tools.sandbox.enforced:
                return None
            return tools.sandbox.plan(tools.roots, background=True, needs=needs)

        return McpServer(
            one,
            replace(shared.around, roots=lambda: tools.roots, plan=plan),
            shared.sdk,
            lambda server: self._give(server, child, told=False),
            lambda line: self._tell(Notice(level="warning", text=line, code="mcp")),
            may_run=lambda definition: shared.approvals.may_run(definition, shared.places.root),
        )

    def _give(self, server: McpServer, child: ServedChild, *, told: bool) -> None:
        """The tools of a server are the child's, as far as its definition has them; those that are gone are not."""
        tools, definition = child.run.body.tools.tools, child.definition
        names = definition.tools if _names_some(definition, server.name) else None
        wanted: dict[str, McpTool] = {
            tool.name: tool for tool in server.tools if is_chosen(tool.name, names, definition.without)
        }
        for name in [tool.name for tool in tools if tool.source == server.name and wanted.get(tool.name) is not tool]:
            tools.remove(name)
        for name, tool in wanted.items():
            if tools.find(name) is None:
                tools.add(tool)
        if told:
            tools.tell(told_spec(tool.spec()) for tool in sorted(wanted.values(), key=lambda one: one.name))

    async def close(self) -> None:
        """The child has ended: so do the servers of its own."""
        await asyncio.gather(*(server.stop() for server in self._own))


def _names_some(definition: "AgentDefinition", server: str) -> bool:
    """Whether the definition chooses among the tools of a server; else it has all of them."""
    return any(name.startswith(f"mcp__{server}__") for name in definition.tools or ())


class AgentServers:
    """One per session: who of its children has servers of its own, and what keeps a child from being started."""

    def __init__(self, setup: PartSetup, servers: Callable[[], McpServers], tell: Callable[[Event], None]) -> None:
        """`servers`: the session's, made when they are first needed."""
        self._setup = setup
        self._servers = servers
        self._tell = tell
        self._own: PartSession | None = None
        self._of_children: dict[AgentId, ChildServers] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def start(self, own: PartSession) -> None:
        """Belong to a session."""
        self._own = own

    def call_hook(self, agent: AgentId) -> CallHook | None:
        """What connects the servers of a child before its first request; None: no kind of agent has any."""
        if agent == MAIN_AGENT or not any("servers" in spec.brings for spec in self._setup.kinds().specs()):
            return None
        made = self._of_children[agent] = ChildServers(lambda: self._served(agent), self._servers, self._tell)
        return made

    def _served(self, agent: AgentId) -> ServedChild | None:
        """A child whose definition has servers."""
        run = self._own.agents.children.run(agent) if self._own is not None else None
        if run is None or "servers" not in run.spec.brings:
            return None
        kinds = self._setup.kinds()
        definition = kinds.definition(run.spec.kind)
        own = tuple(one for one in kinds.servers() if one.agent == definition.name)
        return ServedChild(run=run, definition=definition, servers=own)

    def objection(self, spec: AgentSpec) -> str:
        """Why a child of this kind is not started, and what to do; empty: there is no reason."""
        if "servers" not in spec.brings:
            return ""
        servers = self._servers()
        servers.brought = self._setup.kinds().servers()
        own = [one for one in servers.brought if one.agent == spec.kind]
        if left := [one for one in own if servers.standing(one) != "waiting"]:
            listed = "; ".join(f"{one.name}: {shape_of(one)}" for one in left)
            words = f"its definition ({spec.source}) brings MCP servers that nobody approved: {listed}"
            return f"{words}. The user can look at them and approve them: clew mcp approve, or /mcp"
        there = {one.name for one in own} | {name for name, one in servers.servers.items() if one.state not in OUT}
        missing = [name for name in spec.needs_servers if name not in there]
        return f"it needs the MCP server {missing[0]}, which is not there (/mcp, clew mcp list)" if missing else ""

    def ended(self, agent: AgentId) -> None:
        """A child has ended: so do the servers of its own."""
        if (one := self._of_children.pop(agent, None)) is not None:
            self._ending.add(task := asyncio.create_task(one.close()))
            task.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """The session ends: until all of them have."""
        await asyncio.gather(*(one.close() for one in self._of_children.values()), *self._ending)
