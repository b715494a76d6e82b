"""A connection to one server, by the SDK: everything of `mcp` that the rest of clew uses goes through here.

What a server may ask of us: where the agent works, a place for its log, a person's answer. Nothing else.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import httpx2
import mcp_types as types
from mcp import Client, MCPError
from mcp.client._transport import TransportStreams
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from clew import __version__
from clew.mcp.definitions import ServerDefinition
from clew.mcp.ports import (
    CallOutcome,
    ConnectionLost,
    Heard,
    HopelessServer,
    Listing,
    NeedsAuth,
    OfferedTool,
    ServerError,
    ServerFacts,
    Surroundings,
)
from clew.mcp.results import outcome_of
from clew.mcp.transport.call_clocks import CallClocks
from clew.mcp.transport.guarded_stream import GuardedStream
from clew.mcp.transport.http import AnswerNotes, http_streams
from clew.mcp.transport.stdio import Pipes, end_words, stdio_streams
from clew.system.process import ProcessStarter

MAX_LOG_CHARS = 500


def roots_of(around: Surroundings) -> Any:
    """The session's roots, and nothing a server asks for besides."""

    async def roots(context: Any) -> types.ListRootsResult:
        # The SDK makes its own kind of address of the text.
        return types.ListRootsResult(
            roots=[types.Root(uri=Path(root).as_uri(), name=Path(root).name) for root in around.roots()]  # pyright: ignore[reportArgumentType]
        )

    return roots


def log_of(server: ServerDefinition, around: Surroundings) -> Any:
    """A server's own log goes to ours, for whoever looks for a fault."""

    async def log(params: types.LoggingMessageNotificationParams) -> None:
        around.log(server.name, f"{params.level}: {str(params.data)[:MAX_LOG_CHARS]}")

    return log


def elicitation_of(server: ServerDefinition, around: Surroundings, clocks: CallClocks) -> Any:
    """How a server asks a person, whose time is not the server's; None: it cannot, and is told so."""
    ask = around.elicit
    if ask is None:
        return None

    async def elicited(context: Any, params: types.ElicitRequestParams) -> Any:
        with clocks.person():
            return await ask(server.name, params)

    return elicited


ANSWER_S = 60.0
"""For everything but calls."""
FOR_EVER_S = 10**7
MAX_PAGES = 50
MAX_TOOLS = 1_000
MAX_INSTRUCTIONS_CHARS = 2_000
MAX_WORDS_CHARS = 500
REFUSED = (401, 403)


