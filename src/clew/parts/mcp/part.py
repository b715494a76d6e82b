"""The user's MCP servers in a session: connected beside it, after its first request left; tools join and leave."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Sequence
from typing import Any

from msgspec.structs import replace

from clew.agents.runner import AgentSpec
from clew.engine.middleware.base import Middleware
from clew.engine.ports import CallHook
from clew.engine.turn import Content, Expand, Turn
from clew.host.part import Answerers, Effect, OpHandlers, OpRefused, Part, PartSession, PartSetup
from clew.host.prompt_bytes import OTHER_TOOLS, digest_of
from clew.host.session import EndReason
from clew.llm.models.connect import key_variables
from clew.mcp.ports import Surroundings
from clew.mcp.server import McpServer
from clew.mcp.servers import McpServers
from clew.mcp.tool_cache import ToolCache
from clew.parts.mcp.asks import McpAsks
from clew.parts.mcp.child_servers import AgentServers
from clew.parts.mcp.listing import CHANGED, left_out, places_at, servers_listed
from clew.parts.mcp.offers import PROMPT_PREFIX, McpOffers
from clew.parts.mcp.permission_tool import PermissionTool
from clew.protocol.events import (
    AgentEnded,
    Event,
    McpServersChanged,
    McpServersOffered,
    Notice,
    ReplyBegan,
    SessionStarted,
    StepStarted,
    ToolsChanged,
)
from clew.protocol.ids import MAIN_AGENT, AgentId
from clew.protocol.invocables import InvocableRow
from clew.protocol.lookups.mcp import ApproveMcp, ListMcp, McpServersListed, ReconnectMcp, ToggleMcp
from clew.protocol.meant_calls import SEARCH_TOOLS
from clew.protocol.ops import AddMcpServers, Op
from clew.system.debug_log import open_debug_log
from clew.system.environment import tool_environment
from clew.system.sandbox.plan import SandboxPlan
from clew.tools.base import Tool
from clew.tools.deferred.told_tools import told_spec

AFTER_REQUEST_S = 1.0
"""A reply that takes longer to begin is not waited for: the request has left."""
AFTER_PROMPT_S = 2.0
"""Where a person is about to type, servers are connected meanwhile, once the prompt is there."""


SHORT_WAIT_S = 3.0
"""How long the first request of a script waits for servers, unless `--mcp-wait` says otherwise."""
IN_PROCESS_WAIT_S = 10.0
"""How long it waits for servers that live in the program which drives the session: nothing has to be started."""
LISTED_WITHIN_S = 10.0
"""How long a list that nobody can ask for again waits for servers."""


class McpPart(Part):
    """Always there, for those who ask; what it stands for is loaded where there is a server."""

    sees_to = frozenset({"servers"})

    def __init__(self, setup: PartSetup, *, expected: bool = False, of_agents: bool = False) -> None:
        """`expected`: there may be servers, which is worth a look. `of_agents`: definitions of agents bring some."""
        self._setup = setup
        self._own: PartSession | None = None
        self._permission_tool: PermissionTool | None = None
        self._cache: ToolCache | None = None
        self._introduced = False
        self._telling = False
        self._requested = False
        """A request has left: what it names is fixed."""
        self._beginning: asyncio.TimerHandle | None = None
        self.offers = McpOffers(self._names_changed)
        self.asks = McpAsks(setup.workspace.home, driven=setup.request.driven)
        self.servers: McpServers | None = None
        self._of_agents = AgentServers(setup, self._there, self._tell)
        if expected or of_agents:
            self.servers = self._opened()
        if self.servers is not None and (expected or self.servers.servers):
            self.late = self
        request = setup.request
        self._at_once = bool(request.headless or request.mcp_config or request.mcp_wait_s)
        """The first request names the tools of servers that answer soon: nobody asks a second time in such a run."""
        if self._at_once:
            self.middlewares = (FirstWait(self, request.mcp_wait_s),)

    def start(self, own: PartSession) -> None:
        self._own = own
        self.asks.start(own.session)
        self._of_agents.start(own)
        if self.servers is not None and (name := self._setup.request.permission_tool):
            self._permission_tool = PermissionTool(name, self.servers, own.session)

    def _names_changed(self) -> None:
        if self._own is not None:
            self._own.names_changed()

    def on(self, event: Event, agent: AgentId) -> None:
        """The first request goes before any server; what a turn left open is withdrawn."""
        if self._permission_tool is not None:
            self._permission_tool.hear(event, agent)
        if isinstance(event, AgentEnded):
            self._of_agents.ended(event.child)
        if agent != MAIN_AGENT:
            return
        self.asks.hear(event)
        self._requested = self._requested or isinstance(event, StepStarted)
        if self.servers is None or self.servers.begun:
            return
        if isinstance(event, StepStarted):
            self._later(AFTER_REQUEST_S)
        elif isinstance(event, ReplyBegan):
            self._later(0)

    async def stop(self) -> None:
        """Nobody is asked any more."""
        await self.asks.stop()

    def introduced(self, started: SessionStarted) -> SessionStarted:
        return replace(started, servers=self.servers.rows()) if self.servers is not None else started

    def ops(self) -> OpHandlers:
        return dict.fromkeys(McpAsks.ops, self._understood)

    async def _understood(self, op: Op) -> Effect:
        if isinstance(op, AddMcpServers) and self._requested and not self._is_searched:
            raise OpRefused(
                "servers of a program are named before its first prompt: the model's tools are fixed by now"
            )
        servers = self.servers = self.servers or self._opened()
        return await self.asks.understood(op, servers)

    def lookups(self) -> Answerers:
        return dict.fromkeys((ListMcp, ApproveMcp, ReconnectMcp, ToggleMcp), self._listed)

    async def _listed(self, lookup: ListMcp | ApproveMcp | ReconnectMcp | ToggleMcp) -> McpServersListed:
        """Do what is wanted of a server, if anything, and list all."""
        servers = self.servers = self.servers or self._opened()
        if not isinstance(lookup, ListMcp) or lookup.connect:
            self.connect()
        try:
            match lookup:
                case ListMcp():
                    await servers.reread()
                    if lookup.connect and self._setup.request.headless:  # nobody looks again in a moment
                        await servers.settled(LISTED_WITHIN_S)
                case ApproveMcp():
                    await servers.decide(lookup.digests, approved=lookup.approved)
                case ReconnectMcp():
                    await servers.reconnect(lookup.server)
                case ToggleMcp():
                    await servers.toggle(lookup.server, enabled=lookup.enabled)
        except KeyError as error:
            if isinstance(lookup, ApproveMcp):
                raise OpRefused(CHANGED) from error
            raise OpRefused(f"there is no MCP server {error.args[0]!r}; /mcp lists those there are") from error
        except OSError as error:
            raise OpRefused(f"your decision cannot be kept: {error.strerror or error}") from error
        except ValueError as error:
            raise OpRefused(f"it may not run: {error}") from error
        return servers_listed(servers, only=lookup.server if isinstance(lookup, ListMcp) else "")

    def invocables(self) -> tuple[InvocableRow, ...]:
        """The prompts of servers."""
        return self.offers.rows()

    def may_bring(self, name: str) -> bool:
        """Whether it can be a prompt of a server."""
        return self.servers is not None and name.casefold().startswith(PROMPT_PREFIX)

    async def names_settled(self) -> None:
        """Servers connect, and tell their prompts."""
        if self.servers is not None:
            limit_s = max(LISTED_WITHIN_S, self._setup.request.mcp_wait_s or 0.0)
            self.connect()
            await self.servers.settled(limit_s)
            await self.offers.settled(limit_s)

    def expansion(self, row: InvocableRow, arguments: str) -> Expand:
        """What the server makes of its prompt."""
        assert self.servers is not None
        return self.offers.expansion(row, arguments, self.servers)

    def mentioned(self, content: Content) -> Expand | None:
        """Resources that a prompt names."""
        return self.offers.mentioned(content, self.servers) if self.servers is not None else None

    def found(self, query: str) -> tuple[str, ...]:
        """Resources that can be named."""
        return self.offers.found(query)

    def call_hook(self, agent: AgentId) -> CallHook | None:
        """What connects the servers of a child before its first request."""
        return self._of_agents.call_hook(agent)

    def child_objection(self, spec: AgentSpec) -> str:
        """An agent does not start before its servers are approved, or where one is not there that it needs."""
        words = self._of_agents.objection(spec)
        if words and self.servers is not None and not self._setup.request.headless:
            self._introduce(news_only=True)  # a person is asked about what came or changed since the session began
        return words

    def _there(self) -> McpServers:
        self.servers = self.servers or self._opened()
        return self.servers

    def connect(self) -> None:
        """Connect, if that has not begun."""
        if self.servers is not None:
            self.servers.begin()

    @property
    def _is_searched(self) -> bool:
        """Whether the model is told by a search of what servers bring: there were some when the session began."""
        found = self._own is not None and self._own.toolbox.tools.is_told(SEARCH_TOOLS)
        return found and self.late is not None

    def tell_in_full(self, names: Collection[str]) -> Event | None:
        """Where the model cannot search for tools, those of servers that a program brought are among its own from the
        first request on. What a person should know of it."""
        assert self._own is not None
        tools, log = self._own.toolbox.tools, self._own.session.journal.main
        brought = [tool for tool in tools if tool.source in names]
        if self._is_searched or not brought:
            return None

        before = log.conversation.system_prompt
        new = tools.tell(told_spec(tool.spec()) for tool in sorted(brought, key=lambda tool: tool.name))
        if not new:
            return None
        log.note_tools((*(before.told if before is not None else ()), *new), digest_of(tools.specs))
        resumed = self._setup.past.resumed
        return Notice(level="info", text=OTHER_TOOLS, code="note") if resumed else None

    # The model's tools that come later: see tools/toolset.py.

    def known_tools(self) -> tuple[Tool[Any], ...]:
        """What servers that may run offered the last time."""
        if self.servers is None:
            return ()
        cache = self.cache
        may = [one.definition for one in self.servers.servers.values() if one.state == "waiting"]
        return tuple(tool for definition in may for tool in cache.load(definition))

    def connecting(self) -> tuple[str, ...]:
        """The servers whose tools may still come."""
        return self.servers.connecting if self.servers is not None else ()

    async def wait(self, sources: Collection[str], up_to_s: float) -> None:
        """Until none of these is connecting any more, or the time is over."""
        if self.servers is not None:
            self.connect()
            await self.servers.settled(up_to_s, sources)

    @property
    def cache(self) -> ToolCache:
        """What servers offered the last time."""
        if self._cache is None:
            self._cache = ToolCache(self._setup.workspace.home)
        return self._cache

    def _opened(self) -> McpServers:
        request, place, past = self._setup.request, self._setup.workspace, self._setup.past
        keys = key_variables(place.settings.providers)
        log = open_debug_log(place.home, past.session_id, enabled=past.path is not None and place.settings.debug_log)
        return McpServers(
            places_at(place, given=request.mcp_config, strict=request.strict_mcp or request.bare),
            self.asks.around(
                Surroundings(
                    root=place.root,
                    env=place.env,
                    child_env=tool_environment(
                        place.env, key_variables=keys, keep=place.settings.tool_environment.keep
                    ),
                    roots=lambda: self._own.toolbox.session.roots if self._own is not None else (),
                    log=lambda server, line: log.write(f"mcp {server}", line),
                    plan=self._plan,
                )
            ),
            changed=self._changed,
            tell=lambda line: self._tell(Notice(level="warning", text=line, code="mcp")),
            of_agents=lambda: self._setup.kinds().servers(),
            as_agent=self._setup.main.kind,
        )

    def _plan(self, needs: Sequence[str]) -> SandboxPlan | None:
        """How the session's sandbox holds a server; None where there is none."""
        tools = self._own.toolbox.session if self._own is not None else None
        if tools is None or tools.sandbox is None or not tools.sandbox.enforced:
            return None
        return tools.sandbox.plan(tools.roots, background=True, needs=needs)

    def begin(self) -> None:
        """Somebody listens, from the next moment on."""
        if self.servers is None or self._introduced:
            return
        self._introduced = True
        loop = asyncio.get_running_loop()
        loop.call_soon(self._introduce)
        if self._at_once:
            loop.call_soon(self.connect)
        else:
            self._beginning = loop.call_later(AFTER_PROMPT_S, self.connect)

    def _introduce(self, *, news_only: bool = False) -> None:
        """What a person should know: what is not understood, and what waits for their word."""
        assert self.servers is not None
        for text in (*self.servers.problems, *self.servers.found.notes) if not news_only else ():
            self._tell(Notice(level="warning", text=text, code="mcp"))
        rows = tuple(row for row in self.servers.unapproved() if row.digest not in self._setup.offered)
        self._setup.offered.update(row.digest for row in rows)
        if rows and self._setup.request.headless:
            self._tell(Notice(level="warning", text=left_out(rows), code="mcp"))
        elif rows:
            self._tell(McpServersOffered(servers=rows))

    def _later(self, delay_s: float) -> None:
        if self._beginning is not None:
            self._beginning.cancel()
        self._beginning = asyncio.get_running_loop().call_later(delay_s, self.connect)

    def _changed(self, server: McpServer) -> None:
        """Its tools are those of the session from the next step on."""
        if self._own is None:
            return
        tools = self._own.toolbox.tools
        wanted: dict[str, Tool[Any]] = {tool.name: tool for tool in self.offers.follow(server)}
        wanted |= {tool.name: tool for tool in server.tools}
        if tools.aside:
            tools.aside |= {name: tool for name, tool in wanted.items() if not tools.takes(name)}
        wanted = {name: tool for name, tool in wanted.items() if tools.takes(name)}
        here = {tool.name: tool for tool in tools if tool.source == server.name}
        gone = [name for name, tool in here.items() if wanted.get(name) is not tool]
        for name in gone:
            tools.remove(name)
        new = [tool for name, tool in wanted.items() if here.get(name) is not tool]
        for tool in new:
            tools.add(tool)
        if server.listed and new:
            self.cache.compare(server.definition, server.tools)
        if new or gone:
            self._tell(ToolsChanged(added=tuple(tool.name for tool in new), removed=tuple(gone)))
        if not self._telling:
            self._telling = True
            asyncio.get_running_loop().call_soon(self._tell_all)

    def _tell_all(self) -> None:
        self._telling = False
        if self.servers is not None:
            self._tell(McpServersChanged(servers=self.servers.rows()))

    def _tell(self, event: Event) -> None:
        if self._own is not None:
            self._own.session.publish(event)

    async def leave(self, reason: EndReason) -> None:
        """Servers end with the session."""
        if self._beginning is not None:
            self._beginning.cancel()
        await self.offers.close()
        await self._of_agents.close()
        if self.servers is not None:
            await self.servers.close()


