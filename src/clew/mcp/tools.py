"""A server's tool as a tool of the agent: named after its server, judged like any other, its words bounded."""

import hashlib
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from clew.mcp.ports import ConnectionLost, OfferedTool, ServerError
from clew.permissions.access import Access, ToolAccess
from clew.tools.base import ToolContext, ToolResult
from clew.tools.deferred.described import Arguments, DescribedTool

if TYPE_CHECKING:
    from clew.mcp.server import McpServer

Json = dict[str, Any]
MAX_NAME_CHARS = 64
"""What providers take as the name of a tool."""
MAX_DESCRIPTION_CHARS = 4_000
MAX_HINT_CHARS = 120
MAX_SCHEMA_BYTES = 64 * 1024
CALL_LIMIT_S = 600.0
"""How long a call may be silent; progress counts as a sign of life."""
NOT_AT_THE_TOP = frozenset({"$schema", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref", "enum", "const"})
"""What providers do not take at the top of a tool's parameters; the server looks at them itself."""
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


class UnusableTool(ValueError):
    """A tool that cannot be offered; the words say why."""


class KnownTool(DescribedTool):
    """A tool that a server had at an earlier time: its words are known, it cannot be called."""

    def __init__(self, server: str, offered: OfferedTool) -> None:
        """Raises UnusableTool."""
        super().__init__(
            name=tool_name(server, offered.name),
            words=described(offered),
            schema=told(offered.schema),
            source=server,
            hint=one_line(offered.title)[:MAX_HINT_CHARS],
        )
        self.offered = offered

    async def run(self, params: Arguments, context: ToolContext) -> ToolResult:
        return ToolResult(text=f"The server {self.source} is not connected.", is_error=True)


class McpTool(KnownTool):
    """What the server says of its own effects is shown to people and believed by nobody: it may change anything, so
    every call asks unless a rule says otherwise."""

    def __init__(self, server: "McpServer", offered: OfferedTool) -> None:
        """Raises UnusableTool."""
        super().__init__(server.name, offered)
        self._server = server
        self.changed = False
        """Its words are not those under which it was last let run."""
        self.on_run: Callable[[McpTool], None] = lambda tool: None
        """Called when somebody has let it run with its words as they are."""

    def accesses(self, params: Arguments, context: ToolContext) -> tuple[Access, ...]:
        return (ToolAccess(tool=self.name, changed=self.changed),)

    async def run(self, params: Arguments, context: ToolContext) -> ToolResult:
        server = self._server
        connection = server.connection
        if self.changed:
            self.changed = False
            self.on_run(self)
        if connection is None:
            return ToolResult(text=f"The server {server.name} is not connected: {server.standing}.", is_error=True)
        try:
            outcome = await connection.call(
                self.offered.name,
                params.given,
                progress=context.progress,
                limit_s=server.definition.call_limit_s or CALL_LIMIT_S,
            )
        except ConnectionLost as error:
            words = f"The server {server.name} went away during the call: {error}. Whether it took effect is not known."
            return ToolResult(text=words, is_error=True)
        except ServerError as error:
            return ToolResult(text=f"{server.name}: {error}", is_error=True)
        return ToolResult(text=outcome.text, media=outcome.media, is_error=outcome.is_error)


def tools_of(server: "McpServer", offered: Iterable[OfferedTool]) -> tuple[tuple[McpTool, ...], tuple[str, ...]]:
    """The tools that can be used, and a line about each that cannot."""
    found: dict[str, McpTool] = {}
    problems: list[str] = []
    for one in offered:
        try:
            tool = McpTool(server, one)
            if tool.name in found:
                raise UnusableTool(f"another of its tools is called {tool.name} too")
            found[tool.name] = tool
        except UnusableTool as error:
            problems.append(f"{server.name}: the tool {one_line(one.name)[:80]!r} is left out: {error}")
    return tuple(found.values()), tuple(problems)


def tool_name(server: str, tool: str) -> str:
    """`mcp__server__tool`, in the letters that every provider takes. Raises UnusableTool."""
    if not tool or _UNSEEN.search(tool):
        raise UnusableTool("its name is empty or holds characters that cannot be seen")
    name = f"mcp__{server}__{_NOT_IN_NAMES.sub('_', tool)}"
    if len(name) <= MAX_NAME_CHARS:
        return name
    mark = hashlib.sha256(tool.encode(errors="replace")).hexdigest()[:6]
    return f"{name[: MAX_NAME_CHARS - 7]}_{mark}"


def described(offered: OfferedTool) -> str:
    """The server's words, bounded, without what cannot be seen."""
    text = _UNSEEN.sub(lambda found: found[0] if found[0] in "\n\t" else " ", offered.description).strip()
    if len(text) > MAX_DESCRIPTION_CHARS:
        text = f"{text[:MAX_DESCRIPTION_CHARS]} […]"
    return text or one_line(offered.title) or offered.name


def told(schema: Json) -> Json:
    """The parameters as given, as far as providers take them. Raises UnusableTool."""
    if schema.get("type", "object") != "object" or not isinstance(schema.get("properties", {}), dict):
        raise UnusableTool("its schema is not that of an object")
    try:
        size = len(msgspec.json.encode(schema))
    except (TypeError, ValueError, RecursionError):
        raise UnusableTool("its schema is not JSON") from None
    if size > MAX_SCHEMA_BYTES:
        raise UnusableTool(f"its schema is longer than {MAX_SCHEMA_BYTES >> 10} kB")
    kept = {key: value for key, value in schema.items() if key not in NOT_AT_THE_TOP}
    return {"type": "object", "properties": {}, **kept}


def one_line(text: str) -> str:
    """Without breaks and what cannot be seen."""
    return " ".join(_UNSEEN.sub(" ", text).split())