class SdkConnection:
    """See `ports.Connection`."""

    def __init__(
        self,
        client: Client,
        closed: asyncio.Event,
        words: Callable[[BaseException], ServerError],
        misshapen: Callable[[], list[OfferedTool]],
        clocks: CallClocks,
    ) -> None:
        self.client = client
        self._clocks = clocks
        self._misshapen = misshapen
        self.closed = closed
        self._words = words
        self._abandoned: set[asyncio.Task[Any]] = set()
        self.facts = facts_of(client)
        # What a server says of its own answers is not checked: the SDK's validator runs patterns that a server wrote.
        setattr(client.session, "validate_tool_result", unchecked)  # noqa: B010 - a method, replaced on one object

    async def tools(self) -> tuple[OfferedTool, ...]:
        found: list[types.Tool] = []
        cursor: str | None = None
        if "tools" not in self.facts.offers:
            return ()
        for _ in range(MAX_PAGES):
            page = await self._tool_page(cursor)
            found += page.tools
            cursor = page.next_cursor
            if cursor is None or len(found) >= MAX_TOOLS:
                break
        odd = self._misshapen()
        left_out, odd[:] = tuple(odd[:MAX_TOOLS]), []
        return (*(offered(tool) for tool in found[:MAX_TOOLS]), *left_out)

    async def _tool_page(self, cursor: str | None) -> types.ListToolsResult:
        return await self.ask(lambda client: client.list_tools(cursor=cursor))

    async def call(
        self, tool: str, arguments: Mapping[str, Any], *, progress: Callable[[str], None], limit_s: float
    ) -> CallOutcome:
        show = progress

        async def called() -> types.CallToolResult:
            async with self._clocks.limit(limit_s) as lives:

                async def heard(progress: float, total: float | None, message: str | None) -> None:
                    lives()
                    show(progress_words(progress, total, message))

                return await self.client.call_tool(tool, dict(arguments), FOR_EVER_S, heard)

        try:
            return outcome_of(await self._apart(called()))
        except TimeoutError:
            raise ServerError(f"no sign of life for {limit_s:g} s, so the call was given up") from None

    async def ask(self, request: Callable[[Any], Awaitable[Any]], *, limit_s: float = ANSWER_S) -> Any:
        async def asked() -> Any:
            async with self._clocks.limit(limit_s):
                return await request(self.client)

        try:
            return await self._apart(asked())
        except TimeoutError:
            raise ServerError(f"it did not answer within {limit_s:g} s") from None

    async def _apart(self, work: Any) -> Any:
        """In a task of its own: whoever stops waiting need not wait until the server was told, which a server that
        reads nothing can hold up."""
        task: asyncio.Task[Any] = asyncio.ensure_future(work)
        self._abandoned.add(task)
        task.add_done_callback(self._settled)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.done() and task.cancelled():
                raise ConnectionLost("the connection was closed") from None
            task.cancel()
            raise
        except TimeoutError:
            raise
        except Exception as error:
            raise self._words(error) from error

    def _settled(self, task: "asyncio.Task[Any]") -> None:
        self._abandoned.discard(task)
        if not task.cancelled():
            task.exception()  # told to whoever waited, if anybody still did

    async def close(self) -> None:
        """Nothing is asked any more."""
        for task in self._abandoned:
            task.cancel()
        await asyncio.gather(*self._abandoned, return_exceptions=True)


@asynccontextmanager
async def open_connection(
    server: ServerDefinition, around: Surroundings, heard: Heard, starter: ProcessStarter
) -> AsyncGenerator[SdkConnection]:
    """Connect; when this is left, nothing of the server is left either. Raises ServerError."""
    closed, seen, clocks = asyncio.Event(), AnswerNotes(), CallClocks()
    pipes: list[Pipes] = []
    guards: list[GuardedStream] = []

    @asynccontextmanager
    async def transport() -> AsyncGenerator[TransportStreams]:
        async with streams_of(server, around, starter, seen, pipes) as (read, write):
            guards.append(GuardedStream(read, heard, closed))
            yield guards[-1], write

    def words(error: BaseException) -> ServerError:
        return server_error(error, closed=closed.is_set(), pipes=pipes, seen=seen)

    try:
        async with Client(
            transport(),
            read_timeout_seconds=ANSWER_S,
            list_roots_callback=roots_of(around),
            logging_callback=log_of(server, around),
            elicitation_callback=elicitation_of(server, around, clocks),
            client_info=types.Implementation(name="clew", version=__version__),
            cache=None,
        ) as client:
            connection = SdkConnection(client, closed, words, lambda: guards[-1].misshapen, clocks)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(follow_changes, client, heard)
                try:
                    yield connection
                finally:
                    await connection.close()
                    tasks.cancel_scope.cancel()
        if closed.is_set() and pipes:
            raise ConnectionLost(end_words(pipes[0]))
    except (Exception, BaseExceptionGroup) as error:
        if isinstance(error, ServerError):
            raise
        raise words(error) from error


@asynccontextmanager
async def streams_of(
    server: ServerDefinition, around: Surroundings, starter: ProcessStarter, seen: AnswerNotes, pipes: list[Pipes]
) -> AsyncGenerator[TransportStreams]:
    """The way to a server, by its kind."""
    if server.kind == "stdio":
        async with stdio_streams(server, around, starter) as (streams, program):
            pipes.append(program)
            yield streams
    elif server.kind == "sdk":
        if around.in_process is None:
            raise HopelessServer("there is no program here that holds it")
        async with around.in_process(server) as streams:
            yield streams
    else:
        async with http_streams(server, around, seen) as streams:
            yield streams


