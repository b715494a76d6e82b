"""One server of a session: a task that connects to it, follows its tools, and brings it back when it went away."""

import asyncio
import contextlib
from collections.abc import Callable

from clew.mcp.definitions import ServerDefinition
from clew.mcp.expansion import MissingVariables, expanded
from clew.mcp.ports import (
    HopelessServer,
    Listing,
    NeedsAuth,
    OfferedTool,
    ServerConnection,
    ServerError,
    Surroundings,
)
from clew.mcp.tools import McpTool, tools_of
from clew.mcp.transport.sdk import Sdk
from clew.protocol.event_kinds.programs import McpState

CONNECT_LIMIT_S = 120.0
"""A program may be fetched from a registry first; nobody waits for it."""
BACK_OFF_S = (1.0, 3.0, 10.0, 30.0, 60.0)
"""How long to wait before each next try; after the last one it stays away until somebody asks for it."""
STEADY_S = 120.0
"""A connection that held for so long starts the count anew."""
DEBOUNCE_S = 0.3
MAX_DEBOUNCE_S = 20.0
QUIET_S = 60.0
"""A list that did not change for so long is followed at once again."""
SETTLED: frozenset[McpState] = frozenset({"ready", "failed", "off", "unapproved", "untrusted", "needs_auth"})


