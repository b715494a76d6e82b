"""All servers of a session: which there are, which of them may run, and what they offer together."""

import asyncio
from collections.abc import Callable, Collection

from clew.mcp.approvals import McpApprovals
from clew.mcp.definitions import ServerDefinition, shape_of
from clew.mcp.expansion import variable_words
from clew.mcp.files import FoundServers, ServerPlaces, find_servers, set_disabled
from clew.mcp.ports import Surroundings
from clew.mcp.server import SETTLED, McpServer
from clew.mcp.tools import McpTool
from clew.mcp.transport.sdk import Sdk
from clew.protocol.event_kinds.programs import McpServerRow, McpState


class McpServers:
    """One per session. Servers of a project run only where it is trusted and exactly they were approved."""

    def __init__(
        self,
        places: ServerPlaces,
        around: Surroundings,
        *,
        changed: Callable[[McpServer], None] = lambda server: None,
        tell: Callable[[str], None] = lambda line: None,
        of_agents: Callable[[], Collection[ServerDefinition]] = tuple,
        as_agent: str = "",
    ) -> None:
        """`changed`: a server's state or tools are others now. `tell`: one line for a person. `of_agents`: what
        definitions of agents bring, each for its own agents: listed and decided about here, connected elsewhere; but
        those of `as_agent`, the kind that the conversation runs as, are the session's."""
        self.places = places
        self.around = around
        self.servers: dict[str, McpServer] = {}
        self.found = FoundServers()
        self.approvals = McpApprovals(places.home)
        self.sdk = Sdk()
        self._changed = changed
        self._tell = tell
        self._more: tuple[ServerDefinition, ...] = ()
        self._of_agents = of_agents
        self._as_agent = as_agent
        self.brought: tuple[ServerDefinition, ...] = ()
        """Of agents."""
        self._begun = False
        self._ending: set[asyncio.Future[None]] = set()
        self._take(self._found())

    async def reread(self) -> None:
        """All definitions as they stand now, on disk too."""
        self._take(await asyncio.to_thread(self._found))

    def _found(self) -> FoundServers:
        brought = tuple(self._of_agents())
        own = tuple(one for one in brought if self._as_agent and one.agent == self._as_agent)
        self.brought = tuple(one for one in brought if one not in own)
        return find_servers(self.places, (*self._more, *own))

    def _take(self, found: FoundServers) -> None:
        """A server whose definition did not change goes on as it is."""
        self.found = found
        known = {definition.name: definition for definition in self.found.servers}
        for name in [name for name in self.servers if name not in known]:
            self._forget(self.servers.pop(name))
        for name, definition in known.items():
            old = self.servers.get(name)
            if old is not None and old.definition == definition:
                continue
            if old is not None:
                self._forget(old)
            self.servers[name] = McpServer(
                definition,
                self.around,
                self.sdk,
                self._changed,
                self._tell,
                may_run=self._may_run,
                state=self.standing(definition),
            )
            if self._begun:
                self._start(self.servers[name])

    async def add(self, definitions: Collection[ServerDefinition]) -> None:
        """Servers of the program that drives this session, in place of those it gave before."""
        self._more = tuple(definitions)
        await self.reread()

    def standing(self, definition: ServerDefinition) -> McpState:
        """How a server stands before it is connected."""
        if definition.disabled:
            return "off"
        if definition.needs_approval and not self.places.trusted:
            return "untrusted"
        return "waiting" if self.approvals.is_approved(definition, self.places.root) else "unapproved"

    def begin(self) -> None:
        """Connect to all that may run, beside everything else. Safe to call twice."""
        if not self._begun:
            self._begun = True
            for server in self.servers.values():
                self._start(server)

    @property
    def begun(self) -> bool:
        """Whether connecting has begun."""
        return self._begun

    @property
    def problems(self) -> tuple[str, ...]:
        """What could not be understood, a line each."""
        more = (self.approvals.problem,) if self.approvals.problem else ()
        return (*self.found.problems, *more)

    @property
    def tools(self) -> tuple[McpTool, ...]:
        """What can be called now."""
        return tuple(tool for server in self.servers.values() for tool in server.tools)

    @property
    def connecting(self) -> tuple[str, ...]:
        """The servers of which it is not known yet what they offer."""
        return tuple(name for name, server in self.servers.items() if server.state not in SETTLED)

    async def settled(self, limit_s: float, names: Collection[str] | None = None) -> tuple[str, ...]:
        """Wait until these servers, or all, are ready or will not be soon, but not for ever. Those that still
        connect."""
        wanted = [server for name, server in self.servers.items() if names is None or name in names]
        waiting = [asyncio.ensure_future(server.settled()) for server in wanted]
        if waiting:
            _, late = await asyncio.wait(waiting, timeout=limit_s)
            for task in late:
                task.cancel()
        return self.connecting

    def row(self, server: McpServer) -> McpServerRow:
        """As people decide about it."""
        definition = server.definition
        facts = server.connection.facts if server.connection is not None else None
        return McpServerRow(
            name=server.name,
            scope=definition.scope,
            kind=definition.kind,
            state=server.state,
            source=definition.source,
            shape=shape_of(definition),
            variables=variable_words(definition, self.around.env),
            digest=definition.digest,
            detail=server.detail,
            tools=tuple(tool.offered.name for tool in server.tools),
            prompts=server.prompts if facts is not None else 0,
            resources=server.resources if facts is not None else 0,
            version=f"{facts.title} {facts.version}".strip() if facts is not None else "",
        )

    def rows(self) -> tuple[McpServerRow, ...]:
        """All of them."""
        return (*(self.row(server) for server in self.servers.values()), *map(self._brought_row, self.brought))

    def _brought_row(self, definition: ServerDefinition) -> McpServerRow:
        return McpServerRow(
            name=definition.name,
            scope=definition.scope,
            kind=definition.kind,
            state=self.standing(definition),
            source=definition.source,
            shape=shape_of(definition),
            variables=variable_words(definition, self.around.env),
            digest=definition.digest,
            detail=f"starts with the agent {definition.agent}, for it alone",
        )

    def unapproved(self) -> tuple[McpServerRow, ...]:
        """What a person should look at."""
        return tuple(row for row in self.rows() if row.state == "unapproved")

    async def decide(self, digests: Collection[str], *, approved: bool) -> None:
        """A person's word about exactly these, as they stand now; it takes effect at once. Raises KeyError for one that
        is not there, or OSError."""
        await self.keep(digests, approved=approved)
        await self.apply()

    async def keep(self, digests: Collection[str], *, approved: bool) -> None:
        """As `decide`, for later: nothing is started or ended."""
        await self.reread()
        theirs = (*self.found.servers, *self.brought)
        chosen = [one for one in theirs if one.needs_approval and one.digest in digests]
        if missing := set(digests) - {one.digest for one in chosen}:
            raise KeyError(min(missing))
        if approved:
            self.approvals.approve(chosen, self.places.root)
        else:
            self.approvals.revoke(chosen, self.places.root)

    @property
    def approved(self) -> tuple[str, ...]:
        """The digests of the project's servers that a person let run, switched off or not."""
        theirs = (one for one in (*self.found.servers, *self.brought) if one.needs_approval)
        return tuple(one.digest for one in theirs if self.approvals.is_approved(one, self.places.root))

    async def apply(self) -> None:
        """Start what may run now, and stop what may not any more."""
        self._begun = True
        for server in self.servers.values():
            state = self.standing(server.definition)
            if state != "waiting" and server.state != state:
                await server.stop(state)
            elif state == "waiting" and server.state in ("unapproved", "untrusted", "off", "waiting"):
                await server.stop("waiting")
                self._start(server)

    async def reconnect(self, name: str) -> None:
        """Connect anew. Raises KeyError where there is no such server, ValueError where it may not run."""
        server = self.servers[name]
        state = self.standing(server.definition)
        if state != "waiting":
            raise ValueError(state)
        await server.stop()
        self._start(server, again=True)

    async def toggle(self, name: str, *, enabled: bool) -> None:
        """Switch a server off or on for this project. Raises KeyError, ValueError or OSError."""
        self.servers[name]
        set_disabled(self.places.file_of("local"), name, disabled=not enabled)
        await self.reread()
        await self.apply()

    def _start(self, server: McpServer, *, again: bool = False) -> None:
        if server.state == "waiting":
            server.start(again=again)

    def _may_run(self, definition: ServerDefinition) -> bool:
        """A program of a project runs only as it was looked at: asked each time before it is started."""
        return self.approvals.may_run(definition, self.places.root)

    def _forget(self, server: McpServer) -> None:
        """It is not defined any more."""
        self._ending.add(task := asyncio.ensure_future(server.stop()))
        task.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """Every server ends, and every program that was started for one."""
        await asyncio.gather(*(server.stop() for server in self.servers.values()), *self._ending)
        await self.sdk.close()