async def follow_changes(client: Client, heard: Heard) -> None:
    """Servers of the newer protocol tell their changes only to those who listen; older ones tell everybody."""
    if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return
    try:
        async with client.listen(tools_list_changed=True, prompts_list_changed=True) as changes:
            async for _ in changes:
                pass  # `GuardedStream` heard it on its way in
    except (MCPError, RuntimeError, TimeoutError, OSError):
        return  # a server may have nothing to tell; its lists are then those of the beginning


def facts_of(client: Client) -> ServerFacts:
    """What the server said of itself."""
    can, about = client.server_capabilities, client.server_info
    all_of_it: dict[Listing, object] = {"tools": can.tools, "prompts": can.prompts, "resources": can.resources}
    return ServerFacts(
        title=(about.title or about.name)[:MAX_WORDS_CHARS] if about is not None else "",
        version=about.version[:MAX_WORDS_CHARS] if about is not None else "",
        protocol=client.protocol_version,
        instructions=(client.instructions or "")[:MAX_INSTRUCTIONS_CHARS],
        offers=frozenset(name for name, offered in all_of_it.items() if offered is not None),
    )


def offered(tool: types.Tool) -> OfferedTool:
    """One tool in the server's words."""
    notes = tool.annotations
    said = (
        (
            ("read-only", notes.read_only_hint),
            ("destructive", notes.destructive_hint),
            ("may be repeated", notes.idempotent_hint),
            ("open world", notes.open_world_hint),
        )
        if notes is not None
        else ()
    )
    return OfferedTool(
        name=tool.name,
        description=tool.description or "",
        schema=tool.input_schema,
        title=tool.title or (notes.title if notes is not None else None) or "",
        annotations=tuple(word for word, yes in said if yes),
    )


def progress_words(done: float, total: float | None, message: str | None) -> str:
    """How far a call is, on one line."""
    count = f"{done:g}/{total:g}" if total else f"{done:g}"
    return f"{count} {message[:MAX_WORDS_CHARS]}\n" if message else f"{count}\n"


async def unchecked(name: str, result: types.CallToolResult) -> None:
    """In place of the SDK's check of structured content."""


def first_of(error: BaseException) -> BaseException:
    """The first fault of a group of them."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


def server_error(error: BaseException, *, closed: bool, pipes: list[Pipes], seen: AnswerNotes) -> ServerError:
    """What went wrong, in words for a person."""
    error = first_of(error)
    if isinstance(error, ServerError):
        return error
    if seen.status in REFUSED:
        return NeedsAuth(f"it wants to know who asks (HTTP {seen.status})")
    if pipes and (closed or pipes[0].problem):
        return ConnectionLost(end_words(pipes[0]))
    match error:
        case MCPError():
            lost = error.code == types.CONNECTION_CLOSED
            text = error.message[:MAX_WORDS_CHARS]
            return ConnectionLost("the connection was closed") if lost else ServerError(text)
        case httpx2.HTTPStatusError():
            return ServerError(f"HTTP {error.response.status_code}")
        case httpx2.TransportError():
            return ConnectionLost(f"it cannot be reached ({str(error)[:MAX_WORDS_CHARS] or type(error).__name__})")
        case ValidationError():
            return ServerError("its answer is not what the protocol says")
        case _:
            return ServerError(f"{type(error).__name__}: {str(error)[:MAX_WORDS_CHARS]}")


for _name in ("mcp", "client", "httpx2", "httpcore2"):
    # What the SDK logs must not reach the terminal; what is wrong with a server is told by its state.
    logging.getLogger(_name).addHandler(logging.NullHandler())
    logging.getLogger(_name).propagate = False
