"""The resources of a server as two tools: what there is, and what one of them holds."""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta, Struct

from clew.mcp.offers import OfferedResource, resource_content, resources_of
from clew.mcp.ports import ServerError
from clew.permissions.access import Access, ToolAccess
from clew.protocol.meant_calls import ToolSpec
from clew.text.terminal_text import sanitize
from clew.tools.base import Effect, Tool, ToolContext, ToolResult
from clew.tools.schema import schema_of

if TYPE_CHECKING:
    from clew.mcp.server import McpServer

LIST, READ = "ListMcpResources", "ReadMcpResource"
MAX_LISTED = 200


class NoParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Nothing."""


class ReadResourceParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which one."""

    uri: Annotated[str, Meta(description="Address of the resource, as listed")]


class _ResourceTool(Tool[Any]):
    effect: ClassVar[Effect] = "none"
    words: ClassVar[str]
    verb: ClassVar[str]

    def __init__(self, server: "McpServer") -> None:
        self._server = server
        self.source = server.name
        self.name = f"mcp__{server.name}__{self.verb}"
        self.description = self.words.format(server.name)

    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description=self.description, schema=schema_of(self.params))

    def is_concurrency_safe(self, params: Any) -> bool:
        return True

    def _gone(self) -> ToolResult:
        return ToolResult(text=f"The server {self.source} is not connected: {self._server.standing}.", is_error=True)


class ListResources(_ResourceTool):
    """What there is."""

    verb = LIST
    words = "Lists the resources that the MCP server {} offers: addresses, names, kinds."
    params: ClassVar[type[Struct]] = NoParams

    def accesses(self, params: NoParams, context: ToolContext) -> tuple[Access, ...]:
        return (ToolAccess(tool=self.name, read_only=True),)

    async def run(self, params: NoParams, context: ToolContext) -> ToolResult:
        connection = self._server.connection
        if connection is None:
            return self._gone()
        try:
            found = await resources_of(connection)
        except ServerError as error:
            return ToolResult(text=f"{self.source}: {error}", is_error=True)
        lines = [line_of(one) for one in found[:MAX_LISTED]]
        more = [f"({len(found) - MAX_LISTED} more are left out)"] if len(found) > MAX_LISTED else []
        return ToolResult(text="\n".join([*(lines or ["It offers none."]), *more]))


class ReadResource(_ResourceTool):
    """What one of them holds. The server decides what that is, so it is judged like any call of it."""

    verb = READ
    words = "Reads one resource of the MCP server {} by its address."
    params: ClassVar[type[Struct]] = ReadResourceParams

    def accesses(self, params: ReadResourceParams, context: ToolContext) -> tuple[Access, ...]:
        return (ToolAccess(tool=self.name),)

    async def run(self, params: ReadResourceParams, context: ToolContext) -> ToolResult:
        connection = self._server.connection
        if connection is None:
            return self._gone()
        try:
            outcome = await resource_content(connection, params.uri)
        except ServerError as error:
            return ToolResult(text=f"{self.source}: {error}", is_error=True)
        return ToolResult(text=outcome.text, media=outcome.media)


def line_of(one: OfferedResource) -> str:
    """A resource on one line."""
    about = ", ".join(part for part in (one.name, one.kind, one.description) if part)
    form = " (a form: fill in what stands in braces)" if one.template else ""
    return sanitize(f"{one.uri}{form}  {about}".rstrip(), one_line=True)[:500]
