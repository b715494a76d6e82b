"""A server's tool as a tool of the agent: named after its server, judged like any other, its words bounded."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct

from clew.mcp.ports import ConnectionLost, OfferedTool, ServerError
from clew.permissions.access import Access, ToolAccess
from clew.protocol.tools import ToolSpec
from clew.system.safe_patterns import BadPattern, compiled
from clew.tools.answer_schema import UNFIT, AnswerSchema
from clew.tools.base import Tool, ToolContext, ToolResult
from clew.tools.schema import BadArguments
from clew.tools.schema_keywords import UNCHECKED, SchemaError

if TYPE_CHECKING:
    from clew.mcp.server import Server

Json = dict[str, Any]
MAX_NAME_CHARS = 64
"""What providers take as the name of a tool."""
MAX_DESCRIPTION_CHARS = 4_000
MAX_HINT_CHARS = 120
CALL_LIMIT_S = 600.0
"""How long a call may be silent; progress counts as a sign of life."""
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


class UnusableTool(ValueError):
    """A tool that cannot be offered; the words say why."""


class McpParams(Struct, frozen=True, kw_only=True):
    """The arguments, as the server's schema has them."""

    arguments: Json


class McpTool(Tool[McpParams]):
    """What the server says of its own effects is shown to people and believed by nobody: it may change anything."""

    def __init__(self, server: "Server", offered: OfferedTool) -> None:
        """Raises UnusableTool."""
        self._server = server
        self.offered = offered
        self.source = server.name
        self.name = tool_name(server.name, offered.name)
        self.hint = one_line(offered.title)[:MAX_HINT_CHARS]
        self.description = described(offered)
        self._schema = judged(offered.schema)
        self._told = told(offered.schema)

    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description=self.description, schema=self._told)

    def decode(self, arguments: Mapping[str, Any]) -> McpParams:
        if problems := self._schema.problems(dict(arguments)):
            words = problems.replace("output", "the arguments")
            raise BadArguments(f"Wrong arguments for {self.name}, nothing was called: {words}.")
        return McpParams(arguments=dict(arguments))

    def accesses(self, params: McpParams, context: ToolContext) -> tuple[Access, ...]:
        return (ToolAccess(tool=self.name),)

    async def run(self, params: McpParams, context: ToolContext) -> ToolResult:
        server = self._server
        connection = server.connection
        if connection is None:
            return ToolResult(text=f"The server {server.name} is not connected: {server.standing}.", is_error=True)
        try:
            outcome = await connection.call(
                self.offered.name,
                params.arguments,
                progress=context.progress,
                limit_s=server.definition.call_limit_s or CALL_LIMIT_S,
            )
        except ConnectionLost as error:
            words = f"The server {server.name} went away during the call: {error}. Whether it took effect is not known."
            return ToolResult(text=words, is_error=True)
        except ServerError as error:
            return ToolResult(text=f"{server.name}: {error}", is_error=True)
        return ToolResult(text=outcome.text, media=outcome.media, is_error=outcome.is_error)


def tools_of(server: "Server", offered: Iterable[OfferedTool]) -> tuple[tuple[McpTool, ...], tuple[str, ...]]:
    """The tools that can be used, and a line about each that cannot."""
    found: dict[str, McpTool] = {}
    problems: list[str] = []
    for one in offered:
        try:
            tool = McpTool(server, one)
            if tool.name in found:
                raise UnusableTool(f"another of its tools has the same name, {tool.name}")
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
    """The server's words, bounded, with what it says of the tool's effects."""
    text = _UNSEEN.sub(lambda found: found[0] if found[0] in "\n\t" else " ", offered.description).strip()
    if len(text) > MAX_DESCRIPTION_CHARS:
        text = f"{text[:MAX_DESCRIPTION_CHARS]} […]"
    return text or one_line(offered.title) or offered.name


def one_line(text: str) -> str:
    """Without breaks and what cannot be seen."""
    return " ".join(_UNSEEN.sub(" ", text).split())


def judged(schema: Json) -> AnswerSchema:
    """What checks arguments. Keywords that we cannot check are left to the server, which looks again anyway. Raises
    UnusableTool."""
    try:
        return AnswerSchema(schema)
    except SchemaError:
        pass
    try:
        return AnswerSchema(cast(Json, loosened(schema)))
    except SchemaError as error:
        raise UnusableTool(f"its schema cannot be used: {error}") from None


def loosened(node: Any) -> Any:
    """A schema without what our checker does not know."""
    if isinstance(node, list):
        return [loosened(item) for item in cast(list[Any], node)]
    if not isinstance(node, dict):
        return node
    return {
        key: loosened(value)
        for key, value in cast(Json, node).items()
        if key not in UNCHECKED and not (key == "pattern" and isinstance(value, str) and not _is_pattern(value))
    }


def told(schema: Json) -> Json:
    """What a model is told: as given, as far as providers take it at the top of a tool's parameters."""
    kept = {key: value for key, value in schema.items() if key != "$schema" and key not in UNFIT}
    return (
        {"type": "object", "properties": {}, **kept} if kept.get("type", "object") == "object" else {"type": "object"}
    )


def _is_pattern(text: str) -> bool:
    try:
        return compiled(text) is not None
    except BadPattern:
        return False
