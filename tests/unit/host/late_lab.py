"""A session as the command line opens it, with servers that come, go and connect when the test says so."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from clew.assembly import opening
from clew.assembly.parts import PartMaker
from clew.host.door import Door
from clew.host.part import Part, PartSession, PartSetup
from clew.llm.request import ModelRequest
from clew.llm.scripted import Call, ScriptItem
from clew.parts.mcp.part import McpPart
from clew.parts.plan.part import PlanPart
from clew.parts.skills.part import SkillPart
from clew.protocol.meant_calls import CALL_TOOL, SEARCH_TOOLS, ToolSpec
from clew.tools.base import Tool, ToolContext, ToolResult
from clew.tools.schema import BadArguments
from clew.tools.schemas.answer_schema import AnswerSchema
from clew.tools.toolset import ToolSet
from fakes.effort import HANG_S
from unit.host.hook_lab import HookLab, session

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


class Given(Struct, frozen=True):
    """What a tool of a server was called with."""

    arguments: dict[str, Any]


class ServerTool(Tool[Given]):
    """One tool of a server: its schema is known at run time, what it was given is remembered."""

    def __init__(self, source: str, name: str, words: str = "", schema: dict[str, Any] | None = None) -> None:
        self.source = source
        self.name = f"mcp__{source}__{name}"
        self.words = words or f"{name} of {source}"
        self.schema = TEXT if schema is None else schema
        self.ran: list[dict[str, Any]] = []
        self.safe = False
        self.together: asyncio.Barrier | None = None

    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description=self.words, schema=self.schema)

    def decode(self, arguments: Mapping[str, Any]) -> Given:
        if problems := AnswerSchema(self.schema).problems(dict(arguments)):
            raise BadArguments(f"Wrong arguments for {self.name}: {problems}")
        return Given(dict(arguments))

    def is_concurrency_safe(self, params: Given) -> bool:
        return self.safe

    async def run(self, params: Given, context: ToolContext) -> ToolResult:
        self.ran.append(params.arguments)
        if self.together is not None:
            await self.together.wait()
        return ToolResult(text=f"{self.name} did {params.arguments}")


class Servers(Part):
    """What the session is brought."""

    def __init__(self, known: Sequence[Tool[Any]] = ()) -> None:
        self.late = self
        self.known = tuple(known)
        self.on_the_way: dict[str, asyncio.Event] = {}
        self.waited: list[tuple[frozenset[str], float]] = []
        self.set = ToolSet()
        self._news = asyncio.Semaphore(0)

    def start(self, own: PartSession) -> None:
        self.set = own.toolbox.tools

    def known_tools(self) -> tuple[Tool[Any], ...]:
        return self.known

    def connecting(self) -> tuple[str, ...]:
        return tuple(self.on_the_way)

    async def wait(self, sources: Collection[str], up_to_s: float) -> None:
        self.waited.append((frozenset(sources), up_to_s))
        self._news.release()
        for source in sources:
            if source in self.on_the_way:
                await self.on_the_way[source].wait()

    async def is_waited_for(self, times: int) -> None:
        """Until somebody waits for a server, so often in all."""
        async with asyncio.timeout(HANG_S):
            while len(self.waited) < times:
                await self._news.acquire()

    def came(self, *tools: Tool[Any]) -> None:
        for tool in tools:
            self.set.add(tool)

    def connected(self, source: str, *tools: Tool[Any]) -> None:
        """It was on its way; whoever waits goes on."""
        self.came(*tools)
        self.on_the_way.pop(source).set()


class LateLab(HookLab):
    """The session and its servers; a new Servers for each process."""

    def __init__(self, base: Path, patch: pytest.MonkeyPatch) -> None:
        super().__init__(base)
        self.servers = Servers()
        self.configured = True

        def parts_of(setup: PartSetup, door: Door, more: Sequence[PartMaker] = ()) -> tuple[Part, ...]:
            others = [part for part in real(setup, door, more) if not isinstance(part, SkillPart | McpPart | PlanPart)]
            return (self.servers, *others) if self.configured else tuple(others)

        real = opening.parts_of
        patch.setattr(opening, "parts_of", parts_of)

    @property
    def session_id(self) -> str:
        return self.front.seen[0].session_id

    def result(self, number: int = -1) -> str:
        """The last result, as the model gets it."""
        from clew.protocol.events import ToolEnded
        from clew.protocol.messages import result_text

        return result_text(self.front.of(ToolEnded)[number].result)


@asynccontextmanager
async def late_session(
    place: LateLab, *script: ScriptItem, known: Sequence[Tool[Any]] = (), tools: Sequence[Tool[Any]] = (), **more: Any
) -> AsyncIterator[LateLab]:
    """`tools`: here before the first prompt."""
    place.servers = Servers(known)
    async with session(place, script, **more):
        place.servers.came(*tools)
        yield place


def through(tool: str, **arguments: Any) -> Call:
    """A call through CallTool."""
    return Call(CALL_TOOL, {"tool": tool, "arguments": arguments})


def search(query: str, **more: Any) -> Call:
    return Call(SEARCH_TOOLS, {"query": query, **more})


def array(request: ModelRequest) -> bytes:
    """The tools of a request, as bytes."""
    return msgspec.json.encode(request.tools)


def eighty(more: str = "") -> list[ServerTool]:
    """Eighty tools of four servers, each with a schema that nobody wants to pay for. `more`: for longer names."""
    schema = {
        "type": "object",
        "properties": {f"parameter_{n}": {"type": "string", "description": "what it is for " * 5} for n in range(6)},
    }
    return [
        ServerTool(source, f"{verb}_{thing}{more}", f"{verb} a {thing} in {source}", schema)
        for source in ("tracker", "store", "mail", "cloud")
        for verb in ("create", "list", "update", "delete", "archive")
        for thing in ("item", "comment", "label", "report")
    ]