class McpServer:
    """Owned by one task from start to stop: whatever the SDK opened is closed where it was opened."""

    def __init__(
        self,
        definition: ServerDefinition,
        around: Surroundings,
        sdk: Sdk,
        changed: Callable[["McpServer"], None],
        tell: Callable[[str], None],
        *,
        may_run: Callable[[ServerDefinition], bool],
        state: McpState = "waiting",
    ) -> None:
        """`changed`: the state or the tools are others now. `tell`: one line for a person. `may_run`: whether it is
        still what was approved; reads files."""
        self.definition = definition
        self.state: McpState = state
        self.detail = ""
        self.connection: ServerConnection | None = None
        self.tools: tuple[McpTool, ...] = ()
        self.prompts = self.resources = 0
        """How many of each it offers, as far as somebody has asked it."""
        self.listed = False
        """Its tools were listed in this session."""
        self._around = around
        self._sdk = sdk
        self._changed = changed
        self._tell = tell
        self._may_run = may_run
        self._task: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self._dirty: set[Listing] = set()
        self._settled = asyncio.Event()
        self._told: set[str] = set()
        self.on_list_changed: list[Callable[[Listing], None]] = []
        """Called when the server says that its prompts or resources are others now."""

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def standing(self) -> str:
        """How it stands, in words."""
        return f"{self.state} ({self.detail})" if self.detail else self.state

    def start(self, *, again: bool = False) -> None:
        """Connect, beside everything else. Safe to call twice. `again`: somebody asked for it, so faults are told
        anew."""
        if again:
            self._told.clear()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._own())

    def hold(self, state: McpState) -> None:
        """It may not run."""
        self._set(state, "")

    async def stop(self, state: McpState = "waiting") -> None:
        """End the connection and all it started."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        self._lose()
        self._set(state, "")

    async def settled(self) -> None:
        """Until it is ready, or will not be soon."""
        if self.state not in SETTLED:
            await self._settled.wait()

    async def _own(self) -> None:
        failures = 0
        loop = asyncio.get_running_loop()
        while True:
            if not await asyncio.to_thread(self._may_run, self.definition):
                self._tell(f"the MCP server {self.name} has changed since it was approved, so it does not run: /mcp")
                self.hold("unapproved")
                return
            began = loop.time()
            try:
                await self._attend()
                problem = ServerError("the connection was closed")
            except ServerError as error:
                problem = error
            except Exception as error:  # the boundary of one server: nothing of its failure reaches the conversation
                problem = ServerError(f"{type(error).__name__}: {error}")
            was_ready = self.connection is not None
            self._lose()
            failures = 1 if was_ready and loop.time() - began > STEADY_S else failures + 1
            if not self._goes_on(problem, failures, was_ready=was_ready):
                return
            await asyncio.sleep(BACK_OFF_S[failures - 1])

    def _goes_on(self, problem: ServerError, failures: int, *, was_ready: bool) -> bool:
        """Whether it is tried again; either way a person is told once."""
        words = str(problem)
        hopeless = isinstance(problem, HopelessServer) or failures > len(BACK_OFF_S)
        if isinstance(problem, NeedsAuth):
            self._set("needs_auth", words)
            self._say_once(f"the MCP server {self.name} needs you to sign in, {words}: clew mcp login {self.name}")
        elif hopeless:
            self._set("failed", words)
            self._say_once(f"the MCP server {self.name} failed: {words}; /mcp reconnect {self.name} tries again")
        else:
            self._set("failed", f"{words}; it is tried again")
            how = "went away" if was_ready else "could not be reached"
            self._say_once(f"the MCP server {self.name} {how}: {words}; it is tried again", kind="lost")
        return not hopeless

    async def _attend(self) -> None:
        """One connection, from its beginning to its end. Raises ServerError."""
        self._set("connecting", "")
        try:
            full = expanded(self.definition, self._around.env)
        except MissingVariables as error:
            raise HopelessServer(str(error)) from error
        open_it = await self._sdk.opener()
        async with contextlib.AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(CONNECT_LIMIT_S):
                    connection = await stack.enter_async_context(open_it(full, self._around, self._heard))
                    offered = await connection.tools()
            except TimeoutError:
                raise ServerError(f"it did not answer within {CONNECT_LIMIT_S:g} s") from None
            self.connection = connection
            self._take(offered)
            self._set("ready", "")
            self._told.discard("lost")
            await self._follow(connection)

    async def _follow(self, connection: ServerConnection) -> None:
        """Until it goes away: its lists are read again when it says they changed, not more often than is good."""
        loop = asyncio.get_running_loop()
        pause_s, last = DEBOUNCE_S, loop.time()
        ending = asyncio.ensure_future(connection.closed.wait())
        try:
            while not connection.closed.is_set():
                news = asyncio.ensure_future(self._news.wait())
                await asyncio.wait({news, ending}, return_when=asyncio.FIRST_COMPLETED)
                news.cancel()
                if connection.closed.is_set():
                    return
                pause_s = DEBOUNCE_S if loop.time() - last > QUIET_S else min(pause_s * 2, MAX_DEBOUNCE_S)
                await asyncio.wait({ending}, timeout=pause_s)
                last = loop.time()
                await self._read_again(connection)
        finally:
            ending.cancel()

    async def _read_again(self, connection: ServerConnection) -> None:
        dirty, self._dirty = self._dirty, set()
        self._news.clear()
        if "tools" in dirty:
            self._take(await connection.tools())
        for listing in dirty - {"tools"}:
            for hear in self.on_list_changed:
                hear(listing)

    def _heard(self, listing: Listing) -> None:
        self._dirty.add(listing)
        self._news.set()

    def _take(self, offered: tuple[OfferedTool, ...]) -> None:
        if self.listed and tuple(tool.offered for tool in self.tools) == offered:
            return
        tools, problems = tools_of(self, offered)
        self.listed, self.tools = True, tools
        for line in problems:
            self._say_once(line, kind=line)
        self._changed(self)

    def _lose(self) -> None:
        self.connection = None
        self._dirty.clear()
        self._news.clear()
        if self.tools:
            self.tools, self.listed = (), False
            self._changed(self)

    def _set(self, state: McpState, detail: str) -> None:
        if (state, detail) == (self.state, self.detail):
            return
        self.state, self.detail = state, detail
        if state in SETTLED:
            self._settled.set()
        else:
            self._settled.clear()
        self._changed(self)

    def _say_once(self, line: str, *, kind: str = "") -> None:
        if (kind or line) not in self._told:
            self._told.add(kind or line)
            self._tell(line)