class FirstWait(Middleware):
    """The first request waits for servers: for a short while, or as long as `--mcp-wait` says."""

    def __init__(self, part: McpPart, limit_s: float | None) -> None:
        """`limit_s`: of `--mcp-wait`; None: it was not given."""
        self._part = part
        self._limit_s = limit_s
        self._waited = False

    def before_step(self, turn: Turn) -> AsyncGenerator[Event] | None:
        return None if self._waited or self._part.servers is None else self._wait()

    async def _wait(self) -> AsyncGenerator[Event]:
        self._waited = True
        servers = self._part.servers
        assert servers is not None
        self._part.connect()
        held = [name for name, server in servers.servers.items() if server.definition.kind == "sdk"]
        late, _ = await asyncio.gather(
            servers.settled(SHORT_WAIT_S if self._limit_s is None else self._limit_s),
            servers.settled(max(self._limit_s or 0.0, IN_PROCESS_WAIT_S), held),
        )
        if note := self._part.tell_in_full(held):
            yield note
        if not self._limit_s:
            return
        await self._part.offers.settled(self._limit_s)
        if late:
            words = f"{', '.join(late)} did not connect within {self._limit_s:g} s (--mcp-wait)"
            yield Notice(level="warning", text=f"MCP: {words}", code="mcp")
